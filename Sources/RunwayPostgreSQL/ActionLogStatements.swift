import RunwayServer

/// The SQL of ``PostgreSQLActionLogSink``.
///
/// It also works with a distributed PostgreSQL (Citus, YugabyteDB). The tenant is the first column of every key and
/// every predicate, so each statement concerns only one shard. No statement needs a sequence or a table lock.
enum ActionLogStatements {
    static let tables = [
        """
        CREATE TABLE IF NOT EXISTS runway_stream (tenant text NOT NULL, installation uuid NOT NULL, stream uuid NOT NULL,
        highest bigint NOT NULL, PRIMARY KEY (tenant, installation, stream))
        """,
        """
        CREATE TABLE IF NOT EXISTS runway_record (tenant text NOT NULL, id uuid NOT NULL, installation uuid NOT NULL,
        stream uuid NOT NULL, batch bigint NOT NULL, place integer NOT NULL, received bigint NOT NULL, account text,
        name text, json bytea, sent bigint, PRIMARY KEY (tenant, id))
        """,
        "CREATE INDEX IF NOT EXISTS runway_record_by_account ON runway_record (tenant, account) WHERE account IS NOT NULL",
        """
        CREATE INDEX IF NOT EXISTS runway_record_by_installation ON runway_record (tenant, installation)
        WHERE account IS NULL AND name IS NOT NULL
        """,
    ]

    /// Fails with `42703` (undefined column) in a database created before clients sent dates.
    static let probe = "SELECT sent FROM runway_record WHERE tenant = $1 LIMIT 0"
    static let addition = "ALTER TABLE runway_record ADD COLUMN IF NOT EXISTS sent bigint"

    /// Fails with `42P01` (undefined table) in a database created before quotas existed.
    static let usageProbe = "SELECT bytes FROM runway_usage WHERE tenant = $1 LIMIT 0"
    /// Creates the table that counts the stored bytes of each installation, and fills it from the stored records. Runs
    /// in one transaction, which may take long.
    static let usageAddition = [
        "SET LOCAL statement_timeout = 0",
        """
        CREATE TABLE runway_usage (tenant text NOT NULL, installation uuid NOT NULL, bytes bigint NOT NULL,
        PRIMARY KEY (tenant, installation))
        """,
        """
        INSERT INTO runway_usage (tenant, installation, bytes) SELECT tenant, installation, sum(bytes) FROM (
        SELECT tenant, installation, \(ActionLogBatch.rowByteCount) + \(contentByteCount) AS bytes FROM runway_record
        UNION ALL SELECT tenant, installation, \(ActionLogBatch.rowByteCount) FROM runway_stream) AS counted
        GROUP BY tenant, installation
        """,
    ]

    /// Computes the size of a record's contents that counts towards the quota, in bytes.
    private static let contentByteCount =
        "coalesce(octet_length(json), 0) + coalesce(octet_length(name), 0) + coalesce(octet_length(account), 0)"

    /// Inserts a row for an installation's stream of batches, so that ``state`` can lock the row.
    static let begin = """
        INSERT INTO runway_stream (tenant, installation, stream, highest) VALUES ($1, $2, $3, 0)
        ON CONFLICT (tenant, installation, stream) DO NOTHING
        """
    /// Locks the row of a stream of batches. Returns the highest batch number of the stream, and the number of stored
    /// bytes of the installation that sends the stream. Each value is NULL if its row does not exist.
    static let state = """
        SELECT (SELECT highest FROM runway_stream WHERE tenant = $1 AND installation = $2 AND stream = $3 FOR UPDATE),
        (SELECT bytes FROM runway_usage WHERE tenant = $1 AND installation = $2)
        """
    static let usage = "SELECT sum(bytes) FROM runway_usage WHERE tenant = $1"
    /// Returns the passed ids whose records are stored.
    static let known = "SELECT id FROM runway_record WHERE tenant = $1 AND id = ANY($2::uuid[])"
    /// Sets the highest batch number of a stream. Increases the number of stored bytes of the installation that sends
    /// the stream.
    static let advance = """
        WITH advanced AS (UPDATE runway_stream SET highest = $4 WHERE tenant = $1 AND installation = $2 AND stream = $3)
        INSERT INTO runway_usage (tenant, installation, bytes) VALUES ($1, $2, $5)
        ON CONFLICT (tenant, installation) DO UPDATE SET bytes = runway_usage.bytes + excluded.bytes
        """
    /// Erases at most 1,000 records of an account, so that batches can be stored in between. Returns the number of
    /// erased bytes for each installation.
    static let erase = erasure(where: "account = $2")
    /// Erases at most 1,000 of the records that an installation sent without an account. Otherwise equals ``erase``.
    static let eraseAnonymous = erasure(where: "installation = $2 AND account IS NULL AND name IS NOT NULL")
    static let release = """
        UPDATE runway_usage SET bytes = greatest(bytes - $3, 0) WHERE tenant = $1 AND installation = $2
        """

    private static func erasure(where condition: String) -> String {
        """
        WITH erased AS (SELECT tenant, id, installation, \(contentByteCount) AS bytes
        FROM runway_record WHERE tenant = $1 AND \(condition) LIMIT 1000 FOR UPDATE),
        removed AS (UPDATE runway_record SET account = NULL, name = NULL, json = NULL
        WHERE tenant = $1 AND id IN (SELECT id FROM erased))
        SELECT installation, sum(bytes) FROM erased GROUP BY tenant, installation ORDER BY installation
        """
    }
    static let counts = """
        SELECT installation, name, count(*) FROM runway_record WHERE tenant = $1 AND name IS NOT NULL
        GROUP BY tenant, installation, name ORDER BY installation, count(*) DESC, name
        """
    static let records = """
        SELECT received, id, installation, name, json, sent FROM runway_record WHERE tenant = $1 AND name IS NOT NULL
        ORDER BY received, installation, stream, batch, place LIMIT $2
        """

    /// Returns the statement that inserts `count` records of a batch. The statement returns the ids of the records that
    /// were new.
    static func insertion(of count: Int) -> String {
        let rows = (0..<count).map { index in
            let first = 8 + index * 4
            return "($1, $\(first), $2, $3, $4, $\(first + 1), $5, $6, $\(first + 2), $\(first + 3)::bytea, $7)"
        }
        return """
            INSERT INTO runway_record (tenant, id, installation, stream, batch, place, received, account, name, json, sent)
            VALUES \(rows.joined(separator: ", ")) ON CONFLICT (tenant, id) DO NOTHING RETURNING id
            """
    }

    /// All statements. Tests check that the tenant is the first column of every key and every predicate.
    static var all: [String] {
        tables + usageAddition.dropFirst() + [
            probe, addition, usageProbe, begin, state, usage, known, advance, erase, eraseAnonymous, release, counts,
            records,
            insertion(of: 2),
        ]
    }
}
