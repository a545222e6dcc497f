import Foundation
import GRDB
import RunwayServer
import RunwaySignatures

/// The rows of a ``SQLiteEnrolmentStore``.
extension Database {
    /// The keys for which a condition with one argument holds, sorted by identifier. Throws if a row is not one of a key.
    func keys(_ condition: String, _ argument: String) throws -> [KeyRecord] {
        let statement = try cachedStatement(
            sql: """
                SELECT id, algorithm, key, owner, device, not_before, not_after, is_revoked, covers FROM device_key
                WHERE \(condition) ORDER BY id
                """)
        return try Row.fetchAll(statement, arguments: [argument]).map { try KeyRecord($0) }
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

    func device(_ id: String) throws -> AttestedDevice? {
        let row = try Row.fetchOne(
            self, sql: "SELECT public_key, account, counter FROM attested_device WHERE id = ?", arguments: [id])
        guard let row else { return nil }
        let key: Data = try row.value(0)
        return AttestedDevice(
            id: id, publicKey: Array(key), account: try row.value(1), counter: try row.value(2))
    }
}

extension KeyRecord {
    fileprivate init(_ row: Row) throws {
        let covers: String = try row.value(8)
        guard let algorithm = SignatureAlgorithm(name: try row.value(1)),
            let key = try? VerificationKey(algorithm, text: try row.value(2)),
            let components = CoveredComponents(texts: covers.split(separator: "\n").map(String.init))
        else { throw ServerStorageError(.corrupted, "A row of the file has no valid key.") }
        // A time of another type must not be read as none: the key would be accepted for ever.
        let (notBefore, notAfter): (Int64?, Int64?) = (try row.optionalValue(5), try row.optionalValue(6))
        self.init(
            id: try row.value(0), key: key, owner: try row.value(3), notBefore: notBefore.map(UnixTime.init),
            notAfter: notAfter.map(UnixTime.init))
        device = try row.optionalValue(4)
        isRevoked = try row.value(7)
        requiredComponents = components.identifiers
    }
}
