import Foundation
import GRDB
import Runway

/// The settings of an action log, in addition to its records.
extension Journal {
    /// The setting with the user's decision, which always exists: "1" after an opt-out, and otherwise "0".
    static let optOutName = "optedOut"
    private static let paceName = "pace"
    /// The beginning of a setting's name; the scope (an account) of the records follows it. The setting counts the
    /// records of this scope that were set aside one after the other.
    private static let refusalsPrefix = "refusals "
    /// The beginning of a setting's name; the name of an account follows it. The setting states that the log has
    /// recorded for this account since the last opt-out, or since the account's last erasure at the server.
    private static let accountPrefix = "account "
    /// The name of the setting for records without an account: ``accountPrefix`` with an empty account.
    static let nobodyRecordedName = accountPrefix
    /// The beginning of the name of a setting for an erasure at the server; the account to erase follows it.
    private static let erasurePrefix = "erase "
    /// The name of the setting for the erasure of records without an account: ``erasurePrefix`` with an empty account.
    private static let erasureOfNobodyName = erasurePrefix
    /// The settings that belong to one installation and are not copied to another: its secret, and the erasure of its
    /// records without an account.
    static let installationSettings: Set<String> = [InstallationSecret.settingName, erasureOfNobodyName]
    /// The beginning of a setting's value if the server refused the erasure; the reason follows it.
    private static let refusedPrefix = "refused "

    /// Whether the user opted out.
    ///
    /// - Throws: ``StorageError/Kind/corrupted`` if the file does not contain the decision. ``LockedJournalFile`` then
    ///   replaces the file, and ``JournalSalvage`` decides.
    func isOptedOut() throws(StorageError) -> Bool {
        guard let decision = try setting(Self.optOutName) else {
            throw StorageError(.corrupted, "\(url.lastPathComponent) does not say whether the user opted out.")
        }
        return decision != "0"
    }

    /// Stores whether the user opted out. An opt-out removes all entries, and the list of the accounts that have
    /// records.
    ///
    /// If the process ends before all entries are removed, the decision is stored. ``completeOptOut()`` then has to
    /// remove the remaining entries before recording resumes, since they would be sent afterwards.
    ///
    /// - Parameter accounts: The accounts that the server is asked to erase because of an opt-out. An empty name means
    ///   the records without an account. Ignored if recording resumes. The default is an empty set.
    func setOptedOut(_ isOptedOut: Bool, erasingAtServer accounts: Set<String> = []) throws(StorageError) {
        guard isOptedOut else {
            try completeOptOut()
            return try storeDecision(false)
        }
        try erase(nil) { () throws(StorageError) in
            // The erasures are stored in the decision's transaction. If the process ended between two transactions,
            // there could be a decision without erasures, or erasures while recording continues.
            for account in accounts { try setErasurePending(account, true) }
            try storeDecision(true)
            try forgetAccounts()
        }
    }

    /// Removes the entries that remain after an interrupted opt-out.
    func completeOptOut() throws(StorageError) {
        guard try isOptedOut() else { return }
        // The process may also have ended after the last removal, with the removed bytes still in the write-ahead log.
        // Files set aside before the opt-out are removed by then. Files set aside after it wait for the app.
        if try hasEntries(of: nil) { try erase(nil) } else { try moveLog() }
    }

    /// Stores whether the user opted out, but removes nothing.
    func storeDecision(_ isOptedOut: Bool) throws(StorageError) { try set(Self.optOutName, isOptedOut ? "1" : "0") }

    /// Returns how many single records of each scope (account) were set aside since the server last accepted a batch of
    /// the scope.
    func refusals() throws(StorageError) -> [String: Int] {
        try settings(beginning: Self.refusalsPrefix).compactMapValues { Int($0) }
    }

    /// Stores the number of records of a scope (an account) that were set aside one after the other. From this number a
    /// later run sees whether the server refuses everything.
    func setRefusals(of scope: String, _ count: Int) throws(StorageError) {
        try set(Self.refusalsPrefix + scope, count > 0 ? "\(count)" : nil)
    }

    /// Ends the series of refused records of a scope (an account), since the server has accepted one of its batches. If
    /// the server seemed to refuse everything, the records of the series wait to be sent again.
    ///
    /// - Returns: The number of records that wait again.
    @discardableResult
    func endRefusals(of scope: String, at time: JournalTime) throws(StorageError) -> Int {
        guard let count = try setting(Self.refusalsPrefix + scope).flatMap({ Int($0) }) else { return 0 }
        let returned = try endSeries(
            of: scope, isSentAgain: count >= LogBatches.refusalLimit, at: time)
        try setRefusals(of: scope, 0)
        return returned
    }

    /// The beginnings of the names of settings that are erased together with a scope (an account); the names end in the
    /// scope. The settings of ``accountPrefix`` stay, since the server has the records of these accounts.
    private static let scopePrefixes = [refusalsPrefix, lossesPrefix, pausesPrefix]

    /// Returns the scopes (accounts) whose settings ``erase(_:alongside:)`` has to remove, even if they have no
    /// entries.
    func scopesBesideEntries() throws(StorageError) -> Set<String> {
        var scopes = try write { database in
            Set(
                try Row.fetchAll(database, sql: "SELECT scope FROM stream").compactMap {
                    String.fromDatabaseValue($0[0])
                })
        }
        for prefix in Self.scopePrefixes {
            scopes.formUnion(try settings(beginning: prefix).keys)
        }
        return scopes
    }

