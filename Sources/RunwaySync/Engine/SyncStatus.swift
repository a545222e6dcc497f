public import Foundation
import GRDB
import RunwaySyncCore
public import RunwayTables

/// The state of a space on this device, for the screen.
public struct SyncStatus: Hashable, Sendable {
    /// The number of changes of this device that the server has neither accepted nor refused yet.
    public let waitingCount: Int
    /// The time at which the oldest of these changes was made; `nil` if there are none.
    public let waitingSince: Date?
    /// The reason why the last exchange did not succeed; `nil` if it did, or there was none.
    public let problem: SyncProblem?
    /// The number of rows that have arrived while the space is read as a whole for the first time, or again. `nil` when
    /// it is not being read as a whole.
    public let arrivedRowCount: Int?
    /// The number of rows that the tables of this version can't store, such as rows of a newer version of the app. They
    /// are not shown.
    public let parkedRowCount: Int
    /// The number of old changes of a restored or copied device that are sent only if the user wants it; see
    /// ``SyncEngine/decideOffers(accepting:in:)``.
    public let offeredCount: Int
    /// The number of times that the rows of this device differed from those of the server although both were at the
    /// same change. Each time is a mistake of one of them, and worth a report to the developer. All rows are read again
    /// then, at most once an hour.
    public let mismatchCount: Int
    /// The time of the last such difference, by this device's clock; `nil` if there was none.
    public let lastMismatch: Date?
    /// Whether the account has lost access to the space. The rows of the space were then removed from this device.
    public let isRevoked: Bool
    /// The changes that the server refused, or that were withdrawn, oldest first.
    public let refusedChanges: [SyncChange]
}

/// A transaction of the app that the server refused, or that the user withdrew.
public struct SyncChange: Hashable, Sendable {
    /// The id, for ``SyncEngine/withdraw(_:in:)`` and ``SyncEngine/dismiss(_:in:)``.
    public let id: UUID
    /// The time of the write, by this device's clock.
    public let date: Date
    /// The reason in one word: `absent`, `forbidden`, `tooMany`, `tooLarge`, `unreadable`, `revoked`, `expired`,
    /// `declined`, `void` for a change that the user withdrew, or a word of the server's own.
    public let reason: String
    /// The rows, by table.
    public let rows: [String: [UUID]]
}

/// The state of one row on this device.
public enum RowSyncStatus: Hashable, Sendable {
    /// The row is as the server has it.
    case synced
    /// Changes of this device wait.
    case pending
    /// The server refused a change; the associated value is ``SyncChange/reason``.
    case refused(String)
    /// A change of a ``SentTable`` was not sent in time; see ``SyncEngine/sendAgain(_:in:)``.
    case failed
    /// The user withdrew a change.
    case withdrawn
    /// The row is not here any more: it moved to another space; see `TableWriter.move(_:_:to:)`. A device that reads
    /// all rows of the space again after the move finds the row deleted, without this state.
    case moved(to: UUID)
}

/// The treatment of changes that were not sent, at a sign-out.
public struct UnsentChanges: Hashable, Sendable {
    enum Choice { case send, discard, keep }
    let choice: Choice

    /// The changes are sent now. If that fails, the sign-out does not happen.
    public static let send = UnsentChanges(choice: .send)
    /// The changes are lost, and all rows are removed from this device.
    public static let discard = UnsentChanges(choice: .discard)
    /// The changes stay in the file, and are sent when the account signs in again on this device.
    public static let keep = UnsentChanges(choice: .keep)
}

extension TableReading {
    /// Returns the state of a space. It can be observed, as any result of a read.
    ///
    /// ```swift
    /// let status = store.observe { try $0.syncStatus(of: list) }
    /// ```
    ///
    /// - Throws: An error of the file.
    public func syncStatus(of space: UUID) throws -> SyncStatus {
        try SpaceReading(connection, Identifier(space)).status()
    }

    /// Returns the state of a row. It can be observed.
    ///
    /// - Throws: An error of the file.
    public func syncStatus<Table: RunwayTables.TableDefinition>(of table: Table.Type, _ id: UUID) throws
        -> RowSyncStatus
    {
        let key = StatementArguments([Table.name, Identifier(id).databaseValue])
        func exists(_ sql: String) throws -> Bool {
            try Bool.fetchOne(connection.cachedStatement(sql: sql), arguments: key) ?? false
        }
        if try exists("SELECT 1 FROM runway_sync_preview WHERE tbl = ? AND id = ? LIMIT 1") { return .pending }
        if try exists("SELECT 1 FROM runway_sync_change WHERE tbl = ? AND id = ? LIMIT 1") { return .pending }
        let sql = "SELECT reason FROM runway_sync_refused WHERE tbl = ? AND id = ? ORDER BY sequence DESC LIMIT 1"
        let reason = try String.fetchOne(connection.cachedStatement(sql: sql), arguments: key)
        return switch reason.map(Refusal.init) {
        case nil: try newSpace(of: table, id).map { .moved(to: $0) } ?? .synced
        case .void?: .withdrawn
        case .expired?: .failed
        case let refusal?: .refused(refusal.name)
        }
    }

