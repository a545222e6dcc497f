import Foundation
import GRDB
import RunwaySyncCore

/// One space of a file of records, inside one transaction of the file.
///
/// It reads each value once, and writes the state at its end (``finish()``). Rows are written at once.
final class SQLiteDeviceStore {
    let database: Database
    let capture: ChangeCapture
    let space: Identifier
    /// The number of the space in this file.
    let number: Int64
    /// Whether the space is only sent.
    private(set) var isOneWay: Bool
    private var savedState: DeviceState
    private var currentState: DeviceState
    private var fileTime: HybridTime
    private var version: Int64
    private var openTransactions: [Outgoing]?
    private var hasChangedTransactions = false
    private var previewedRows: Set<RowKey>?
    private var knownCopies: [RowKey: RowKey]?
    private var rows: [RowKey: SyncRow] = [:]
    private let names: SyncNames
    /// Whether changes of the log are being applied, and whether capture is paused for one of them.
    var (isApplying, isPaused) = (false, false)
    /// Whether rows are parked; `nil` before the first read. Most spaces have no such row.
    var hasParked: Bool?

    /// The number of rows that are remembered in one transaction.
    private static let rowLimit = 20_000

    /// Opens a space, and creates its state if the file has none.
    init(space: Identifier, _ capture: ChangeCapture, _ database: Database) throws {
        (self.space, self.capture, self.database) = (space, capture, database)
        names = SyncNames(database)
        let sql = "SELECT number, version, state, oneway FROM runway_sync_space WHERE id = ?"
        let found = try GRDB.Row.fetchOne(database.cachedStatement(sql: sql), arguments: [space.databaseValue])
        if let found {
            (number, version, isOneWay) = (found[0], found[1], found[3])
            let body: Data = found[2]
            savedState = try DeviceState(encoded: Array(body))
        } else {
            var random = SystemRandomNumberGenerator()
            savedState = DeviceState(device: Identifier(high: random.next(), low: random.next()))
            (version, isOneWay) = (0, capture.isOneWay)
            try database.execute(
                sql: "INSERT INTO runway_sync_space (id, joined, oneway, version, state) VALUES (?, 0, ?, 0, ?)",
                arguments: [space.databaseValue, isOneWay, Data(savedState.encoded())])
            number = database.lastInsertedRowID
        }
        fileTime = try capture.time(in: database)
        savedState.clock.receive(fileTime)
        currentState = savedState
    }

    /// Writes what has changed. Called once, at the end of the transaction.
    func finish() throws {
        if hasChangedTransactions {
            // A space that is only sent shows no row anew, so that the core leaves the list as it is.
            if isOneWay {
                let waiting = try open().filter { $0.verdict == nil && $0.withdrawal == nil }
                let keys = Set(waiting.flatMap { $0.transaction.operations.compactMap(\.key) })
                try setPreviewed(keys, of: previewed.union(keys))
            }
            let former = capture.outgoing.entry(of: number, version: version)
            openTransactions = openTransactions ?? former?.open
            previewedRows = previewedRows ?? former?.previewed
            knownCopies = knownCopies ?? former?.copies
            version = Int64.random(in: 1...Int64.max)
            try database.cachedStatement(sql: "UPDATE runway_sync_space SET version = ? WHERE number = ?")
                .execute(arguments: [version, number])
        }
        // A device with a new id sends again what the server may have lost.
        if currentState.device != savedState.device { try offerFiles() }
        if currentState != savedState {
            try database.cachedStatement(sql: "UPDATE runway_sync_space SET state = ? WHERE number = ?")
                .execute(arguments: [Data(currentState.encoded()), number])
        }
        if currentState.clock.last > fileTime { try capture.setTime(currentState.clock.last, in: database) }
        let entry = OutgoingCache.Entry(
            version: version, open: openTransactions, previewed: previewedRows, copies: knownCopies)
        database.afterNextTransaction { [capture, number] _ in capture.outgoing.set(entry, of: number) }
    }

    func setOneWay() throws {
        if isOneWay { return }
        isOneWay = true
        try execute("UPDATE runway_sync_space SET oneway = 1 WHERE number = ?", [number])
    }

    func arguments(_ key: RowKey, _ others: (any DatabaseValueConvertible)?...) -> StatementArguments {
        StatementArguments([number, key.table, key.id.databaseValue] + others)
    }

