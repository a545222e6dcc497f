public import Foundation
public import RunwaySyncCore

/// A transaction of a space. A hook receives it before the commit, and ``SyncStore/log(of:after:upTo:)`` returns it
/// afterwards.
///
/// The hook runs in the transaction of the database, so that its own writes are committed together with the rows, or
/// not at all.
public struct SyncCommit: Sendable, Hashable {
    /// The space to which the transaction belongs.
    public let space: UUID
    /// The subject that made the changes; `nil` for a write of the server.
    public let subject: String?
    /// The id of the transaction.
    public let id: UUID
    /// The number of the transaction in the log of the space.
    public let number: Int64
    /// The changed rows, in the order of their tables and ids.
    public let changes: [Change]

    /// The decided change of one row.
    public struct Change: Sendable, Hashable {
        /// The table of the row.
        public let table: String
        /// The id of the row.
        public let row: UUID
        /// The values of the changed columns; `nil` if the row was deleted. Values that lost against a concurrent
        /// change are left out.
        public let values: [String: SyncValue]?
        /// The space to which the row moved, if it was deleted for that; `nil` otherwise. The insert there is a
        /// transaction of that space.
        public let movedTo: UUID?
        /// The subjects of columns that were not written by ``SyncCommit/subject``: changes that waited until their row
        /// was inserted, after a restore of the server. Mostly empty.
        public let writers: [String: String]
    }

    package init(
        _ entry: LogEntry, in space: Identifier, by subject: String?, over tables: any SyncTables
    ) throws {
        (self.space, self.subject, number) = (UUID(space), subject, entry.number)
        id = UUID(entry.transaction)
        changes = try entry.changes.map { change in
            let values = change.columns.map { ($0.name, $0.value.value) }
            var writers: [String: String] = [:]
            for (name, cell) in change.columns where cell.stamp.device != entry.device {
                let writer = try tables.subject(of: cell.stamp.device)
                if writer != subject { writers[name] = writer }
            }
            return Change(
                table: change.key.table, row: UUID(change.key.id),
                values: change.life % 2 == 1 ? Dictionary(values) { $1 } : nil,
                movedTo: change.movedTo.map { UUID($0) }, writers: writers)
        }
    }
}

/// The error by which a hook refuses a transaction. The device shows the reason to its user.
public struct SyncRefusal: Error, Hashable, Sendable {
    /// The reason, in one word of letters and digits.
    public let reason: String

    /// Creates a refusal.
    ///
    /// - Parameter reason: The reason, in 1 to 64 letters and digits of ASCII. Any other text becomes `forbidden`.
    public init(_ reason: String) {
        let isWord =
            (1...64).contains(reason.utf8.count) && reason.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
        self.reason = isWord ? reason : Refusal.forbidden.name
    }
}

/// An access to a space, which the app's function (``SyncService/Rights``) permits or refuses.
public struct SyncAccess: Sendable, Hashable {
    /// The kinds of access.
    public struct Kind: Sendable, Hashable, CustomStringConvertible {
        /// The kind in one word.
        public let description: String

        /// Reads all rows of the space.
        public static let read = Kind(description: "read")
        /// Inserts a row.
        public static let insert = Kind(description: "insert")
        /// Changes columns of a row.
        public static let update = Kind(description: "update")
        /// Deletes a row.
        public static let delete = Kind(description: "delete")
        /// Changes columns of all rows that match conditions.
        public static let updateAll = Kind(description: "updateAll")
        /// Uploads a file that a row names. ``SyncAccess/values`` has its size, the integer `byteCount`.
        public static let upload = Kind(description: "upload")
    }

    /// The kind of access.
    public let kind: Kind
    /// The table; `nil` for ``Kind/read`` and ``Kind/upload``.
    public let table: String?
    /// The id of the row; `nil` for ``Kind/read``, ``Kind/updateAll`` and ``Kind/upload``.
    public let row: UUID?
    /// The values that an insert or update assigns; for ``Kind/upload`` the integer `byteCount`; empty
    /// otherwise.
    public let values: [String: SyncValue]
    /// The space to which the row moves, if it is deleted because it moves; `nil` otherwise. The insert there asks
    /// for its own right in that space.
    public let movedTo: UUID?

    static let read = SyncAccess(.read, table: nil, row: nil, values: [:])

    static func upload(byteCount: Int64) -> SyncAccess {
        SyncAccess(.upload, table: nil, row: nil, values: ["byteCount": .integer(byteCount)])
    }

    private init(
        _ kind: Kind, table: String?, row: Identifier?, values: Columns<SyncValue>, movedTo space: Identifier? = nil
    ) {
        (self.kind, self.table, self.row) = (kind, table, row.map { UUID($0) })
        movedTo = space.map { UUID($0) }
        self.values = Dictionary(values.map { ($0.name, $0.value) }) { $1 }
    }

    /// Returns the access of an operation; `nil` for a void, which changes nothing.
    init?(_ action: RunwaySyncCore.Operation.Action) {
        switch action {
        case .insert(let key, _, let values): self.init(.insert, table: key.table, row: key.id, values: values)
        case .update(let key, _, let values): self.init(.update, table: key.table, row: key.id, values: values)
        case .delete(let key, _, let space):
            self.init(.delete, table: key.table, row: key.id, values: [:], movedTo: space)
        case .batch(let batch): self.init(.updateAll, table: batch.table, row: nil, values: batch.values)
        case .void: return nil
        }
    }
}

extension UUID {
    package init(_ id: Identifier) {
        self = withUnsafeBytes(of: (id.high.bigEndian, id.low.bigEndian)) { UUID(uuid: $0.load(as: uuid_t.self)) }
    }
}

extension Identifier {
    package init(_ id: UUID) {
        let words = withUnsafeBytes(of: id.uuid) { bytes in
            [0, 8].map { UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: $0, as: UInt64.self)) }
        }
        self.init(high: words[0], low: words[1])
    }
}
