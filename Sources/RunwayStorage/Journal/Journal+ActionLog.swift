import Foundation
import GRDB
import Runway

/// The settings that an action log stores in addition to its records.
extension Journal {
    /// The setting of the user's decision, which is always stored: "1" after an opt-out, otherwise "0".
    static let optOutName = "optedOut"
    private static let paceName = "pace"
    /// Followed by the scope.
    private static let refusalsPrefix = "refusals "
    /// Followed by an account that has recorded, and that no later opt-out or erasure at the server was about.
    private static let accountPrefix = "account "
    /// ``accountPrefix`` with an empty account: something was recorded while no account was signed in.
    static let nobodyRecordedName = accountPrefix
    /// Followed by the account.
    private static let erasurePrefix = "erase "
    /// ``erasurePrefix`` with an empty account: the erasure of the records without an account.
    private static let erasureOfNobodyName = erasurePrefix
    /// The settings of one installation, which are not copied to another one: its secret, and the erasure of its
    /// records without an account.
    static let installationSettings: Set<String> = [InstallationSecret.settingName, erasureOfNobodyName]
    /// The prefix of the stored value of a refused record; the reason follows it.
    private static let refusedPrefix = "refused "

    /// Whether the user opted out.
    ///
    /// - Throws: ``StorageError/Kind/corrupted`` if the file does not say so. ``JournalFile`` then replaces it, and
    ///   ``JournalSalvage`` decides.
    func isOptedOut() throws(StorageError) -> Bool {
        guard let decision = try setting(Self.optOutName) else {
            throw StorageError(.corrupted, "\(url.lastPathComponent) does not say whether the user opted out.")
        }
        return decision != "0"
    }

    /// Stores whether the user opted out. An opt-out removes all entries, and forgets the accounts that have recorded.
    ///
    /// If the process ends in between, the decision is stored, and ``completeOptOut()`` removes the rest. This must
    /// happen before recording resumes, or the rest would be sent then.
    ///
    /// - Parameter accounts: The accounts that the server is asked to erase because of an opt-out. An empty name stands
    ///   for the records without an account. They are ignored if recording resumes. The default is an empty set.
    func setOptedOut(_ isOptedOut: Bool, erasingAtServer accounts: Set<String> = []) throws(StorageError) {
        guard isOptedOut else {
            try completeOptOut()
            return try storeDecision(false)
        }
        try erase(nil) { () throws(StorageError) in
            // In one transaction with the decision. Otherwise a process that ends in between would leave an erasure to
            // a run that continues to record, or a decision without its erasures.
            for account in accounts { try setErasurePending(account, true) }
            try storeDecision(true)
            try forgetAccounts()
        }
    }

    /// Removes the rest of the entries after an opt-out that was interrupted.
    func completeOptOut() throws(StorageError) {
        guard try isOptedOut() else { return }
        // The process may also have ended after the last removal, while the removed bytes were still in the write-ahead
        // log. Files that were set aside before the opt-out are gone then, and those that were set aside after it wait
        // for the app.
        if try hasEntries(of: nil) { try erase(nil) } else { try moveLog() }
    }

    /// Stores whether the user opted out, and removes nothing.
    func storeDecision(_ isOptedOut: Bool) throws(StorageError) { try set(Self.optOutName, isOptedOut ? "1" : "0") }

    /// Returns, by scope, the number of single records in a row that were set aside since the server last accepted a
    /// batch.
    func refusals() throws(StorageError) -> [String: Int] {
        try settings(beginning: Self.refusalsPrefix).compactMapValues { Int($0) }
    }

    /// Stores the number of records that were set aside in a row, so that a later run knows that the server seems to
    /// refuse everything.
    func setRefusals(of scope: String, _ count: Int) throws(StorageError) {
        try set(Self.refusalsPrefix + scope, count > 0 ? "\(count)" : nil)
    }

    /// Ends the series of refusals of a scope, since the server has accepted one of its batches. If the server had
    /// refused so many single records in a row that it seemed to refuse everything, the records of this series wait
    /// again, from now on.
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

    /// The beginnings of the settings that end in a scope and are erased with it. The accounts that have recorded
    /// stay, since the server has their records.
    private static let scopePrefixes = [refusalsPrefix, lossesPrefix, pausesPrefix]

    /// Returns the scopes for which ``erase(_:alongside:)`` has more to remove than entries.
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

    /// Removes the settings of a scope; with `nil`, of all scopes.
    func removeSettings(_ database: Database, of scope: String?) throws {
        for prefix in Self.scopePrefixes {
            try database.execute(
                sql: "DELETE FROM setting WHERE substr(name, 1, ?1) = ?2 AND (?3 IS NULL OR name = ?2 || ?3)",
                arguments: [prefix.count, prefix, scope])
        }
    }

    /// Remembers that accounts have recorded. An empty name stands for records without an account.
    func noteAccounts(_ accounts: Set<String>) throws(StorageError) {
        for name in accounts.map({ Self.accountPrefix + $0 }) where try setting(name) == nil { try set(name, "") }
    }

    /// Returns the accounts that have recorded since they were last forgotten, with an empty name for records without
    /// an account.
    func accounts() throws(StorageError) -> Set<String> {
        Set(try settings(beginning: Self.accountPrefix).keys)
    }

    /// Forgets that an account has recorded.
    func forgetAccount(_ account: String) throws(StorageError) { try set(Self.accountPrefix + account, nil) }

    /// Forgets which accounts have recorded.
    private func forgetAccounts() throws(StorageError) {
        try write { database in
            try database.execute(
                sql: "DELETE FROM setting WHERE substr(name, 1, ?) = ?",
                arguments: [Self.accountPrefix.count, Self.accountPrefix])
        }
    }

    /// Reads whether the server is to be asked to erase an account. An empty name stands for the records without an
    /// account.
    ///
    /// - Returns: The number of times that the server has refused the erasure; `nil` if it is not to be asked.
    func pendingErasure(of account: String) throws(StorageError) -> Int? {
        try setting(Self.erasurePrefix + account).flatMap { Int($0) }
    }

    func setErasurePending(_ account: String, _ isPending: Bool) throws(StorageError) {
        try set(Self.erasurePrefix + account, isPending ? "0" : nil)
    }

    /// Counts a refusal of an erasure by the server. If the refusals have reached the limit, the server is not asked
    /// any more, and the reason is stored.
    ///
    /// - Returns: Whether the limit is reached.
    func refuseErasure(
        of account: String, after refusals: Int, upTo limit: Int, _ reason: String
    ) throws(StorageError) -> Bool {
        // The app may have asked for another one in between.
        guard try pendingErasure(of: account) == refusals else { return false }
        let isOver = refusals + 1 >= max(1, limit)
        try set(Self.erasurePrefix + account, isOver ? Self.refusedPrefix + reason : "\(refusals + 1)")
        return isOver
    }

    /// Returns the number of accounts that the server is to be asked to erase, and the accounts that it refuses to
    /// erase, with the reasons.
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

    /// Returns the pace that the server asked for in an earlier run; `nil` if it asked for none.
    ///
    /// - Parameter now: The present time of the log's clock.
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

    /// Returns the batch of a scope that is to be sent, as ``claim(_:maximumCount:maximumByteCount:skipping:)``,
    /// without records of another key: these wait for it.
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
