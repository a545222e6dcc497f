/// The SQL of the store of synchronised spaces. It follows the rules of ``ActionLogStatements``: the tenant, and after
/// it the space, lead every key and predicate.
///
/// A statement reads or writes any number of rows, which are passed as arrays. Rows are looked up by a subquery for
/// each key, so that each lookup uses the whole primary key, even before the tables have statistics. Names of tables
/// and subjects are bytes, since PostgreSQL has no text with U+0000 and orders text by a locale.
enum SyncStatements {
    static let tables = [
        """
        CREATE TABLE IF NOT EXISTS runway_sync_space (tenant text NOT NULL, space uuid NOT NULL, history bytea NOT NULL,
        total bigint NOT NULL, PRIMARY KEY (tenant, space))
        """,
        """
        CREATE TABLE IF NOT EXISTS runway_sync_device (tenant text NOT NULL, space uuid NOT NULL, device uuid NOT NULL,
        subject bytea, record bytea NOT NULL, PRIMARY KEY (tenant, space, device))
        """,
        """
        CREATE TABLE IF NOT EXISTS runway_sync_verdict (tenant text NOT NULL, space uuid NOT NULL, id uuid NOT NULL,
        verdict bytea NOT NULL, PRIMARY KEY (tenant, space, id))
        """,
        """
        CREATE TABLE IF NOT EXISTS runway_sync_row (tenant text NOT NULL, space uuid NOT NULL, name bytea NOT NULL,
        id uuid NOT NULL, life bigint NOT NULL, body bytea NOT NULL, PRIMARY KEY (tenant, space, name, id))
        """,
        """
        CREATE TABLE IF NOT EXISTS runway_sync_log (tenant text NOT NULL, space uuid NOT NULL, number bigint NOT NULL,
        time bigint NOT NULL, total bigint NOT NULL, entry bytea NOT NULL, PRIMARY KEY (tenant, space, number))
        """,
        """
        CREATE TABLE IF NOT EXISTS runway_sync_waiting (tenant text NOT NULL, space uuid NOT NULL, name bytea NOT NULL,
        id uuid NOT NULL, subject bytea, operations bytea NOT NULL, PRIMARY KEY (tenant, space, name, id))
        """,
        """
        CREATE INDEX IF NOT EXISTS runway_sync_waiting_subject ON runway_sync_waiting (tenant, space, subject)
        """,
    ]

    /// Makes each statement read the commits of other transactions up to its start. It reads and writes no table.
    static let isolation = "SET TRANSACTION ISOLATION LEVEL READ COMMITTED"
    /// Makes all statements of a transaction read the same snapshot. It reads and writes no table.
    static let readOneMoment = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"
    /// Returns the milliseconds since 1970. It reads and writes no table.
    static let time = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint"

    static let space = "SELECT history, total FROM runway_sync_space WHERE tenant = $1 AND space = $2"
    static let lockedSpace = space + " FOR UPDATE"
    /// Creates a space, unless another server has created it.
    static let begin = """
        INSERT INTO runway_sync_space (tenant, space, history, total) VALUES ($1, $2, $3, 0)
        ON CONFLICT (tenant, space) DO NOTHING
        """
    static let saveSpace = """
        UPDATE runway_sync_space SET history = $3, total = $4 WHERE tenant = $1 AND space = $2
        """
    static let spaces = """
        SELECT space FROM runway_sync_space WHERE tenant = $1 AND ($2::uuid IS NULL OR space > $2)
        ORDER BY space LIMIT $3
        """

    // Lookups return a row for each key, in any order, with the place of the key in the arrays.
    static let devices = """
        SELECT place, (SELECT record FROM runway_sync_device WHERE tenant = $1 AND space = $2 AND device = key),
        (SELECT subject FROM runway_sync_device WHERE tenant = $1 AND space = $2 AND device = key)
        FROM unnest($3::uuid[]) WITH ORDINALITY AS keys (key, place)
        """
    static let verdicts = """
        SELECT place, (SELECT verdict FROM runway_sync_verdict WHERE tenant = $1 AND space = $2 AND id = key)
        FROM unnest($3::uuid[]) WITH ORDINALITY AS keys (key, place)
        """
    static let rows = """
        SELECT place,
        (SELECT body FROM runway_sync_row WHERE tenant = $1 AND space = $2 AND name = key_name AND id = key),
        (SELECT operations FROM runway_sync_waiting WHERE tenant = $1 AND space = $2 AND name = key_name AND id = key)
        FROM unnest($3::bytea[], $4::uuid[]) WITH ORDINALITY AS keys (key_name, key, place)
        """

    // A page ends with the row at which the bodies reach a number of bytes, or after a number of rows. PostgreSQL knows
    // the size of a large body without reading it.

