/// The SQL of the event log. It follows the rules of ``ActionLogStatements``: the tenant is the first column of every
/// key and predicate.
///
/// The last offset is in a row that stays locked until the commit, so that offsets become visible in order. With a
/// sequence, a later offset could become visible before an earlier one whose transaction takes longer, and readers
/// would skip the earlier event.
enum EventLogStatements {
    static let tables = [
        """
        CREATE TABLE IF NOT EXISTS runway_event_log (tenant text NOT NULL, name text NOT NULL, epoch text NOT NULL,
        first bigint NOT NULL, last bigint NOT NULL, PRIMARY KEY (tenant, name))
        """,
        """
        CREATE TABLE IF NOT EXISTS runway_event (tenant text NOT NULL, log text NOT NULL, number bigint NOT NULL,
        topic text NOT NULL, type text NOT NULL, data text NOT NULL, PRIMARY KEY (tenant, log, number))
        """,
    ]

    static let begin = """
        INSERT INTO runway_event_log (tenant, name, epoch, first, last) VALUES ($1, $2, $3, 1, 0)
        ON CONFLICT (tenant, name) DO NOTHING
        """
    static let range = "SELECT epoch, first, last FROM runway_event_log WHERE tenant = $1 AND name = $2"
    static let advance = """
        UPDATE runway_event_log SET last = last + $3 WHERE tenant = $1 AND name = $2 RETURNING epoch, first, last
        """
    static let remove = "DELETE FROM runway_event WHERE tenant = $1 AND log = $2 AND number < $3"
    /// Computes the size of all events: the bytes of their texts and a fixed cost per row. PostgreSQL knows the size of
    /// a long text without reading it.
    static let byteCount = """
        SELECT sum(octet_length(topic) + octet_length(type) + octet_length(data) + \(costOfEvent)) FROM runway_event
        WHERE tenant = $1 AND log = $2
        """
    /// The fixed cost of an event in bytes, in addition to its texts.
    static let costOfEvent = 64
    /// Replaces the epoch of all logs of a tenant.
    static let beginEpoch = "UPDATE runway_event_log SET epoch = $2 WHERE tenant = $1"
    static let moveFirst = "UPDATE runway_event_log SET first = $3 WHERE tenant = $1 AND name = $2"
    /// Returns a page of events. The page ends with the event at which the data reach $5 bytes, or after $4 events.
    static let events = """
        SELECT number, topic, type, data FROM (
            SELECT tenant, number, topic, type, data,
                sum(octet_length(data)) OVER (ORDER BY number) - octet_length(data) AS earlier
            FROM runway_event WHERE tenant = $1 AND log = $2 AND number > $3 ORDER BY number LIMIT $4
        ) page WHERE tenant = $1 AND earlier < $5 ORDER BY number
        """
    /// Notifies the other processes when the transaction is committed. It reads and writes no table.
    static let notify = "SELECT pg_notify($1, $2)"

    static func insertion(of count: Int) -> String {
        let rows = (0..<count).map { index in
            let first = 3 + index * 4
            return "($1, $2, $\(first), $\(first + 1), $\(first + 2), $\(first + 3))"
        }
        return """
            INSERT INTO runway_event (tenant, log, number, topic, type, data)
            VALUES \(rows.joined(separator: ", "))
            """
    }

    /// All statements with a predicate or a key. Tests check that they follow the rules of ``ActionLogStatements``.
    static var all: [String] {
        tables + [begin, range, advance, remove, byteCount, moveFirst, beginEpoch, events, insertion(of: 2)]
    }
}
