public import Foundation
import GRDB
import RunwaySQLite
public import RunwayServer
public import RunwaySignatures

/// Stores used nonces in a SQLite file, for one process, so that a restart loses no nonce.
///
/// ```swift
/// let nonces = try SQLiteNonceStore(at: folder.appending(path: "nonces.sqlite"), startedAt: now)
/// router.add(middleware: SignatureMiddleware(rules, keys: keys, nonces: nonces))
/// ```
///
/// A claim is on the drive before the request reaches its handler; simultaneous claims share a transaction. Unlike a
/// `NonceMemory`, the store accepts requests right after a restart. Only if its file is new does it refuse signatures
/// that may have been made before: those whose `created` is before `startedAt` plus the tolerance for the signer's
/// clock. A file that was restored from a backup lacks later nonces: remove it, so that the store creates a new file.
///
/// Several processes cannot share the file. A nonce is removed only after it has expired; a full store refuses every
/// claim.
public final class SQLiteNonceStore: NonceStore {
    private struct Bounds: Sendable {
        let maximumNonces: Int
        let maximumNoncesPerKey: Int
    }

    private struct Claim: Sendable {
        let nonce: Nonce
        let now: UnixTime
    }

    /// Times are seconds since 1970. `memory` has one row with two times: when the store began to record nonces, and
    /// the expiry time before which nonces may have been removed. `owner` has the number of nonces per key.
    private static let schema = ServerDatabase.Schema(
        applicationID: 0x5257_4E4F,
        tables: """
            CREATE TABLE nonce (key BLOB NOT NULL, value BLOB NOT NULL, expiry INTEGER NOT NULL, PRIMARY KEY (key, value))
                WITHOUT ROWID;
            CREATE INDEX nonce_by_expiry ON nonce (expiry);
            CREATE TABLE owner (key BLOB PRIMARY KEY, count INTEGER NOT NULL) WITHOUT ROWID;
            CREATE TABLE memory (began INTEGER, first INTEGER NOT NULL, count INTEGER NOT NULL);
            INSERT INTO memory VALUES (NULL, -9e18, 0);
            CREATE TRIGGER nonce_added AFTER INSERT ON nonce BEGIN
                UPDATE memory SET count = count + 1;
                INSERT INTO owner VALUES (new.key, 1) ON CONFLICT DO UPDATE SET count = count + 1;
            END;
            CREATE TRIGGER nonce_removed AFTER DELETE ON nonce BEGIN
                UPDATE memory SET count = count - 1;
                UPDATE owner SET count = count - 1 WHERE key = old.key;
                DELETE FROM owner WHERE key = old.key AND count <= 0;
            END;
            """)

    private let database: ServerDatabase
    private let writer: GroupCommit<Claim, NonceClaim>

    /// The maximum number of expired nonces that are removed when a nonce is recorded, so that the first request after
    /// a quiet time is not slow.
    private static let maximumRemovals = 100

    /// Opens a file, or creates it so that only its user can read it. The initializer blocks.
    ///
    /// - Parameters:
    ///   - file: The SQLite file.
    ///   - startedAt: The current time of the server's clock. For a new file, it is recorded as the time from which
    ///     nonces are known.
    ///   - maximumNonces: The maximum number of nonces. The default is one million, which takes about 150 MB.
    ///   - maximumNoncesPerKey: The maximum number of nonces per key identifier, from 1 to `maximumNonces`. The default
    ///     is a quarter of `maximumNonces`, and at least 1. If all requests are signed with one key, pass
    ///     `maximumNonces`.
    ///   - limits: Limits for pending claims and for claims that are committed together. A claim beyond the limits
    ///     throws, and its request is refused.
    /// - Throws: ``ServerStorageError``.
    public init(
        at file: URL, startedAt: UnixTime, maximumNonces: Int = 1_000_000, maximumNoncesPerKey: Int? = nil,
        limits: ActionLogWriterLimits = ActionLogWriterLimits()
    ) throws(ServerStorageError) {
        let bounds = Bounds(
            maximumNonces: maximumNonces, maximumNoncesPerKey: maximumNoncesPerKey ?? max(1, maximumNonces / 4))
        precondition(maximumNonces > 0, "A store of nonces has room for at least one")
        precondition(
            (1...maximumNonces).contains(bounds.maximumNoncesPerKey),
            "A key's quota is between 1 and the room of the store")
        let database = try ServerDatabase(at: file, Self.schema, waitsForDrive: limits.survivesPowerLoss)
        try database.write { database in
            try database.execute(
                sql: "UPDATE memory SET began = ? WHERE began IS NULL", arguments: [startedAt.seconds])
        }
        self.database = database
        writer = GroupCommit(label: "runway.nonces", limits: limits.queue) { claims in
            try database.write { database in try claims.map { try Self.perform($0, in: database, within: bounds) } }
        }
    }

