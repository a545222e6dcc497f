public import Foundation
import GRDB
import HTTPTypes
import RunwaySQLite
public import RunwayServer

/// Stores the outcomes of requests with idempotency keys in a SQLite file, for one process.
///
/// ```swift
/// let store = try SQLiteIdempotencyStore(at: folder.appending(path: "idempotency.sqlite"))
/// router.add(middleware: IdempotencyMiddleware(store: store) { request, _ in account(of: request) })
/// ```
///
/// A claim is on the drive before its request is executed, and a response is on the drive before it is sent. Claims and
/// responses of many requests share transactions. A full store refuses every claim. If a principal has used up its
/// share of the space that the others leave, its claims are refused, too.
///
/// Later claims remove records only after they have expired. They also remove claims that were never completed: a day
/// after the lease, or, when no other space is left, claims from before the clock was set back.
///
/// Rows have checksums. If a row is damaged, its request is not executed again: the response is 409 (`notStored`). A
/// row is found by its principal and key. If these are damaged, the row is not found, and the request is executed
/// again.
///
/// Removals verify no checksum. A row that looks expired because of damage is removed. A row that looks like a claim
/// from before the clock was set back is removed when there is no room. The requests of such rows are executed again,
/// too. `PRAGMA integrity_check` and the file system's own checksums detect more.
public final class SQLiteIdempotencyStore: IdempotencyStore {
    private enum Change: Sendable {
        case claim(fingerprint: [UInt8], now: Int64, lease: Int64)
        case complete(response: Data, expiry: Int64)
        case release
    }

    private struct Request: Sendable {
        let key: IdempotencyKey
        let token: UUID
        let change: Change
    }

    private enum Result: Sendable {
        case claim(IdempotencyClaim)
        case full
        case done(Bool)
    }

    /// - `response` is JSON, or NULL while the request is being executed.
    /// - `expiry` is the end of the lease, or of the response's lifetime, in milliseconds since 1970.
    /// - `checksum` is a ``RowChecksum`` of the row; NULL in rows of the first version.
    /// - `tally` has the number of keys and bytes per principal, and `size` the total.
    static let schema = ServerDatabase.Schema(
        applicationID: 0x5257_494B,
        tables: """
            CREATE TABLE claim (principal TEXT NOT NULL, key TEXT NOT NULL, fingerprint BLOB NOT NULL, token BLOB NOT NULL,
                expiry INTEGER NOT NULL, response BLOB, PRIMARY KEY (principal, key)) WITHOUT ROWID;
            CREATE INDEX claim_by_expiry ON claim (expiry);
            CREATE TABLE size (count INTEGER NOT NULL);
            INSERT INTO size VALUES (0);
            CREATE TRIGGER claim_added AFTER INSERT ON claim BEGIN UPDATE size SET count = count + 1; END;
            CREATE TRIGGER claim_removed AFTER DELETE ON claim BEGIN UPDATE size SET count = count - 1; END;
            """,
        migrations: [
            """
            ALTER TABLE claim ADD COLUMN checksum INTEGER;
            DROP TRIGGER claim_added; DROP TRIGGER claim_removed; DROP TABLE size;
            CREATE TABLE tally (principal TEXT PRIMARY KEY, count INTEGER NOT NULL, bytes INTEGER NOT NULL) WITHOUT ROWID;
            INSERT INTO tally SELECT principal, count(*), sum(ifnull(length(response), 0)) FROM claim GROUP BY principal;
            CREATE TABLE size (count INTEGER NOT NULL, bytes INTEGER NOT NULL);
            INSERT INTO size SELECT ifnull(sum(count), 0), ifnull(sum(bytes), 0) FROM tally;
            CREATE TRIGGER claim_added AFTER INSERT ON claim BEGIN
                INSERT INTO tally VALUES (NEW.principal, 1, ifnull(length(NEW.response), 0))
                    ON CONFLICT DO UPDATE SET count = count + 1, bytes = bytes + excluded.bytes;
                UPDATE size SET count = count + 1, bytes = bytes + ifnull(length(NEW.response), 0);
            END;
            CREATE TRIGGER claim_removed AFTER DELETE ON claim BEGIN
                UPDATE tally SET count = count - 1, bytes = bytes - ifnull(length(OLD.response), 0)
                    WHERE principal = OLD.principal;
                DELETE FROM tally WHERE principal = OLD.principal AND count <= 0;
                UPDATE size SET count = count - 1, bytes = bytes - ifnull(length(OLD.response), 0);
            END;
            CREATE TRIGGER claim_changed AFTER UPDATE OF response ON claim BEGIN
                UPDATE tally SET bytes = bytes + ifnull(length(NEW.response), 0) - ifnull(length(OLD.response), 0)
                    WHERE principal = NEW.principal;
                UPDATE size SET bytes = bytes + ifnull(length(NEW.response), 0) - ifnull(length(OLD.response), 0);
            END;
            """,
            "CREATE INDEX claim_in_flight ON claim (expiry) WHERE response IS NULL",
        ])

