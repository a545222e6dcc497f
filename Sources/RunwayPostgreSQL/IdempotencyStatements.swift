/// The SQL of the idempotency store. It follows the rules of ``ActionLogStatements``.
enum IdempotencyStatements {
    static let tables = [
        """
        CREATE TABLE IF NOT EXISTS runway_claim (tenant text NOT NULL, principal text NOT NULL, key text NOT NULL,
        fingerprint bytea NOT NULL, token uuid NOT NULL, expiry bigint NOT NULL, response bytea,
        PRIMARY KEY (tenant, principal, key))
        """,
        "CREATE INDEX IF NOT EXISTS runway_claim_by_expiry ON runway_claim (tenant, expiry)",
    ]

    /// Removes some expired records, and some records of requests that were never completed. It does not wait for other
    /// transactions.
    static let remove = """
        DELETE FROM runway_claim WHERE tenant = $1 AND (principal, key) IN (SELECT principal, key FROM runway_claim
        WHERE tenant = $1 AND expiry <= $2::bigint AND (response IS NOT NULL OR expiry <= $3::bigint)
        ORDER BY expiry LIMIT 20 FOR UPDATE SKIP LOCKED)
        """
    /// Removes the records of a principal's requests that were never completed and began before the clock was set back.
    /// It does not wait for other transactions, and returns one row for each removed record.
    static let removeAbandoned = """
        DELETE FROM runway_claim WHERE tenant = $1 AND (principal, key) IN (SELECT principal, key FROM runway_claim
        WHERE tenant = $1 AND principal = $2 AND response IS NULL AND expiry > $3::bigint FOR UPDATE SKIP LOCKED)
        RETURNING token
        """
    /// Returns the number of keys and response bytes of a principal, counted up to a maximum number of keys.
    static let usage = """
        SELECT count(*), coalesce(sum(bytes), 0) FROM (SELECT octet_length(response) AS bytes FROM runway_claim
        WHERE tenant = $1 AND principal = $2 LIMIT $3) AS own
        """
    /// Inserts a record that claims a key for a request, unless the key already has a record.
    static let insert = """
        INSERT INTO runway_claim (tenant, principal, key, fingerprint, token, expiry) VALUES ($1, $2, $3, $4, $5, $6)
        ON CONFLICT (tenant, principal, key) DO NOTHING RETURNING token
        """
    static let find = """
        SELECT fingerprint, expiry, response FROM runway_claim WHERE tenant = $1 AND principal = $2 AND key = $3 FOR UPDATE
        """
    static let takeOver = """
        UPDATE runway_claim SET fingerprint = $4, token = $5, expiry = $6, response = NULL
        WHERE tenant = $1 AND principal = $2 AND key = $3
        """
    static let complete = """
        UPDATE runway_claim SET response = $5, expiry = $6
        WHERE tenant = $1 AND principal = $2 AND key = $3 AND token = $4 RETURNING token
        """
    static let release = """
        DELETE FROM runway_claim WHERE tenant = $1 AND principal = $2 AND key = $3 AND token = $4 AND response IS NULL
        """

    /// All statements with a predicate or a key. Tests check that they follow the rules of ``ActionLogStatements``.
    static var all: [String] { tables + [remove, removeAbandoned, usage, insert, find, takeOver, complete, release] }
}
