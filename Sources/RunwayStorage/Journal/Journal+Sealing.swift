import Foundation
import GRDB
import RunwaySQLite

/// Entries that can't be decrypted with the key that the app has now. They are neither damaged nor refused.
extension Journal {
    /// The number of entries that one transaction decrypts.
    private static let sealingGroupSize = 1000

    /// Marks the waiting entries of a scope that can't be decrypted as sealed: no claim returns them until
    /// ``unseal()``.
    ///
    /// Call it only while the key can be read (``PayloadCoder/checkKey()``).
    func seal(_ scope: String) throws(StorageError) {
        try change(state: .waiting, of: scope) { $0.isSealed ? .sealed : nil }
    }

    /// Marks the sealed entries that can be decrypted now as waiting to be sent. Entries whose key can't be read stay
    /// sealed.
    func unseal() throws(StorageError) {
        guard try counts().sealed > 0 else { return }
        try change(state: .sealed, of: nil) { $0.isSealed ? nil : .waiting }
    }

    /// Returns the sealed entries, oldest first.
    func entriesSealed() throws(StorageError) -> [JournalEntry] {
        try write { try sound($0, nil, state: .sealed) }
    }

    /// Marks one entry as sealed, and stores a word as its reason.
    func seal(_ id: UUID, _ word: String?) throws(StorageError) {
        try write { database in
            try database.execute(
                sql: "UPDATE entry SET state = ?, reason = ? WHERE id = ?",
                arguments: [JournalEntry.State.sealed.rawValue, word, Data(id.bytes)])
        }
    }

    private func change(
        state: JournalEntry.State, of scope: String?, to target: (JournalEntry) -> JournalEntry.State?
    ) throws(StorageError) {
        var last: Int64? = 0
        while let start = last {
            last = try write { database in
                let found = try sound(
                    database, scope, state: state, limit: Self.sealingGroupSize, after: start)
                for entry in found {
                    guard let target = target(entry) else { continue }
                    try database.cachedStatement(sql: "UPDATE entry SET state = ? WHERE sequence = ?")
                        .execute(arguments: [target.rawValue, entry.sequence])
                }
                return found.last?.sequence
            }
        }
    }
}