    /// Returns the space to which a row moved; `nil` if it did not, or was inserted again since.
    private func newSpace<Table: RunwayTables.TableDefinition>(of table: Table.Type, _ id: UUID) throws -> UUID? {
        guard let key = try connection.primaryKey(Table.name).columns.first else { return nil }
        let sql = """
            SELECT target FROM runway_sync_moved WHERE tbl = ?1 AND id = ?2
                AND NOT EXISTS (SELECT 1 FROM \(Table.name.quotedName) WHERE \(key.quotedName) = ?2) LIMIT 1
            """
        let arguments = StatementArguments([Table.name, Identifier(id).databaseValue])
        let target = try DatabaseValue.fetchOne(connection.cachedStatement(sql: sql), arguments: arguments)
        return target.flatMap { Identifier($0) }.map { UUID($0) }
    }
}

extension TableReading {
    /// Returns the number of the last log entry that was applied to a space.
    package func syncCursor(of space: UUID) throws -> Int64 {
        let sql = "SELECT state FROM runway_sync_space WHERE id = ?"
        let body = try Data.fetchOne(connection, sql: sql, arguments: [Identifier(space).databaseValue])
        return try body.map { try DeviceState(encoded: Array($0)).cursor.number } ?? 0
    }
}

/// Reads the state of a space without changing the file.
private struct SpaceReading {
    private let database: Database
    private let space: Identifier

    init(_ database: Database, _ space: Identifier) { (self.database, self.space) = (database, space) }

    func status() throws -> SyncStatus {
        let sql = "SELECT number, problem, state FROM runway_sync_space WHERE id = ?"
        let found = try GRDB.Row.fetchOne(database, sql: sql, arguments: [space.databaseValue])
        let number: Int64 = found?[0] ?? 0
        let state = try found.map { try DeviceState(encoded: Array($0[2] as Data)) }
        let refused = try transactions("refused = 1", number)
        let (unsealed, oldest) = try unsealed()
        let waiting = "space = ? AND open = 1 AND decided IS NULL"
        let first = try transactions(
            "sequence = (SELECT MIN(sequence) FROM runway_sync_outgoing WHERE \(waiting))", number
        )
        .first?.transaction.time
        return SyncStatus(
            waitingCount: try count("runway_sync_outgoing WHERE \(waiting)", number) + unsealed,
            waitingSince: (first ?? oldest).map { Date($0) },
            problem: (found?[1] as String?).map { SyncProblem(description: $0) },
            arrivedRowCount: try state?.snapshot == nil ? nil : count("runway_sync_staged WHERE space = ?", number),
            parkedRowCount: try count("runway_sync_parked WHERE space = ?", number),
            offeredCount: try count("runway_sync_outgoing WHERE space = ? AND open = 1 AND offered = 1", number),
            mismatchCount: Int(state?.mismatchCount ?? 0), lastMismatch: state?.lastMismatch.map { Date($0) },
            isRevoked: state?.isRevoked ?? false, refusedChanges: refused.map { SyncChange($0) })
    }

    /// Returns the number and the first time of the writes that are not sealed.
    private func unsealed() throws -> (count: Int, oldest: HybridTime?) {
        let sql = """
            SELECT COUNT(*), MIN(time) FROM runway_sync_write AS w WHERE EXISTS (
                SELECT 1 FROM runway_sync_change WHERE space = ? AND n <= w.last
                    AND n > (SELECT ifnull(MAX(last), 0) FROM runway_sync_write WHERE last < w.last))
            """
        let row = try GRDB.Row.fetchOne(database, sql: sql, arguments: [space.databaseValue])
        let time: Int64? = row?[1]
        return (row?[0] ?? 0, time.flatMap { HybridTime(bits: UInt64(bitPattern: $0)) })
    }

    private func count(_ rest: String, _ number: Int64) throws -> Int {
        try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM \(rest)", arguments: [number]) ?? 0
    }

    private func transactions(_ condition: String, _ number: Int64) throws -> [Outgoing] {
        let isNested = condition.contains("?")
        let sql = "SELECT body FROM runway_sync_outgoing WHERE space = ? AND \(condition) ORDER BY sequence"
        return try Data.fetchAll(
            database, sql: sql, arguments: StatementArguments(Array(repeating: number, count: isNested ? 2 : 1))
        ).map { try Outgoing(encoded: Array($0)) }
    }
}

extension SyncChange {
    fileprivate init(_ outgoing: Outgoing) {
        let keys = outgoing.transaction.operations.compactMap(\.key)
        self.init(
            id: UUID(outgoing.transaction.id), date: Date(outgoing.transaction.time),
            reason: (outgoing.withdrawal ?? outgoing.verdict?.refusal)?.name ?? "",
            rows: Dictionary(grouping: keys, by: \.table).mapValues { $0.map { UUID($0.id) } })
    }
}

extension Date {
    fileprivate init(_ time: HybridTime) { self.init(timeIntervalSince1970: Double(time.milliseconds) / 1000) }
}

extension UUID {
    init(_ identifier: Identifier) {
        let bytes = identifier.bytes
        self.init(
            uuid: (
                bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7], bytes[8], bytes[9],
                bytes[10], bytes[11], bytes[12], bytes[13], bytes[14], bytes[15]
            ))
    }
}

extension Identifier {
    init(_ id: UUID) {
        self = withUnsafeBytes(of: id.uuid) { bytes in
            Identifier(
                high: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
                low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
        }
    }
}
