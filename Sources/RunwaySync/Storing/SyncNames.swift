import GRDB
import RunwaySyncCore

/// The numbers of the names of columns and of the ids of devices in a file, inside one transaction. Each is read once.
final class SyncNames {
    private let database: Database
    private var columns: [Int64: String] = [:]
    private var devices: [Int64: Identifier] = [:]
    // By the bytes of the names, since Swift takes two forms of one accent for equal.
    private var columnNumbers: [[UInt8]: UInt64] = [:]
    private var deviceNumbers: [Identifier: UInt64] = [:]

    init(_ database: Database) { self.database = database }

    func number(of column: String) throws -> UInt64 {
        let bytes = Array(column.utf8)
        if let number = columnNumbers[bytes] { return number }
        let number = try storedNumber(of: column.databaseValue)
        columnNumbers[bytes] = number
        return number
    }

    func number(of device: Identifier) throws -> UInt64 {
        if let number = deviceNumbers[device] { return number }
        let number = try storedNumber(of: device.databaseValue)
        deviceNumbers[device] = number
        return number
    }

    func column(_ number: Int64) throws -> String {
        if let column = columns[number] { return column }
        guard let column = String.fromDatabaseValue(try stored(number)) else { throw DamagedRow() }
        columns[number] = column
        return column
    }

    func device(_ number: Int64) throws -> Identifier {
        if let device = devices[number] { return device }
        guard let device = Identifier(try stored(number)) else { throw DamagedRow() }
        devices[number] = device
        return device
    }

    private func stored(_ number: Int64) throws -> DatabaseValue {
        let sql = "SELECT name FROM runway_sync_name WHERE number = ?"
        return try DatabaseValue.fetchOne(database.cachedStatement(sql: sql), arguments: [number]) ?? .null
    }

    /// Returns the number of a name, which is inserted if it is absent.
    private func storedNumber(of name: DatabaseValue) throws -> UInt64 {
        let sql = "SELECT number FROM runway_sync_name WHERE name = ?"
        if let number = try Int64.fetchOne(database.cachedStatement(sql: sql), arguments: [name]) {
            return UInt64(number)
        }
        try database.cachedStatement(sql: "INSERT INTO runway_sync_name (name) VALUES (?)").execute(arguments: [name])
        return UInt64(database.lastInsertedRowID)
    }
}