    func execute(_ sql: String, _ arguments: StatementArguments) throws {
        try database.cachedStatement(sql: sql).execute(arguments: arguments)
    }

    private func storedRow(in table: String, _ key: RowKey) throws -> SyncRow {
        let sql = "SELECT row FROM \(table) WHERE space = ? AND tbl = ? AND id = ?"
        let body = try Data.fetchOne(database.cachedStatement(sql: sql), arguments: arguments(key))
        guard let body else { return .absent }
        return try decode(body)
    }

    func decode(_ body: Data) throws -> SyncRow { try body.withUnsafeBytes { try RowCoding.decode($0, names) } }
}

extension SQLiteDeviceStore: DeviceStore {
    var state: DeviceState { currentState }
    func setState(_ state: DeviceState) { currentState = state }

    func row(_ key: RowKey) throws -> SyncRow {
        if let row = rows[key] { return row }
        let row = try storedRow(in: "runway_sync_row", key)
        remember(row, key)
        return row
    }

    func setRow(_ key: RowKey, _ row: SyncRow) throws {
        try execute(
            "INSERT OR REPLACE INTO runway_sync_row VALUES (?, ?, ?, ?)",
            arguments(key, Data(try RowCoding.encode(row, names))))
        remember(row, key)
    }

    private func remember(_ row: SyncRow, _ key: RowKey) {
        if rows.count >= Self.rowLimit { rows = [:] }
        rows[key] = row
    }

    func forgetRows() { rows = [:] }

    var previewed: Set<RowKey> {
        get throws {
            if let previewedRows { return previewedRows }
            let found = capture.outgoing.entry(of: number, version: version)?.previewed
            let keys = try found ?? Set(keys(in: "runway_sync_preview"))
            previewedRows = keys
            return keys
        }
    }

    func setPreviewed(_ keys: Set<RowKey>, of all: Set<RowKey>) throws {
        var previewed = try previewed
        // The only reference to the set, so that its changes do not copy it.
        previewedRows = nil
        for key in all where keys.contains(key) != previewed.contains(key) {
            hasChangedTransactions = true
            if previewed.remove(key) == nil {
                previewed.insert(key)
                try execute("INSERT INTO runway_sync_preview VALUES (?, ?, ?)", arguments(key))
            } else {
                try execute(
                    "DELETE FROM runway_sync_preview WHERE space = ? AND tbl = ? AND id = ?", arguments(key))
            }
        }
        previewedRows = previewed
    }

    var copies: [RowKey: RowKey]? { knownCopies ?? capture.outgoing.entry(of: number, version: version)?.copies }

    func setCopies(_ copies: [RowKey: RowKey]) { knownCopies = copies }

    /// Returns the keys in one of the tables of the synchronisation.
    func keys(in table: String) throws -> [RowKey] {
        let sql = "SELECT tbl, id FROM \(table) WHERE space = ?"
        return try GRDB.Row.fetchAll(database.cachedStatement(sql: sql), arguments: [number]).compactMap { row in
            Identifier(row[1] as DatabaseValue).map { RowKey(row[0], $0) }
        }
    }

    func staged(_ key: RowKey) throws -> SyncRow { try storedRow(in: "runway_sync_staged", key) }

    func stage(_ key: RowKey, _ row: SyncRow) throws {
        try execute(
            "INSERT OR REPLACE INTO runway_sync_staged VALUES (?, ?, ?, ?)",
            arguments(key, Data(try RowCoding.encode(row, names))))
    }

    func removeStaged() throws { try execute("DELETE FROM runway_sync_staged WHERE space = ?", [number]) }

    func open() throws -> [Outgoing] {
        if let openTransactions { return openTransactions }
        let open = try capture.outgoing.entry(of: number, version: version)?.open ?? decode(where: "open = 1")
        openTransactions = open
        return open
    }

    func outgoing() throws -> [Outgoing] { try decode(where: "TRUE") }

    private func decode(where condition: String) throws -> [Outgoing] {
        let sql = "SELECT body FROM runway_sync_outgoing WHERE space = ? AND \(condition) ORDER BY sequence"
        return try Data.fetchAll(database.cachedStatement(sql: sql), arguments: [number])
            .map { try Outgoing(encoded: Array($0)) }
    }

    /// Returns the refused transactions, oldest first.
    func refused() throws -> [Outgoing] { try decode(where: "refused = 1") }

