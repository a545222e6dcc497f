public import Foundation
import GRDB
public import RunwayServer
public import RunwaySignatures

/// Stores the keys that devices enrol, and the counters of attested devices, in a SQLite file, for one process.
///
/// ```swift
/// let store = try SQLiteEnrolmentStore(at: folder.appending(path: "enrolment.sqlite"))
/// EnrolmentRoutes(rules, keys: store) { request, _ in account(of: request) }.add(to: router.group("v1"))
/// router.add(middleware: SignatureMiddleware(signatureRules, keys: store))
/// ```
///
/// Pass the same store as the `devices` of an `AppAttestation`. A key, a revocation and a counter are on the drive
/// before the response is sent: neither a crash nor a restart makes a revoked key or an old counter acceptable again.
/// Simultaneous requests share a transaction; a lookup waits for the transaction that is being committed. If too many
/// requests wait, the store throws, and further requests are refused. A lookup of an unknown key or device takes the
/// same work as a lookup of a known one: another row is read and discarded.
///
/// Used challenges are not stored here. By default a challenge from before a restart is refused. To accept it, pass a
/// `ServerNonces` with a lasting key, but only together with a ``SQLiteNonceStore``.
public final class SQLiteEnrolmentStore: EnrolledKeyDirectory, AttestedDeviceStore {
    private enum Request: Sendable {
        case key(String)
        case keys(owner: String)
        case enrol(KeyRecord, replacing: String?, overlap: Duration, maximum: Int, now: UnixTime)
        case revoke(String, owner: String)
        case device(String)
        case insert(AttestedDevice)
        case raise(String, UInt32)
    }

    private enum Result: Sendable {
        case key(KeyRecord?)
        case keys([KeyRecord])
        case enrolment(KeyEnrolment)
        case device(AttestedDevice?)
        case done(Bool)
    }

    /// Times are seconds since 1970. `covers` lists the components that a key requires, one per line.
    private static let schema = ServerDatabase.Schema(
        applicationID: 0x5257_4544,
        tables: """
            CREATE TABLE device_key (id TEXT PRIMARY KEY, algorithm TEXT NOT NULL, key TEXT NOT NULL, owner TEXT NOT NULL,
                device TEXT, not_before INTEGER, not_after INTEGER, is_revoked INTEGER NOT NULL, covers TEXT NOT NULL)
                WITHOUT ROWID;
            CREATE INDEX device_key_by_owner ON device_key (owner);
            CREATE TABLE attested_device (id TEXT PRIMARY KEY, public_key BLOB NOT NULL, account TEXT NOT NULL,
                counter INTEGER NOT NULL) WITHOUT ROWID;
            CREATE TABLE size (count INTEGER NOT NULL);
            INSERT INTO size VALUES (0);
            CREATE TRIGGER device_added AFTER INSERT ON attested_device BEGIN UPDATE size SET count = count + 1; END;
            """)

    private let database: ServerDatabase
    private let writer: GroupCommit<Request, Result>

    /// Opens a file, or creates it so that only its user can read it. The initializer blocks.
    ///
    /// - Parameters:
    ///   - file: The SQLite file.
    ///   - maximumDevices: The maximum number of attested devices; further devices are refused. The default is ten
    ///     million. `EnrolmentRules.maximumKeysPerAccount` limits the keys of an account.
    ///   - limits: Limits for pending requests and for requests that are committed together.
    /// - Throws: ``ServerStorageError``.
    public init(
        at file: URL, maximumDevices: Int = 10_000_000, limits: ActionLogWriterLimits = ActionLogWriterLimits()
    ) throws(ServerStorageError) {
        let database = try ServerDatabase(at: file, Self.schema, waitsForDrive: limits.survivesPowerLoss)
        self.database = database
        writer = GroupCommit(label: "runway.enrolment", limits: limits.queue) { requests in
            try database.write { database in
                try requests.map { try Self.perform($0, in: database, upTo: maximumDevices) }
            }
        }
    }

    /// Performs the pending requests, and closes the file. Later requests are refused.
    ///
    /// - Throws: ``ServerStorageError``.
    public func close() async throws {
        await writer.close()
        try database.close()
    }

    // MARK: - Keys

