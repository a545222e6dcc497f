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
        guard let key = Data.fromDatabaseValue(row[0]), let account = String.fromDatabaseValue(row[1]),
            let counter = Int64.fromDatabaseValue(row[2]).flatMap({ UInt32(exactly: $0) })
        else { throw ServerStorageError.malformedRow }
        return AttestedDevice(id: id, publicKey: Array(key), account: account, counter: counter)
    }
}

extension KeyRecord {
    fileprivate init(_ row: Row) throws {
        guard let id = String.fromDatabaseValue(row[0]), let owner = String.fromDatabaseValue(row[3]),
            let algorithm = String.fromDatabaseValue(row[1]).flatMap({ SignatureAlgorithm(name: $0) }),
            let text = String.fromDatabaseValue(row[2]), let key = try? VerificationKey(algorithm, text: text),
            let isRevoked = Bool.fromDatabaseValue(row[7]), let covers = String.fromDatabaseValue(row[8]),
            let components = CoveredComponents(texts: covers.split(separator: "\n").map(String.init))
        else { throw ServerStorageError.malformedRow }
        self.init(
            id: id, key: key, owner: owner, notBefore: Int64.fromDatabaseValue(row[5]).map(UnixTime.init),
            notAfter: Int64.fromDatabaseValue(row[6]).map(UnixTime.init))
        device = String.fromDatabaseValue(row[4])
        self.isRevoked = isRevoked
        requiredComponents = components.identifiers
    }
}

extension ServerStorageError {
    fileprivate static let malformedRow = ServerStorageError(.corrupted, "A row of the file has values of other types.")
}