    /// Removes the settings of a scope (an account), or of all scopes if `scope` is `nil`.
    func removeSettings(_ database: Database, of scope: String?) throws {
        for prefix in Self.scopePrefixes {
            try database.execute(
                sql: "DELETE FROM setting WHERE substr(name, 1, ?1) = ?2 AND (?3 IS NULL OR name = ?2 || ?3)",
                arguments: [prefix.count, prefix, scope])
        }
    }

    /// Adds accounts to the list of accounts that have records. An empty name means records without an account.
    func noteAccounts(_ accounts: Set<String>) throws(StorageError) {
        for name in accounts.map({ Self.accountPrefix + $0 }) where try setting(name) == nil { try set(name, "") }
    }

    /// Returns the list of accounts that have records. An empty name means records without an account.
    func accounts() throws(StorageError) -> Set<String> {
        Set(try settings(beginning: Self.accountPrefix).keys)
    }

    func forgetAccount(_ account: String) throws(StorageError) { try set(Self.accountPrefix + account, nil) }

    /// Empties the list of accounts that have records.
    private func forgetAccounts() throws(StorageError) {
        try write { database in
            try database.execute(
                sql: "DELETE FROM setting WHERE substr(name, 1, ?) = ?",
                arguments: [Self.accountPrefix.count, Self.accountPrefix])
        }
    }

    /// Reads whether to ask the server to erase an account. An empty name means the records without an account.
    ///
    /// - Returns: The number of times that the server has refused the erasure; `nil` if it need not be asked.
    func pendingErasure(of account: String) throws(StorageError) -> Int? {
        try setting(Self.erasurePrefix + account).flatMap { Int($0) }
    }

    func setErasurePending(_ account: String, _ isPending: Bool) throws(StorageError) {
        try set(Self.erasurePrefix + account, isPending ? "0" : nil)
    }

    /// Counts a refusal of an erasure. At the limit, the reason is stored, and the server is no longer asked.
    ///
    /// - Returns: Whether the limit is reached.
    func refuseErasure(
        of account: String, after refusals: Int, upTo limit: Int, _ reason: String
    ) throws(StorageError) -> Bool {
        // The app may have requested another erasure while this one was in flight.
        guard try pendingErasure(of: account) == refusals else { return false }
        let isOver = refusals + 1 >= max(1, limit)
        try set(Self.erasurePrefix + account, isOver ? Self.refusedPrefix + reason : "\(refusals + 1)")
        return isOver
    }

    /// Returns the number of pending erasures, and the accounts whose erasure the server refuses, with the reasons.
    func erasures() throws(StorageError) -> (pending: Int, refused: [String: String]) {
        var erasures: (pending: Int, refused: [String: String]) = (0, [:])
        for (account, value) in try settings(beginning: Self.erasurePrefix) {
            if value.hasPrefix(Self.refusedPrefix) {
                erasures.refused[account] = String(value.dropFirst(Self.refusedPrefix.count))
            } else {
                erasures.pending += 1
            }
        }
        return erasures
    }

    /// Returns the fraction of records and the pause that the server asked for in an earlier run; `nil` if it asked for
    /// neither.
    ///
    /// - Parameter now: The current time of the log's clock.
    func pace(at time: JournalTime, now: Duration) throws(StorageError) -> ActionLogPace? {
        let parts = try setting(Self.paceName)?.split(separator: " ") ?? []
        guard parts.count == 3, let rate = Double(parts[0]), let end = Int64(parts[1]), let pause = Int64(parts[2]),
            (0...1).contains(rate)
        else { return nil }
        let moment = try write { try advance($0, to: time) }
        // The stored number may be damaged.
        func instant(_ stored: Int64) -> Duration {
            now + min(.milliseconds(max(0, stored &- moment)), SendPace.longestPause)
        }
        return ActionLogPace(sampleRate: rate, end: instant(end), pause: instant(pause))
    }

    func setPace(_ pace: ActionLogPace, at time: JournalTime, now: Duration) throws(StorageError) {
        guard max(pace.end, pace.pause) > now else { return try set(Self.paceName, nil) }
        let moment = try write { try advance($0, to: time) }
        func stored(_ instant: Duration) -> Int64 { moment + max(.zero, instant - now).milliseconds }
        try set(Self.paceName, "\(pace.sampleRate) \(stored(pace.end)) \(stored(pace.pause))")
    }

    /// Returns the batch of an account (the scope) to send, like ``claim(_:maximumCount:maximumByteCount:skipping:)``,
    /// but leaves out records that wait for another key.
    ///
    /// - Throws: ``StorageError/Kind/keyUnavailable`` if the key can't be read now. Nothing is changed then.
    func claimOpened(
        _ scope: String, maximumCount: Int, maximumByteCount: Int, skipping skipped: Set<UUID> = []
    ) throws(StorageError) -> JournalBatch? {
        while let batch = try claim(
            scope, maximumCount: maximumCount, maximumByteCount: maximumByteCount, skipping: skipped)
        {
            let sealed = batch.entries.filter(\.isSealed)
            if sealed.isEmpty { return batch }
            try coder.checkKey()
            try refuse(batch)
            try seal(scope)
        }
        return nil
    }
}
