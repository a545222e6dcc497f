import Foundation
import Synchronization

// Functions for changes that can't be decrypted, or that a later version of the app wrote.
extension ChangeJournal {
    /// Determines which changes this run can read, and which are held. An earlier run may have had another key, or may
    /// have ended between two transactions.
    func review(_ journal: Journal) throws(StorageError) {
        var entries = try journal.entries()
        // The key may have become readable since the entries were read.
        if entries.contains(where: \.isSealed), journal.coder.isKeyReadable { entries = try journal.entries() }
        let isKeyMissing = entries.contains(where: \.isSealed) && !journal.coder.isKeyReadable
        state.withLock { $0.isKeyMissing = isKeyMissing }
        // While the key can't be read, nothing is decided about the changes.
        if isKeyMissing { return }
        let ahead = state.withLock { $0.ahead }
        for placed in entries where !ahead.contains(placed.id) { try Self.review(placed, journal, time()) }
        for scope in Set(entries.map(\.scope)) { try Self.updateHolds(journal, scope) }
    }

    /// The stored reason of a change that can't be decrypted, and that the server may have received.
    private static let sentWord = "sent"

    private static func review(
        _ placed: JournalEntry, _ journal: Journal, _ time: JournalTime
    ) throws(StorageError) {
        let id = placed.id
        if placed.isSealed {
            // A change that is set aside remains set aside, since its reason is not encrypted.
            if placed.state == .waiting { try journal.seal(id, nil) }
            if placed.state == .claimed || placed.state == .ahead { try journal.seal(id, sentWord) }
            return
        }
        guard var change = StoredChange(placed) else {
            let wasSent = placed.state == .claimed || placed.state == .ahead
            let reason: SetAsideReason = wasSent ? .unreadableAfterSending : .unreadable
            if placed.state != .setAside { try journal.place([id: reason.text]) }
            return
        }
        switch placed.state {
        case .sealed where placed.reason == sentWord,
            .setAside where SetAsideReason(placed.reason) == .unreadableAfterSending:
            change.mayHaveBeenSent = true
            // The limits do not apply, since a full queue has to open before something can be removed.
            try journal.replace(placed, with: try change.bytes(), time, isLimited: false, keepsAge: true)
        // The last run ended during the call of this change, so it is stored as possibly sent.
        case .sealed, .ahead: try journal.place([id: nil])
        case .setAside where SetAsideReason(placed.reason).word == .unreadable: try journal.place([id: nil])
        case .setAside, .waiting, .claimed: break
        }
    }

    /// Puts the changes that can be decrypted now, but could not be decrypted before, back into the queue.
    func reviewSealed() async throws(StorageError) {
        let isDue = state.withLock { $0.waiting == nil || $0.isKeyMissing || $0.queueState.sealedCount > 0 }
        if isDue { try await run(changes: true) { journal throws(StorageError) in try self.review(journal) } }
    }

    /// Returns the first change of a scope (an account of a service) to send. Changes that can't be decrypted are
    /// skipped.
    func first(of scope: String, _ journal: Journal) throws(StorageError) -> JournalEntry? {
        if self.state.withLock({ $0.isKeyMissing }) {
            try journal.coder.checkKey()
            try review(journal)
        }
        let first = try journal.first(of: scope)
        guard let first, first.isSealed else { return first }
        // The key has become unreadable, or has been replaced.
        try review(journal)
        if self.state.withLock({ $0.isKeyMissing }) { throw PayloadCoder.unavailable }
        return try journal.first(of: scope)
    }
}
