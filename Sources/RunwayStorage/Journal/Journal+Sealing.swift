import Foundation
import GRDB
import RunwaySQLite

/// Functions for sealed entries, which are undamaged but can't be decrypted with the app's current key.
extension Journal {
    /// The maximum number of entries that one transaction decrypts.
    private static let sealingGroupSize = 1000

    /// Marks the waiting entries of a scope (an account) that can't be decrypted as sealed. They are not sent until
    /// ``unseal()``.
    ///
    /// Call it only while the key can be read (``PayloadCoder/checkKey()``).
    func seal(_ scope: String) throws(StorageError) {
        try change(state: .waiting, of: scope) { $0.isSealed ? .sealed : nil }
    }

    /// Changes sealed entries, which could not be decrypted, to waiting entries if they can be decrypted now. Entries
    /// whose key can't be read stay sealed.
    func unseal() throws(StorageError) {
        guard try counts().sealed > 0 else { return }
        try change(state: .sealed, of: nil) { $0.isSealed ? nil : .waiting }
    }

    func entriesSealed() throws(StorageError) -> [JournalEntry] {
        try write { try sound($0, nil, state: .sealed) }
    }

    /// Marks one entry as undecryptable (sealed), and stores a word as its reason.
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
