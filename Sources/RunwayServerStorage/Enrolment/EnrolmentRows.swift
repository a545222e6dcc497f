import Foundation
import GRDB
import RunwaySQLite
import RunwayServer
import RunwaySignatures

extension Database {
    /// Returns the key with an identifier, to verify a signature; `nil` if the key is unknown. Throws an error if a row
    /// that it reads is malformed.
    ///
    /// An unknown identifier takes the same work: the key with the next identifier, or the first one, is read and
    /// discarded.
    func key(_ id: String) throws -> KeyRecord? {
        let table = "SELECT \(Self.keyColumns) FROM device_key"
        guard let row = try nearest(id, in: table) else { return nil }
        // The row may belong to another key. If such a row is malformed, the error does not concern the caller.
        let record = Result { try KeyRecord(row) }
        return row.hasID(id) ? try record.get() : nil
    }

    /// Returns the keys that satisfy a condition with one argument, sorted by identifier. Throws an error if a row is
    /// malformed.
    func keys(_ condition: String, _ argument: String) throws -> [KeyRecord] {
        let statement = try cachedStatement(
            sql: "SELECT \(Self.keyColumns) FROM device_key WHERE \(condition) ORDER BY id")
        return try Row.fetchAll(statement, arguments: [argument]).map { try KeyRecord($0) }
    }

    private static let keyColumns = "id, algorithm, key, owner, device, not_before, not_after, is_revoked, covers"

    /// Returns the first row whose identifier is not less than `id`, or else the first row; `nil` if the table is
    /// empty. It always runs two statements, so that the time does not depend on the result.
    private func nearest(_ id: String, in table: String) throws -> Row? {
        let first = try Row.fetchOne(cachedStatement(sql: "\(table) ORDER BY id LIMIT 1"))
        let next = try Row.fetchOne(
            cachedStatement(sql: "\(table) WHERE id >= ? ORDER BY id LIMIT 1"), arguments: [id])
        return next ?? first
    }

    func insert(_ record: KeyRecord) throws {
        let covers = record.requiredComponents.map(\.serialized).joined(separator: "\n")
        try execute(
            sql: "INSERT INTO device_key VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            arguments: [
                record.id, record.key.algorithm.name, record.key.text, record.owner, record.device,
                record.notBefore?.seconds, record.notAfter?.seconds, record.isRevoked, covers,
            ])
    }

    /// Returns the device with an identifier; `nil` if the device is unknown. An unknown device takes the same work, as
    /// in ``key(_:)``.
    func device(_ id: String) throws -> AttestedDevice? {
        let row = try nearest(id, in: "SELECT id, public_key, account, counter FROM attested_device")
        guard let row else { return nil }
        let device = Result {
            let key: Data = try row.value(1)
            return AttestedDevice(
                id: try row.value(0), publicKey: Array(key), account: try row.value(2), counter: try row.value(3))
        }
        return row.hasID(id) ? try device.get() : nil
    }
}

extension Row {
    /// Whether the first column equals the text exactly.
    fileprivate func hasID(_ id: String) -> Bool { String.fromDatabaseValue(self[0])?.isExactly(id) ?? false }
}

extension KeyRecord {
    fileprivate init(_ row: Row) throws {
        let covers: String = try row.value(8)
        guard let algorithm = SignatureAlgorithm(name: try row.value(1)),
            let key = try? VerificationKey(algorithm, text: try row.value(2)),
            let components = CoveredComponents(texts: covers.split(separator: "\n").map(String.init))
        else { throw ServerStorageError(.corrupted, "A row of the file has a key that can't be read.") }
        // Throws an error if a time has a wrong type. If such a time were read as absent, the key would be valid
        // forever.
        let (notBefore, notAfter): (Int64?, Int64?) = (try row.optionalValue(5), try row.optionalValue(6))
        self.init(
            id: try row.value(0), key: key, owner: try row.value(3), notBefore: notBefore.map(UnixTime.init),
            notAfter: notAfter.map(UnixTime.init))
        device = try row.optionalValue(4)
        isRevoked = try row.value(7)
        requiredComponents = components.identifiers
    }
}
