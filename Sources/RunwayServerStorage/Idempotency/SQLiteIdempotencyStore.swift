public import Foundation
import GRDB
import HTTPTypes
import RunwaySQLite
public import RunwayServer

/// Stores what became of requests with idempotency keys in a SQLite file, for one process.
///
/// ```swift
/// let store = try SQLiteIdempotencyStore(at: folder.appending(path: "idempotency.sqlite"))
/// router.add(middleware: IdempotencyMiddleware(store: store) { request, _ in account(of: request) })
/// ```
///
/// A key is claimed before its request is executed, and that claim is on the drive; so is a response before it is sent. Claims and
/// responses of many requests share transactions. Records that have expired are removed by later claims, and none before.
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

    /// `response` is JSON, or absent while the request is being executed. `expiry` is the end of the lease or of the response, in
    /// milliseconds since 1970.
    private static let schema = ServerDatabase.Schema(
        applicationID: 0x5257_494B,
        tables: """
            CREATE TABLE claim (principal TEXT NOT NULL, key TEXT NOT NULL, fingerprint BLOB NOT NULL, token BLOB NOT NULL,
                expiry INTEGER NOT NULL, response BLOB, PRIMARY KEY (principal, key)) WITHOUT ROWID;
            CREATE INDEX claim_by_expiry ON claim (expiry);
            CREATE TABLE size (count INTEGER NOT NULL);
            INSERT INTO size VALUES (0);
            CREATE TRIGGER claim_added AFTER INSERT ON claim BEGIN UPDATE size SET count = count + 1; END;
            CREATE TRIGGER claim_removed AFTER DELETE ON claim BEGIN UPDATE size SET count = count - 1; END;
            """)

    private let database: ServerDatabase
    private let writer: GroupCommit<Request, Result>

    /// Opens a file, and creates it if there is none, for its user alone. It blocks.
    ///
    /// - Parameters:
    ///   - file: The SQLite file.
    ///   - maximumCount: The most keys; a full store claims nothing more. The default is a million.
    ///   - limits: How many requests wait and are committed together.
    /// - Throws: ``ServerStorageError``.
    public init(
        at file: URL, maximumCount: Int = 1_000_000, limits: ActionLogWriterLimits = ActionLogWriterLimits()
    ) throws(ServerStorageError) {
        let database = try ServerDatabase(at: file, Self.schema, waitsForDrive: limits.survivesPowerLoss)
        self.database = database
        writer = GroupCommit(label: "runway.idempotency", limits: limits.queue) { requests in
            try database.write { database in
                try requests.map { try Self.perform($0, in: database, upTo: maximumCount) }
            }
        }
    }

    /// Claims a key.
    public func claim(
        _ key: IdempotencyKey, fingerprint: [UInt8], token: UUID, at now: Date, lease: Duration
    ) async throws -> IdempotencyClaim {
        let change = Change.claim(
            fingerprint: fingerprint, now: now.milliseconds,
            lease: lease.components.seconds * 1000 + lease.components.attoseconds / 1_000_000_000_000_000)
        switch try await perform(Request(key: key, token: token, change: change), byteCount: 256) {
        case .claim(let claim): return claim
        case .full, .done: throw IdempotencyStoreFull()
        }
    }

    /// Stores a response.
    public func complete(
        _ key: IdempotencyKey, token: UUID, with response: IdempotentResponse, until expiry: Date
    ) async throws -> Bool {
        let data = try JSONEncoder().encode(response)
        let request = Request(
            key: key, token: token, change: .complete(response: data, expiry: expiry.milliseconds))
        if case .done(true) = try await perform(request, byteCount: 256 + data.count) { return true }
        return false
    }

    /// Removes a record whose request was not executed.
    public func release(_ key: IdempotencyKey, token: UUID) async throws {
        _ = try await perform(Request(key: key, token: token, change: .release), byteCount: 256)
    }

    /// Performs what waits, and closes the file. Later requests are refused.
    ///
    /// - Throws: ``ServerStorageError``.
    public func close() async throws {
        await writer.close()
        try database.close()
    }

    private func perform(_ request: Request, byteCount: Int) async throws -> Result {
        do {
            return try await writer.commit(request, byteCount: byteCount)
        } catch is ActionLogSinkBusy {
            throw IdempotencyStoreFull()
        }
    }

    private static func perform(_ request: Request, in database: Database, upTo maximumCount: Int) throws -> Result {
        let (principal, key) = (request.key.principal, request.key.text)
        switch request.change {
        case .claim(let fingerprint, let now, let lease):
            return try claim(request, Data(fingerprint), now, lease, in: database, upTo: maximumCount)
        case .complete(let response, let expiry):
            try database.cachedStatement(
                sql: """
                    UPDATE claim SET response = ?, expiry = ?
                    WHERE principal = ? AND key = ? AND token = ? AND response IS NULL
                    """
            ).execute(arguments: [response, expiry, principal, key, request.token.data])
            return .done(database.changesCount == 1)
        case .release:
            try database.cachedStatement(
                sql: "DELETE FROM claim WHERE principal = ? AND key = ? AND token = ? AND response IS NULL"
            ).execute(arguments: [principal, key, request.token.data])
            return .done(database.changesCount == 1)
        }
    }

    private static func claim(
        _ request: Request, _ fingerprint: Data, _ now: Int64, _ lease: Int64, in database: Database,
        upTo maximumCount: Int
    ) throws -> Result {
        let (principal, key) = (request.key.principal, request.key.text)
        // A few at a time, so that no claim waits for a large removal. A claim without a response is removed by its own key alone.
        try database.cachedStatement(
            sql: """
                DELETE FROM claim WHERE (principal, key) IN
                (SELECT principal, key FROM claim WHERE expiry <= ? AND response IS NOT NULL ORDER BY expiry LIMIT 20)
                """
        ).execute(arguments: [now])
        let insertion = try database.cachedStatement(
            sql: """
                INSERT INTO claim (principal, key, fingerprint, token, expiry) VALUES (?, ?, ?, ?, ?)
                ON CONFLICT DO NOTHING
                """)
        let arguments: StatementArguments = [principal, key, fingerprint, request.token.data, now + lease]
        try insertion.execute(arguments: arguments)
        if database.changesCount == 1 {
            let count = try Int.fetchOne(database.cachedStatement(sql: "SELECT count FROM size"))
            guard (count ?? 0) > maximumCount else { return .claim(.claimed) }
            try database.execute(sql: "DELETE FROM claim WHERE principal = ? AND key = ?", arguments: [principal, key])
            return .full
        }
        let row = try Row.fetchOne(
            database.cachedStatement(
                sql: "SELECT fingerprint, expiry, response FROM claim WHERE principal = ? AND key = ?"),
            arguments: [principal, key])
        guard let row else { throw ServerStorageError(.corrupted, "A row of the file is missing.") }
        let (found, expiry): (Data, Int64) = (try row.value(0), try row.value(1))
        if let response: Data = try row.optionalValue(2) {
            if expiry > now {
                guard found == fingerprint else { return .claim(.mismatch) }
                return .claim(.completed(try JSONDecoder().decode(IdempotentResponse.self, from: response)))
            }
        } else if found != fingerprint {
            return .claim(.mismatch)
        } else if expiry > now {
            return .claim(.inFlight(until: Date(timeIntervalSince1970: Double(expiry) / 1000)))
        }
        try database.cachedStatement(
            sql: """
                UPDATE claim SET fingerprint = ?, token = ?, expiry = ?, response = NULL WHERE principal = ? AND key = ?
                """
        ).execute(arguments: [fingerprint, request.token.data, now + lease, principal, key])
        return .claim(.claimed)
    }
}
