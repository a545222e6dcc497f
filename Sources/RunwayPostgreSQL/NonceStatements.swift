/// The SQL of the nonce store. It follows the rules of ``ActionLogStatements``.
enum NonceStatements {
    /// `runway_nonce_memory` has one row per tenant, with two times: when the store began to record nonces, and the
    /// expiry time before which nonces may have been removed.
    static let tables = [
        """
        CREATE TABLE IF NOT EXISTS runway_nonce (tenant text NOT NULL, key bytea NOT NULL, value bytea NOT NULL,
        expiry bigint NOT NULL, PRIMARY KEY (tenant, key, value))
        """,
        "CREATE INDEX IF NOT EXISTS runway_nonce_by_expiry ON runway_nonce (tenant, expiry)",
        """
        CREATE TABLE IF NOT EXISTS runway_nonce_memory (tenant text NOT NULL, began bigint NOT NULL, first bigint NOT NULL,
        PRIMARY KEY (tenant))
        """,
    ]

    static let isolation = "SET TRANSACTION ISOLATION LEVEL READ COMMITTED"
    /// Inserts the times of a tenant into `runway_nonce_memory`, unless the table has a row for the tenant.
    static let begin = """
        INSERT INTO runway_nonce_memory (tenant, began, first) VALUES ($1, $2, $3)
        ON CONFLICT (tenant) DO NOTHING
        """
    static let memory = "SELECT began, first FROM runway_nonce_memory WHERE tenant = $1"
    /// Counts the unexpired nonces of a key, up to a limit.
    static let usage = """
        SELECT count(*) FROM (SELECT expiry FROM runway_nonce WHERE tenant = $1 AND key = $2 AND expiry >= $4::bigint
        LIMIT $3) AS own
        """
    static let find = "SELECT expiry FROM runway_nonce WHERE tenant = $1 AND key = $2 AND value = $3"
    /// Inserts a nonce, unless it is already stored.
    static let insert = """
        INSERT INTO runway_nonce (tenant, key, value, expiry) VALUES ($1, $2, $3, $4)
        ON CONFLICT (tenant, key, value) DO NOTHING RETURNING expiry
        """
    static let take = "DELETE FROM runway_nonce WHERE tenant = $1 AND key = $2 AND value = $3"
    /// Returns the latest expiry time among the 1,000 nonces that expired first.
    static let lastExpired = """
        SELECT max(expiry) FROM (SELECT expiry FROM runway_nonce WHERE tenant = $1 AND expiry < $2::bigint
        ORDER BY expiry LIMIT 1000) AS expired
        """
    static let forget = "UPDATE runway_nonce_memory SET first = $2 WHERE tenant = $1 AND first < $2::bigint"
    /// Removes nonces that expire by a given time. It does not wait for other transactions.
    static let remove = """
        DELETE FROM runway_nonce WHERE tenant = $1 AND (key, value) IN (SELECT key, value FROM runway_nonce
        WHERE tenant = $1 AND expiry <= $2::bigint ORDER BY expiry LIMIT 2000 FOR UPDATE SKIP LOCKED)
        """

    /// All statements with a predicate or a key. Tests check that they follow the rules of ``ActionLogStatements``.
    static var all: [String] { tables + [begin, memory, usage, find, insert, take, lastExpired, forget, remove] }
}
