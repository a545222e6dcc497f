import Foundation
import Runway

/// What an action log stores beside its records.
extension Journal {
    private static let optOutName = "optedOut"
    private static let paceName = "pace"
    /// Followed by the account.
    private static let erasurePrefix = "erase "

    /// Why a record is set aside that can't be decrypted.
    private static let sealedReason = "It can't be decrypted: it was encrypted with another key."

    func isOptedOut() throws(StorageError) -> Bool { try setting(Self.optOutName) != nil }

    /// Stores whether nothing is recorded. All entries are removed when it begins.
    func setOptedOut(_ isOptedOut: Bool) throws(StorageError) {
        // In this order no kill leaves records of a user who opted out.
        if isOptedOut { try erase(nil) }
        try set(Self.optOutName, isOptedOut ? "1" : nil)
    }

    /// Whether the server is to be asked to erase the records of an account.
    func isErasurePending(_ account: String) throws(StorageError) -> Bool {
        try setting(Self.erasurePrefix + account) != nil
    }

    func setErasurePending(_ account: String, _ isPending: Bool) throws(StorageError) {
        try set(Self.erasurePrefix + account, isPending ? "1" : nil)
    }

    /// How many accounts the server is to be asked to erase.
    func pendingErasureCount() throws(StorageError) -> Int {
        try settings(beginning: Self.erasurePrefix).count
    }

    /// What the server asked for in an earlier run; `nil` if it asked for nothing.
    ///
    /// - Parameter now: The time of the log's clock.
    func pace(at time: JournalTime, now: Duration) throws(StorageError) -> ActionLogPace? {
        let parts = try setting(Self.paceName)?.split(separator: " ") ?? []
        guard parts.count == 3, let rate = Double(parts[0]), let end = Int64(parts[1]), let pause = Int64(parts[2]),
            (0...1).contains(rate)
        else { return nil }
        let moment = try write { try advance($0, to: time) }
        // What was stored may be damaged.
        func instant(_ stored: Int64) -> Duration {
            now + min(.milliseconds(max(0, stored &- moment)), FlushSchedule.longestServerWait)
        }
        return ActionLogPace(sampleRate: rate, end: instant(end), pause: instant(pause))
    }

    func setPace(_ pace: ActionLogPace, at time: JournalTime, now: Duration) throws(StorageError) {
        guard max(pace.end, pace.pause) > now else { return try set(Self.paceName, nil) }
        let moment = try write { try advance($0, to: time) }
        func stored(_ instant: Duration) -> Int64 { moment + max(.zero, instant - now).milliseconds }
        try set(Self.paceName, "\(pace.sampleRate) \(stored(pace.end)) \(stored(pace.pause))")
    }

    /// The batch of a scope that is to be sent, as ``claim(_:maximumCount:maximumByteCount:)``, without records that can't be decrypted:
    /// these are set aside.
    ///
    /// - Throws: ``StorageError/Kind/unavailable`` if so many can't be decrypted that others would be evicted for them.
    func claimOpened(
        _ scope: String, maximumCount: Int, maximumByteCount: Int
    ) throws(StorageError) -> JournalBatch? {
        while let batch = try claim(scope, maximumCount: maximumCount, maximumByteCount: maximumByteCount) {
            let sealed = batch.entries.filter(\.entry.isSealed)
            if sealed.isEmpty { return batch }
            guard try counts().setAside + sealed.count <= limits.maximumSetAsideCount else {
                throw StorageError(.unavailable, "The records can't be decrypted.")
            }
            try setAside(
                Dictionary(uniqueKeysWithValues: sealed.map { ($0.entry.id, Self.sealedReason) }), of: batch)
            try refuse(batch)
        }
        return nil
    }

    /// Has records wait again that were set aside because they could not be decrypted, and can be now.
    func retryOpened() throws(StorageError) {
        guard try counts().setAside > 0 else { return }
        let opened = try entriesSetAside().filter { $0.reason == Self.sealedReason && !$0.entry.entry.isSealed }
        if !opened.isEmpty { try retry(Set(opened.map(\.entry.entry.id))) }
    }
}
