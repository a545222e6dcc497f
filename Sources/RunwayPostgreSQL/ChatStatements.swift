/// The SQL of the chat store. It follows the rules of ``ActionLogStatements``: the tenant is the first column of every
/// key and predicate.
enum ChatStatements {
    static let tables = [
        """
        CREATE TABLE IF NOT EXISTS runway_conversation (tenant text NOT NULL, name text NOT NULL, last bigint NOT NULL,
        published bigint NOT NULL, PRIMARY KEY (tenant, name))
        """,
        "CREATE INDEX IF NOT EXISTS runway_conversation_to_publish ON runway_conversation (tenant, name) WHERE published < last",
        """
        CREATE TABLE IF NOT EXISTS runway_message (tenant text NOT NULL, conversation text NOT NULL, number bigint NOT NULL,
        sender text NOT NULL, id uuid NOT NULL, content text NOT NULL, received bigint NOT NULL,
        PRIMARY KEY (tenant, conversation, number))
        """,
        """
        CREATE TABLE IF NOT EXISTS runway_message_id (tenant text NOT NULL, sender text NOT NULL, id uuid NOT NULL,
        conversation text NOT NULL, number bigint NOT NULL, PRIMARY KEY (tenant, sender, id))
        """,
        """
        CREATE TABLE IF NOT EXISTS runway_member (tenant text NOT NULL, conversation text NOT NULL, name text NOT NULL,
        delivered bigint NOT NULL, seen bigint NOT NULL, PRIMARY KEY (tenant, conversation, name))
        """,
        "CREATE TABLE IF NOT EXISTS runway_chat (tenant text NOT NULL, epoch text NOT NULL, PRIMARY KEY (tenant))",
    ]

    /// Stores an epoch for a tenant's message numbers, unless the tenant has one.
    static let nameNumbering = """
        INSERT INTO runway_chat (tenant, epoch) VALUES ($1, $2) ON CONFLICT (tenant) DO NOTHING
        """
    static let epoch = "SELECT epoch FROM runway_chat WHERE tenant = $1"
    static let beginEpoch = """
        INSERT INTO runway_chat (tenant, epoch) VALUES ($1, $2) ON CONFLICT (tenant) DO UPDATE SET epoch = excluded.epoch
        """

    /// Makes all statements of a transaction read the same snapshot.
    static let readOneMoment = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"
    /// Inserts a row for a conversation, so that the next statement can lock the row.
    static let begin = """
        INSERT INTO runway_conversation (tenant, name, last, published) VALUES ($1, $2, 0, 0)
        ON CONFLICT (tenant, name) DO NOTHING
        """
    static let place = "SELECT last, published FROM runway_conversation WHERE tenant = $1 AND name = $2"
    static let lockedPlace = """
        SELECT last, published FROM runway_conversation WHERE tenant = $1 AND name = $2 FOR UPDATE
        """
    static let nextNumber = """
        UPDATE runway_conversation SET last = last + 1 WHERE tenant = $1 AND name = $2 RETURNING last
        """
    static let publish = """
        UPDATE runway_conversation SET published = greatest(published, $3::bigint) WHERE tenant = $1 AND name = $2
        """
    static let toPublish = """
        SELECT name FROM runway_conversation WHERE tenant = $1 AND published < last ORDER BY name LIMIT $2
        """
    /// Inserts the id of a message, still without its number. Returns no row if the sender has already used the id.
    static let claim = """
        INSERT INTO runway_message_id (tenant, sender, id, conversation, number) VALUES ($1, $2, $3, $4, 0)
        ON CONFLICT (tenant, sender, id) DO NOTHING RETURNING id
        """
    static let claimed = """
        SELECT conversation, number FROM runway_message_id WHERE tenant = $1 AND sender = $2 AND id = $3
        """
    /// Removes the id of a refused message.
    static let release = "DELETE FROM runway_message_id WHERE tenant = $1 AND sender = $2 AND id = $3"
    static let numbered = """
        UPDATE runway_message_id SET number = $4 WHERE tenant = $1 AND sender = $2 AND id = $3
        """
    static let insert = """
        INSERT INTO runway_message (tenant, conversation, number, sender, id, content, received)
        VALUES ($1, $2, $3, $4, $5, $6, $7)
        """
    static let messages = """
        SELECT conversation, number, sender, id, content, received FROM runway_message
        WHERE tenant = $1 AND conversation = $2 AND number BETWEEN $3 AND $4 ORDER BY number LIMIT $5
        """
    static let first = "SELECT min(number) FROM runway_message WHERE tenant = $1 AND conversation = $2"
    static let member = """
        SELECT name, delivered, seen FROM runway_member WHERE tenant = $1 AND conversation = $2 AND name = $3
        """
    static let members = """
        SELECT name, delivered, seen FROM runway_member WHERE tenant = $1 AND conversation = $2 ORDER BY name LIMIT $3
        """
    static let memberCount = """
        SELECT count(*) FROM (SELECT 1 FROM runway_member WHERE tenant = $1 AND conversation = $2 LIMIT $3) AS counted
        """
    static let join = """
        INSERT INTO runway_member (tenant, conversation, name, delivered, seen) VALUES ($1, $2, $3, 0, 0)
        ON CONFLICT (tenant, conversation, name) DO NOTHING
        """
    static let leave = "DELETE FROM runway_member WHERE tenant = $1 AND conversation = $2 AND name = $3"
    static let mark = """
        UPDATE runway_member SET delivered = $4, seen = $5 WHERE tenant = $1 AND conversation = $2 AND name = $3
        """

    /// All statements with a predicate or a key. Tests check that they follow the rules of ``ActionLogStatements``.
    static var all: [String] {
        tables + [
            begin, place, lockedPlace, nextNumber, publish, toPublish, claim, claimed, release, numbered, insert,
            messages, first, member, members, memberCount, join, leave, mark, nameNumbering, epoch, beginEpoch,
        ]
    }
}
