import Foundation
import GRDB
import RunwaySQLite
import RunwayServer

struct ClaimRow {
    let key: IdempotencyKey
    let fingerprint: Data
    let token: Data
    /// The end of the lease, or of the response's lifetime, in milliseconds since 1970.
    let expiry: Int64
    /// The response as JSON; `nil` while the request is being executed.
    let response: Data?
    /// Whether the row is unchanged since it was written.
    private(set) var isSound = true

    init(key: IdempotencyKey, fingerprint: Data, token: Data, expiry: Int64, response: Data?) {
        self.key = key
        self.fingerprint = fingerprint
        self.token = token
        self.expiry = expiry
        self.response = response
    }

    /// Reads the row of an idempotency key. Returns `nil` if the key has no row.
    init?(_ key: IdempotencyKey, in database: Database) throws {
        let row = try Row.fetchOne(
            database.cachedStatement(
                sql: "SELECT fingerprint, token, expiry, response, checksum FROM claim WHERE principal = ? AND key = ?"),
            arguments: [key.principal, key.text])
        guard let row else { return nil }
        let (fingerprint, token) = (Data.fromDatabaseValue(row[0]), Data.fromDatabaseValue(row[1]))
        let (expiry, found) = (Int64.fromDatabaseValue(row[2]), row[3] as DatabaseValue)
        self.init(
            key: key, fingerprint: fingerprint ?? Data(), token: token ?? Data(), expiry: expiry ?? 0,
            response: Data.fromDatabaseValue(found))
        let checksum: DatabaseValue = row[4]
        isSound =
            fingerprint != nil && token != nil && expiry != nil && (found.isNull || response != nil)
            && (checksum.isNull || Int64.fromDatabaseValue(checksum) == self.checksum)
    }

    /// Returns a copy of this row that contains the response to the executed request.
    func completed(with response: Data, until expiry: Int64) -> ClaimRow {
        ClaimRow(key: key, fingerprint: fingerprint, token: token, expiry: expiry, response: response)
    }

    func insert(into database: Database) throws {
        try database.cachedStatement(
            sql: """
                INSERT INTO claim (fingerprint, token, expiry, response, checksum, principal, key)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                """
        ).execute(arguments: arguments)
    }

    func write(to database: Database) throws {
        try database.cachedStatement(
            sql: """
                UPDATE claim SET fingerprint = ?, token = ?, expiry = ?, response = ?, checksum = ?
                WHERE principal = ? AND key = ?
                """
        ).execute(arguments: arguments)
        guard database.changesCount == 1 else { throw DatabaseError(resultCode: .SQLITE_CORRUPT) }
    }

    private var arguments: StatementArguments {
        [fingerprint, token, expiry, response, checksum, key.principal, key.text]
    }

    private var checksum: Int64 {
        var sum = RowChecksum()
        sum.add(key.principal)
        sum.add(key.text)
        sum.add(Array(fingerprint))
        sum.add(Array(token))
        sum.add(expiry)
        sum.add(response == nil ? 0 : 1)
        sum.add(Array(response ?? Data()))
        return sum.value
    }
}
