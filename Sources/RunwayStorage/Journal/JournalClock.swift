import Foundation
import GRDB
import Runway
import RunwaySQLite

/// The clocks from which a ``Journal`` computes the age of its entries.
struct JournalTime: Sendable {
    /// The id of the system's current boot; empty if the system has no such id.
    var boot: String
    /// The time since the system started, including sleep.
    var uptime: Duration
    var date: Date

    /// Returns the moment: a journal's own time in milliseconds, from which the ages of its entries are computed. The
    /// moment never goes back. A jump of the date moves it by a week at most.
    ///
    /// - Parameters:
    ///   - last: The last stored moment.
    ///   - time: The clocks at the last stored moment.
    func moment(after last: Int64, at time: JournalTime) -> Int64 {
        // The stored moment may be damaged.
        let last = max(0, min(last, Int64(1) << 52))
        if boot == time.boot, !boot.isEmpty, uptime >= time.uptime, time.uptime >= .zero {
            return last + (uptime - time.uptime).milliseconds
        }
        // The system was restarted, so only the date shows how much time has passed.
        return last + Int64(max(0, min(date.timeIntervalSince(time.date), 7 * 86_400)) * 1000)
    }
}

/// The only row of the table `file`: the id of the file, and the clocks for the ages of its entries.
struct JournalClock: Sendable {
    var installation: UUID
    /// The journal's own time (moment) in milliseconds; see ``JournalTime/moment(after:at:)``.
    var moment: Int64
    /// The clocks at ``moment``, as in ``JournalTime``: the id of the boot, the uptime and the date. Times are in
    /// milliseconds.
    var boot: String
    var uptime: Int64
    var date: Int64

    init(_ installation: UUID, _ moment: Int64, _ time: JournalTime) {
        (self.installation, self.moment, boot) = (installation, moment, time.boot)
        (uptime, date) = (time.uptime.milliseconds, time.date.milliseconds)
    }

    /// Reads a row with the columns installation, moment, boot, uptime and date.
    init(_ row: Row) throws(DamagedColumn) {
        installation = try row.value(0)
        moment = try row.value(1)
        boot = try row.value(2)
        uptime = try row.value(3)
        date = try row.value(4)
    }

    private static let columns = "installation, moment, boot, uptime, date, checksum"

    /// Reads the only row of the table `file`. Returns `nil` if the table has no row yet.
    ///
    /// - Throws: `SQLITE_CORRUPT` or ``DamagedColumn`` if the row is damaged.
    static func read(_ database: Database) throws -> JournalClock? {
        guard let row = try Row.fetchOne(database, sql: "SELECT \(columns) FROM file") else { return nil }
        let found = try JournalClock(row)
        let checksum: Int64 = try row.value(5)
        guard checksum == found.checksum else { throw DatabaseError(resultCode: .SQLITE_CORRUPT) }
        return found
    }

    /// The clocks at ``moment`` as a ``JournalTime``.
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

extension Duration {
    /// The duration in whole milliseconds. Bounded to about 30,000 years, so that adding a moment does not overflow.
    var milliseconds: Int64 {
        let limit = Int64(1_000_000_000_000)
        return max(-limit, min(components.seconds, limit)) * 1000 + components.attoseconds / 1_000_000_000_000_000
    }
}

extension Date {
    /// The whole milliseconds since 1970, bounded so that every platform can represent them.
    var milliseconds: Int64 { Int64(max(-1e15, min(timeIntervalSince1970 * 1000, 1e15))) }

    init(milliseconds: Int64) { self.init(timeIntervalSince1970: Double(milliseconds) / 1000) }
}