    /// Returns a page of the rows of one table that are no tombstones and contain some bytes, with the operations that
    /// wait beside them.
    static let liveRows = """
        SELECT id, body, (SELECT operations FROM runway_sync_waiting
            WHERE tenant = $1 AND space = $2 AND name = $3 AND id = page.id)
        FROM (SELECT tenant, id, body, sum(octet_length(body)) OVER (ORDER BY id) - octet_length(body) AS earlier
            FROM runway_sync_row WHERE tenant = $1 AND space = $2 AND name = $3 AND ($4::uuid IS NULL OR id > $4)
            AND life % 2 = 1 AND ($7::bytea IS NULL OR position($7 IN body) > 0) ORDER BY id LIMIT $5) page
        WHERE tenant = $1 AND earlier < $6 ORDER BY id
        """
    static let page = """
        SELECT name, id, body FROM (SELECT tenant, name, id, body,
            sum(octet_length(body)) OVER (ORDER BY name, id) - octet_length(body) AS earlier
            FROM runway_sync_row WHERE tenant = $1 AND space = $2
            AND ($3::bytea IS NULL OR (name, id) > ($3, $4::uuid)) ORDER BY name, id LIMIT $5) page
        WHERE tenant = $1 AND earlier < $6 ORDER BY name, id
        """
    static let entries = """
        SELECT entry FROM (SELECT tenant, number, entry,
            sum(octet_length(entry)) OVER (ORDER BY number) - octet_length(entry) AS earlier
            FROM runway_sync_log WHERE tenant = $1 AND space = $2 AND number >= $3 ORDER BY number LIMIT $4) page
        WHERE tenant = $1 AND earlier < $5 ORDER BY number
        """
    static let deviceIDs = """
        SELECT device FROM runway_sync_device WHERE tenant = $1 AND space = $2 AND ($3::uuid IS NULL OR device > $3)
        ORDER BY device LIMIT $4
        """
    static let deviceCount = """
        SELECT count(*) FROM (SELECT 1 FROM runway_sync_device WHERE tenant = $1 AND space = $2 AND subject = $3 LIMIT $4)
        AS devices
        """
    static let waitingRowCount = """
        SELECT count(*) FROM (SELECT 1 FROM runway_sync_waiting WHERE tenant = $1 AND space = $2 AND subject = $3 LIMIT $4)
        AS waiting
        """
    static let mark = "SELECT time, total FROM runway_sync_log WHERE tenant = $1 AND space = $2 AND number = $3"

    static let saveDevices = """
        INSERT INTO runway_sync_device (tenant, space, device, record, subject)
        SELECT $1, $2, * FROM unnest($3::uuid[], $4::bytea[], $5::bytea[])
        ON CONFLICT (tenant, space, device) DO UPDATE
        SET record = excluded.record, subject = coalesce(excluded.subject, runway_sync_device.subject)
        """
    static let saveVerdicts = """
        INSERT INTO runway_sync_verdict (tenant, space, id, verdict)
        SELECT $1, $2, * FROM unnest($3::uuid[], $4::bytea[])
        ON CONFLICT (tenant, space, id) DO NOTHING
        """
    static let saveRows = """
        INSERT INTO runway_sync_row (tenant, space, name, id, life, body)
        SELECT $1, $2, * FROM unnest($3::bytea[], $4::uuid[], $5::bigint[], $6::bytea[])
        ON CONFLICT (tenant, space, name, id) DO UPDATE SET life = excluded.life, body = excluded.body
        """
    static let append = """
        INSERT INTO runway_sync_log (tenant, space, number, time, total, entry)
        SELECT $1, $2, number, $3, total, entry
        FROM unnest($4::bigint[], $5::bigint[], $6::bytea[]) AS entries (number, total, entry)
        """
    static let removeEntries = "DELETE FROM runway_sync_log WHERE tenant = $1 AND space = $2 AND number <= $3"
    static let saveWaiting = """
        INSERT INTO runway_sync_waiting (tenant, space, name, id, subject, operations)
        SELECT $1, $2, * FROM unnest($3::bytea[], $4::uuid[], $5::bytea[], $6::bytea[])
        ON CONFLICT (tenant, space, name, id)
        DO UPDATE SET subject = excluded.subject, operations = excluded.operations
        """
    static let removeWaiting = """
        DELETE FROM runway_sync_waiting WHERE tenant = $1 AND space = $2
        AND (name, id) IN (SELECT * FROM unnest($3::bytea[], $4::uuid[]))
        """

    /// All statements with a predicate or a key. Tests check that they follow the rules of ``ActionLogStatements``.
    static var all: [String] {
        tables + [
            space, lockedSpace, begin, saveSpace, spaces, devices, verdicts, rows, liveRows, page, entries, deviceIDs,
            deviceCount, waitingRowCount, mark, saveDevices, saveVerdicts, saveRows, append, removeEntries, saveWaiting,
            removeWaiting,
        ]
    }
}