    /// Returns the record of a key, or `nil` if the key is unknown.
    public func record(forKeyID id: String) async throws -> KeyRecord? {
        guard case .key(let record) = try await perform(.key(id)) else { return nil }
        return record
    }

    /// Returns the keys of an owner, sorted by identifier.
    public func records(of owner: String) async throws -> [KeyRecord] {
        guard case .keys(let records) = try await perform(.keys(owner: owner)) else { return [] }
        return records
    }

    /// Adds a key and ends the key that it replaces, in one transaction.
    ///
    /// Ended keys stay stored, so that they cannot be enrolled again: per owner, up to `maximum` expired or replaced
    /// keys, and up to 1,000 revoked ones. Beyond that, the oldest are removed.
    public func enrol(
        _ record: KeyRecord, replacing replaced: String?, overlap: Duration, upTo maximum: Int, at now: UnixTime
    ) async throws -> KeyEnrolment {
        let request = Request.enrol(record, replacing: replaced, overlap: overlap, maximum: maximum, now: now)
        guard case .enrolment(let outcome) = try await perform(request) else { return .full }
        return outcome
    }

    /// Revokes a key of an owner: all its signatures are refused from now on. Returns `false` if the owner has no such
    /// key.
    public func revoke(_ id: String, of owner: String) async throws -> Bool {
        try await isDone(.revoke(id, owner: owner))
    }

    // MARK: - Attested devices

    /// Returns the device with a key identifier, or `nil` if the device is unknown.
    public func device(_ id: String) async throws -> AttestedDevice? {
        guard case .device(let device) = try await perform(.device(id)) else { return nil }
        return device
    }

    /// Adds a device. Returns `false` if the device is already stored, or if the store is full.
    public func insert(_ device: AttestedDevice) async throws -> Bool { try await isDone(.insert(device)) }

    /// Sets the counter of a device. Returns `false` if `counter` is not greater than its current value.
    public func raise(_ id: String, to counter: UInt32) async throws -> Bool { try await isDone(.raise(id, counter)) }

    // MARK: - Transactions

    private func perform(_ request: Request) async throws -> Result {
        try await writer.commit(request, byteCount: 512)
    }

    private func isDone(_ request: Request) async throws -> Bool {
        if case .done(true) = try await perform(request) { return true }
        return false
    }

    private static func perform(_ request: Request, in database: Database, upTo maximumDevices: Int) throws -> Result {
        switch request {
        case .key(let id): return .key(try database.key(id))
        case .keys(let owner): return .keys(try database.keys("owner = ?", owner))
        case .enrol(let record, let replaced, let overlap, let maximum, let now):
            let plan = KeyEnrolmentPlan(
                record, present: try database.keys("id = ?", record.id).first,
                own: try database.keys("owner = ?", record.owner), replacing: replaced, overlap: overlap, upTo: maximum,
                at: now)
            guard plan.isNew else { return .enrolment(plan.outcome) }
            for id in plan.removed {
                try database.execute(sql: "DELETE FROM device_key WHERE id = ?", arguments: [id])
            }
            if let replaced, let end = plan.replacedEnd {
                try database.execute(
                    sql: "UPDATE device_key SET not_after = ? WHERE id = ?", arguments: [end.seconds, replaced])
            }
            try database.insert(record)
            return .enrolment(plan.outcome)
        case .revoke(let id, let owner):
            try database.execute(
                sql: "UPDATE device_key SET is_revoked = 1 WHERE id = ? AND owner = ?", arguments: [id, owner])
            return .done(database.changesCount == 1)
        case .device(let id): return .device(try database.device(id))
        case .insert(let device):
            guard try Int.fetchOne(database, sql: "SELECT count FROM size") ?? 0 < maximumDevices else {
                return .done(false)
            }
            try database.execute(
                sql: "INSERT INTO attested_device VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
                arguments: [device.id, Data(device.publicKey), device.account, Int64(device.counter)])
            return .done(database.changesCount == 1)
        case .raise(let id, let counter):
            try database.execute(
                sql: "UPDATE attested_device SET counter = ? WHERE id = ? AND counter < ?",
                arguments: [Int64(counter), id, Int64(counter)])
            return .done(database.changesCount == 1)
        }
    }
}
