import Foundation
import GRDB
import RunwaySQLite

/// The only row of the table `file`: the id of a file, and the clocks by which the ages of its entries are known.
struct JournalFileRow: Sendable {
    /// Identifies the file.
    var installation: UUID
    /// The time that the file has counted, in milliseconds; see ``JournalTime/moment(after:at:)``.
    var moment: Int64
    /// The clocks at that moment, as ``JournalTime`` has them, in milliseconds.
    var boot: String
    var uptime: Int64
    var date: Int64

    init(_ installation: UUID, _ moment: Int64, _ time: JournalTime) {
        (self.installation, self.moment, boot) = (installation, moment, time.boot)
        (uptime, date) = (time.uptime.milliseconds, time.date.milliseconds)
    }

    /// Reads a row of installation, moment, boot, uptime and date.
    init(_ row: Row) throws(DamagedColumn) {
        installation = try row.value(0)
        moment = try row.value(1)
        boot = try row.value(2)
        uptime = try row.value(3)
        date = try row.value(4)
    }

    private static let columns = "installation, moment, boot, uptime, date, checksum"

    /// The row of a file; `nil` if it has none yet.
    ///
    /// - Throws: `SQLITE_CORRUPT` or ``DamagedColumn`` if it is damaged.
    static func read(_ database: Database) throws -> JournalFileRow? {
        guard let row = try Row.fetchOne(database, sql: "SELECT \(columns) FROM file") else { return nil }
        let found = try JournalFileRow(row)
        let checksum: Int64 = try row.value(5)
        guard checksum == found.checksum else { throw DatabaseError(resultCode: .SQLITE_CORRUPT) }
        return found
    }

    /// The clocks at ``moment``.
    var time: JournalTime {
        JournalTime(boot: boot, uptime: .milliseconds(uptime), date: Date(milliseconds: date))
    }

    func insert(_ database: Database) throws {
        try database.execute(
            sql: "INSERT INTO file (\(Self.columns)) VALUES (?, ?, ?, ?, ?, ?)", arguments: arguments)
    }

    func update(_ database: Database) throws {
        try database.cachedStatement(
            sql: "UPDATE file SET installation = ?, moment = ?, boot = ?, uptime = ?, date = ?, checksum = ?"
        ).execute(arguments: arguments)
    }

    private var arguments: StatementArguments {
        [installation.databaseValue, moment, boot, uptime, date, checksum]
    }

    private var checksum: Int64 {
        var sum = RowChecksum()
        sum.add(installation.bytes)
        sum.add(moment)
        sum.add(boot)
        sum.add(uptime)
        sum.add(date)
        return sum.value
    }
}
