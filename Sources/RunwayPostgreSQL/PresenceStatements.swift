/// The SQL for the members that are present in an event log. It follows the rules of ``ActionLogStatements``: the
/// tenant is the first column of every key and predicate.
///
/// All members of a process are recorded under one lease, so the process updates only one row to renew it. The row of
/// the log is locked before members are recorded, so that only one of several processes finds that a member's record is
/// the first or the last.
enum PresenceStatements {
    static let tables = [
        """
        CREATE TABLE IF NOT EXISTS runway_presence_lease (tenant text NOT NULL, log text NOT NULL, lease text NOT NULL,
        expiry timestamptz NOT NULL, PRIMARY KEY (tenant, log, lease))
        """,
        """
        CREATE TABLE IF NOT EXISTS runway_presence (tenant text NOT NULL, log text NOT NULL, topic text NOT NULL,
        member text NOT NULL, lease text NOT NULL, PRIMARY KEY (tenant, log, topic, member, lease))
        """,
        "CREATE INDEX IF NOT EXISTS runway_presence_by_lease ON runway_presence (tenant, log, lease)",
    ]

    /// Makes each statement read the commits of other transactions up to its start. It reads and writes no table.
    static let isolation = "SET TRANSACTION ISOLATION LEVEL READ COMMITTED"
    static let lockLog = "SELECT epoch FROM runway_event_log WHERE tenant = $1 AND name = $2 FOR UPDATE"
    static let begin = """
        INSERT INTO runway_presence_lease (tenant, log, lease, expiry)
        VALUES ($1, $2, $3, now() + $4::double precision * interval '1 second')
        """
    /// Renews the lease under which a process records its present members. Returns no row if the lease has expired.
    static let renew = """
        UPDATE runway_presence_lease SET expiry = now() + $4::double precision * interval '1 second'
        WHERE tenant = $1 AND log = $2 AND lease = $3 AND expiry > now() RETURNING lease
        """
    /// Marks expired leases as ended, so that they stay ended if the clock is set back, and returns them.
    static let end = """
        UPDATE runway_presence_lease SET expiry = '-infinity' WHERE tenant = $1 AND log = $2 AND expiry <= now()
        RETURNING lease
        """
    static let removeLease = "DELETE FROM runway_presence_lease WHERE tenant = $1 AND log = $2 AND lease = $3"
    static let members = """
        SELECT topic, member FROM runway_presence WHERE tenant = $1 AND log = $2 AND lease = $3 LIMIT $4
        """
    /// Returns the members that are present under an unexpired lease, in the same order in every database.
    static let present = """
        SELECT DISTINCT member COLLATE "C" FROM runway_presence
        WHERE tenant = $1 AND log = $2 AND topic = $3 AND \(lasts) ORDER BY member COLLATE "C" LIMIT $4
        """
    /// The condition that a member's lease has not expired. An expired lease may still have members, if no process has
    /// ended it.
    private static let lasts = """
        lease IN (SELECT lease FROM runway_presence_lease WHERE tenant = $1 AND log = $2 AND expiry > now())
        """

    /// Records `count` members under a lease. Returns the members that were not recorded yet.
    static func insertion(of count: Int) -> String {
        let rows = (0..<count).map { "($1, $2, $3, $\(4 + $0 * 2), $\(5 + $0 * 2))" }
        return """
            INSERT INTO runway_presence (tenant, log, lease, topic, member) VALUES \(rows.joined(separator: ", "))
            ON CONFLICT (tenant, log, topic, member, lease) DO NOTHING RETURNING topic, member
            """
    }

    /// Removes `count` members of a lease. Returns the members that were recorded.
    static func removal(of count: Int) -> String {
        """
        DELETE FROM runway_presence WHERE tenant = $1 AND log = $2 AND lease = $3 AND (topic, member) IN \(pairs(count))
        RETURNING topic, member
        """
    }

    /// Returns which of `count` members are present under another unexpired lease. A member that only expired leases
    /// have counts as absent, and joins again.
    static func lastingOthers(of count: Int) -> String { "\(others(of: count)) AND \(lasts)" }

    /// Returns which of `count` members are recorded under another lease. A member recorded under an expired lease
    /// leaves when that record is removed.
    static func others(of count: Int) -> String {
        """
        SELECT DISTINCT topic, member FROM runway_presence
        WHERE tenant = $1 AND log = $2 AND lease <> $3 AND (topic, member) IN \(pairs(count))
        """
    }

    private static func pairs(_ count: Int) -> String {
        "(" + (0..<count).map { "($\(4 + $0 * 2), $\(5 + $0 * 2))" }.joined(separator: ", ") + ")"
    }

    /// All statements with a predicate or a key. Tests check that they follow the rules of ``ActionLogStatements``.
    static var all: [String] {
        tables + [
            lockLog, begin, renew, end, removeLease, members, present, insertion(of: 2), removal(of: 2), others(of: 2),
            lastingOthers(of: 2),
        ]
    }
}