    func put(_ outgoing: Outgoing) throws {
        try mark(outgoing.sequence, outgoing.isOpen ? outgoing : nil)
        var decided: Int64?
        if case .decided(_, let time) = outgoing.status { decided = time.milliseconds }
        let arguments: [(any DatabaseValueConvertible)?] = [
            number, outgoing.sequence, outgoing.transaction.id.databaseValue, outgoing.isOpen,
            outgoing.verdict?.refusal != nil || outgoing.withdrawal == .expired, decided,
            outgoing.isOffered, outgoing.transaction.byteCount, Data(outgoing.encoded()),
        ]
        try execute(
            """
            INSERT INTO runway_sync_outgoing (space, sequence, id, open, refused, decided, offered, size, body)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (space, sequence) DO UPDATE SET
                open = excluded.open, refused = excluded.refused, decided = excluded.decided,
                offered = excluded.offered, body = excluded.body
            """, StatementArguments(arguments))
        if outgoing.withdrawal != nil || outgoing.verdict != nil { try listRefused(outgoing) }
    }

    /// Lists the rows of a refused transaction, so that the app finds the reason by a row.
    private func listRefused(_ outgoing: Outgoing) throws {
        try execute("DELETE FROM runway_sync_refused WHERE space = ? AND sequence = ?", [number, outgoing.sequence])
        guard let refusal = outgoing.withdrawal ?? outgoing.verdict?.refusal else { return }
        for key in outgoing.transaction.operations.compactMap(\.key) {
            try execute(
                "INSERT OR REPLACE INTO runway_sync_refused VALUES (?, ?, ?, ?, ?)",
                arguments(key, outgoing.sequence, refusal.name))
        }
    }

    func remove(outgoing sequence: Int64) throws {
        try mark(sequence, nil)
        try execute("DELETE FROM runway_sync_refused WHERE space = ? AND sequence = ?", [number, sequence])
        try execute("DELETE FROM runway_sync_outgoing WHERE space = ? AND sequence = ?", [number, sequence])
    }

    /// Changes the list of open transactions.
    private func mark(_ sequence: Int64, _ outgoing: Outgoing?) throws {
        hasChangedTransactions = true
        var open = try open()
        openTransactions = nil
        let index = open.binarySearch(sequence)
        let isPresent = index < open.count && open[index].sequence == sequence
        switch (outgoing, isPresent) {
        case (let outgoing?, true): open[index] = outgoing
        case (let outgoing?, false): open.insert(outgoing, at: index)
        case (nil, true): open.remove(at: index)
        case (nil, false): break
        }
        openTransactions = open
    }

    func outgoing(_ transaction: Identifier) throws -> Outgoing? {
        let sql = "SELECT body FROM runway_sync_outgoing WHERE space = ? AND id = ?"
        return try Data.fetchOne(
            database.cachedStatement(sql: sql), arguments: [number, transaction.databaseValue]
        ).map { try Outgoing(encoded: Array($0)) }
    }

    func hasRetained(bytes: Int, before milliseconds: Int64) throws -> Bool {
        let sql = """
            SELECT SUM(size) > ? OR MIN(decided) < ? FROM runway_sync_outgoing
                WHERE space = ? AND decided IS NOT NULL AND refused = 0
            """
        return try Bool.fetchOne(
            database.cachedStatement(sql: sql), arguments: [bytes, milliseconds, number]) ?? false
    }
}

extension [Outgoing] {
    /// Returns the index of the first transaction whose sequence number is not smaller.
    fileprivate func binarySearch(_ sequence: Int64) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle].sequence < sequence { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension SQLiteDeviceStore {
    /// Removes the rows of the space, and all that the file has of it.
    func removeSpace() throws {
        for shape in capture.allShapes {
            try change(
                "DELETE FROM \(shape.name.quotedName) WHERE \(shape.space.quotedName) = ?", [space.databaseValue])
        }
        for table in ["row", "staged", "preview", "parked", "outgoing", "refused", "conflict", "moved"] {
            try execute("DELETE FROM runway_sync_\(table) WHERE space = ?", [number])
        }
        try execute("DELETE FROM runway_sync_held WHERE space = ?", [space.databaseValue])
        try execute("DELETE FROM runway_sync_space WHERE number = ?", [number])
    }
}