    /// The time after which a record of a request that was never completed is removed, in milliseconds. It begins at
    /// the end of the request's lease.
    private static let abandonedTime: Int64 = 86_400_000

    private let database: ServerDatabase
    private let writer: GroupCommit<Request, Result>

    /// Opens a file, or creates it so that only its user can read it. The initializer blocks.
    ///
    /// - Parameters:
    ///   - file: The SQLite file.
    ///   - maximumCount: The maximum number of keys; a full store refuses every claim. The default is one million.
    ///   - maximumByteCount: The maximum size of the responses in bytes. A store that has reached it refuses every
    ///     claim. The default is 4 GiB.
    ///   - share: The share of both limits that one principal may use: a fraction, from 0 to 1, of the space that the
    ///     other principals leave free. The default is a tenth.
    ///   - limits: Limits for pending requests and for requests that are committed together.
    /// - Throws: ``ServerStorageError``.
    public init(
        at file: URL, maximumCount: Int = 1_000_000, maximumByteCount: Int = Int(clamping: Int64(4) << 30),
        shareOfPrincipal share: Double = 0.1, limits: ActionLogWriterLimits = ActionLogWriterLimits()
    ) throws(ServerStorageError) {
        let bounds = IdempotencyBounds(count: maximumCount, byteCount: maximumByteCount, shareOfPrincipal: share)
        let database = try ServerDatabase(at: file, Self.schema, waitsForDrive: limits.survivesPowerLoss)
        self.database = database
        writer = GroupCommit(label: "runway.idempotency", limits: limits.queue) { requests in
            try database.write { database in
                try requests.map { try Self.perform($0, in: database, bounds) }
            }
        }
    }

    /// Claims an idempotency key for the execution of a request. Returns whether the caller has to execute the request,
    /// or the stored response.
    public func claim(
        _ key: IdempotencyKey, fingerprint: [UInt8], token: UUID, at now: Date, lease: Duration
    ) async throws -> IdempotencyClaim {
        let change = Change.claim(
            fingerprint: fingerprint, now: now.milliseconds, lease: IdempotencyLease.milliseconds(lease))
        switch try await perform(Request(key: key, token: token, change: change), byteCount: 256) {
        case .claim(let claim): return claim
        case .full, .done: throw StoreRefusal.full()
        }
    }

    /// Stores the response to a request that was executed under a claimed key.
    public func complete(
        _ key: IdempotencyKey, token: UUID, with response: IdempotentResponse, until expiry: Date
    ) async throws -> Bool {
        let data = try JSONEncoder().encode(response)
        let request = Request(
            key: key, token: token, change: .complete(response: data, expiry: expiry.milliseconds))
        if case .done(true) = try await perform(request, byteCount: 256 + data.count) { return true }
        return false
    }

    /// Removes the claim of a key whose request was not executed, so that the key can be claimed again.
    public func release(_ key: IdempotencyKey, token: UUID) async throws {
        _ = try await perform(Request(key: key, token: token, change: .release), byteCount: 256)
    }

    /// The size of the file's write-ahead log in bytes. SQLite checkpoints it at about 4 MiB; if it stays larger,
    /// readers prevent checkpoints.
    public var logByteCount: Int { database.logByteCount }

    /// Performs the pending requests, and closes the file. Later requests are refused.
    ///
    /// - Throws: ``ServerStorageError``.
    public func close() async throws {
        await writer.close()
        try database.close()
    }