    /// Records a nonce as used. Returns whether it was new.
    public func claim(_ nonce: Nonce, at now: UnixTime) async throws -> NonceClaim {
        try await writer.commit(
            Claim(nonce: nonce, now: now), byteCount: 64 + nonce.keyID.utf8.count + nonce.value.utf8.count)
    }

    /// Performs the pending claims of nonces, and closes the file. Later claims are refused.
    ///
    /// - Throws: ``ServerStorageError``.
    public func close() async throws {
        await writer.close()
        try database.close()
    }

    private static func perform(_ claim: Claim, in database: Database, within bounds: Bounds) throws -> NonceClaim {
        let (nonce, now) = (claim.nonce, claim.now.seconds)
        let (key, value) = (Data(nonce.keyID.utf8), Data(nonce.value.utf8))
        try removeExpired(at: now, in: database)
        guard let memory = try Row.fetchOne(database.cachedStatement(sql: "SELECT began, first, count FROM memory"))
        else { throw ServerStorageError(.corrupted, "A row of the file is missing.") }
        let (began, first, count): (Int64, Int64, Int) = (
            try memory.value(0), try memory.value(1), try memory.value(2)
        )
        // Nonces created before `began` were not recorded. Nonces that expire before `first` may have been removed
        // after use, even if the clock was set back since.
        if nonce.created.seconds < began { return .beforeStart(UnixTime(seconds: began)) }
        if nonce.expires.seconds < max(first, now) { return .beforeMemory }
        let isUsed = try Bool.fetchOne(
            database.cachedStatement(sql: "SELECT 1 FROM nonce WHERE key = ? AND value = ?"), arguments: [key, value])
        if isUsed != nil { return .replayed }
        let own = try Int.fetchOne(
            database.cachedStatement(sql: "SELECT count FROM owner WHERE key = ?"), arguments: [key])
        if count >= bounds.maximumNonces || own ?? 0 >= bounds.maximumNoncesPerKey { return .full }
        try database.cachedStatement(sql: "INSERT INTO nonce VALUES (?, ?, ?)").execute(
            arguments: [key, value, nonce.expires.seconds])
        return .claimed
    }

    /// Removes expired nonces, and records the latest expiry time among them.
    ///
    /// The clock's time is not recorded. If it were, and the clock was far ahead for a moment, all later signatures
    /// would be refused.
    private static func removeExpired(at now: Int64, in database: Database) throws {
        let last = try Int64.fetchOne(
            database.cachedStatement(
                sql: """
                    SELECT max(expiry) FROM
                    (SELECT expiry FROM nonce WHERE expiry < ? ORDER BY expiry LIMIT \(maximumRemovals))
                    """), arguments: [now])
        guard let last else { return }
        try database.cachedStatement(
            sql: """
                DELETE FROM nonce WHERE (key, value) IN
                (SELECT key, value FROM nonce WHERE expiry <= ? ORDER BY expiry LIMIT \(maximumRemovals))
                """
        ).execute(arguments: [last])
        try database.cachedStatement(sql: "UPDATE memory SET first = max(first, ?)").execute(arguments: [last + 1])
    }
}