    private func perform(_ request: Request, byteCount: Int) async throws -> Result {
        try await writer.commit(request, byteCount: byteCount)
    }

    private static func perform(
        _ request: Request, in database: Database, _ bounds: IdempotencyBounds
    ) throws -> Result {
        switch request.change {
        case .claim(let fingerprint, let now, let lease):
            return try claim(request, Data(fingerprint), now, lease, in: database, bounds)
        case .complete(let response, let expiry):
            guard let row = try ClaimRow(request.key, in: database), row.isSound, row.token == request.token.data
            else { return .done(false) }
            try row.completed(with: response, until: expiry).write(to: database)
            return .done(true)
        case .release:
            try database.cachedStatement(
                sql: "DELETE FROM claim WHERE principal = ? AND key = ? AND token = ? AND response IS NULL"
            ).execute(arguments: [request.key.principal, request.key.text, request.token.data])
            return .done(database.changesCount == 1)
        }
    }

    private static func claim(
        _ request: Request, _ fingerprint: Data, _ now: Int64, _ lease: Int64, in database: Database,
        _ bounds: IdempotencyBounds
    ) throws -> Result {
        try removeExpired(at: now, in: database)
        let new = ClaimRow(
            key: request.key, fingerprint: fingerprint, token: request.token.data, expiry: now + lease, response: nil)
        guard let row = try ClaimRow(request.key, in: database) else {
            let principal = request.key.principal
            if try !hasRoom(for: principal, in: database, bounds) {
                try removeAbandoned(at: now, lease, in: database)
                guard try hasRoom(for: principal, in: database, bounds) else { return .full }
            }
            try new.insert(into: database)
            return .claim(.claimed)
        }
        // With a damaged row, the outcome is unknown. Refusing is safer than possibly executing the request twice.
        guard row.isSound else {
            return .claim(.completed(IdempotentResponse(status: 409, headerFields: [:], body: nil)))
        }
        let end = Date(milliseconds: row.expiry)
        if let response = row.response {
            if row.expiry > now {
                guard row.fingerprint == fingerprint else { return .claim(.mismatch) }
                return .claim(.completed(try JSONDecoder().decode(IdempotentResponse.self, from: response)))
            }
        } else if row.fingerprint != fingerprint {
            return .claim(.mismatch)
        } else if IdempotencyLease.isHeld(until: end, at: Date(milliseconds: now), .milliseconds(lease)) {
            return .claim(.inFlight(until: end))
        }
        try new.write(to: database)
        return .claim(.claimed)
    }

    /// Removes a few expired records, so that no request waits for a large removal.
    private static func removeExpired(at now: Int64, in database: Database) throws {
        try database.cachedStatement(
            sql: """
                DELETE FROM claim WHERE (principal, key) IN
                (SELECT principal, key FROM claim WHERE expiry <= ?1 AND (response IS NOT NULL OR expiry <= ?1 - ?2)
                ORDER BY expiry LIMIT 20)
                """
        ).execute(arguments: [now, abandonedTime])
    }

    /// Removes the records of requests that were never completed and began before the clock was set back. They are few,
    /// since most requests complete.
    private static func removeAbandoned(at now: Int64, _ lease: Int64, in database: Database) throws {
        let end = IdempotencyLease.latestEnd(at: Date(milliseconds: now), .milliseconds(lease))
        try database.cachedStatement(
            sql: "DELETE FROM claim INDEXED BY claim_in_flight WHERE response IS NULL AND expiry > ?"
        ).execute(arguments: [end.milliseconds])
    }

    private static func hasRoom(
        for principal: String, in database: Database, _ bounds: IdempotencyBounds
    ) throws -> Bool {
        let all = try Row.fetchOne(database.cachedStatement(sql: "SELECT count, bytes FROM size"))
        let own = try Row.fetchOne(
            database.cachedStatement(sql: "SELECT count, bytes FROM tally WHERE principal = ?"), arguments: [principal])
        func usage(_ row: Row?) -> (count: Int, byteCount: Int) {
            (row.flatMap { Int.fromDatabaseValue($0[0]) } ?? 0, row.flatMap { Int.fromDatabaseValue($0[1]) } ?? 0)
        }
        return bounds.hasRoom(all: usage(all), own: usage(own))
    }
}
