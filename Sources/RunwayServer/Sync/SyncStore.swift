package import RunwaySyncCore

/// Stores the spaces that devices synchronise: their rows, their logs and the records of their devices.
///
/// ``memory(hook:)`` loses its data when the process ends; `sqlite(at:)` of `RunwayServerStorage` stores them in a
/// file, and `postgreSQL(at:)` of `RunwayPostgreSQL` in a database that several server processes share.
public struct SyncStore: Sendable {
    package let database: any SyncDatabase

    package init(_ database: any SyncDatabase) { self.database = database }

    /// Performs the pending requests, and closes the file of a SQLite store. Later requests are refused. Other stores
    /// need no end.
    ///
    /// - Throws: The error of the store.
    public func close() async throws { try await database.close() }
}

/// A database of spaces. ``SyncService`` and the administration stand on its transactions, so that databases differ
/// only in their statements.
package protocol SyncDatabase: Sendable {
    /// Runs `body` in one transaction, and returns its result after the commit. If `body` throws, nothing is changed.
    ///
    /// A transaction that writes locks the counter row of the space first (rule 9); it creates a space that does not
    /// exist, with a random epoch. A transaction that reads sees one state of the space, without a lock; if the space
    /// does not exist, the transaction returns `nil` without a call of `body`.
    ///
    /// - Parameters:
    ///   - access: Whether `body` may write.
    ///   - byteCount: An estimate of the memory that the transaction takes, for the limit of pending transactions.
    ///   - body: May be called again if the transaction conflicts with others.
    /// - Throws: ``StoreRefusal/busy`` if too many transactions are pending, ``StoreRefusal/rejected`` for a text that
    ///   the database never accepts, or the error of `body` or of the database.
    func transaction<Value: Sendable>(
        _ access: SyncTransactionAccess, in space: Identifier, byteCount: Int,
        _ body: @escaping @Sendable (inout any SyncTables) throws -> Value
    ) async throws -> Value?

    /// Returns spaces after an id, in the order of their ids.
    func spaces(after space: Identifier?, limit: Int) async throws -> [Identifier]

    /// Performs the pending requests, and refuses later ones if the database has a file to close.
    func close() async throws
}

package enum SyncTransactionAccess: Sendable {
    case reading, writing
}

/// The tables of one space inside a transaction, with what the server stores beside the protocol.
package protocol SyncTables: SpaceTables {
    /// The time since 1970 in milliseconds, by the clock of the database.
    var now: Int64 { get throws }
    /// Returns the subject to which the id of a device belongs; `nil` for an unknown device.
    func subject(of device: Identifier) throws -> String?
    /// Stores the subject of a device whose record was saved in this transaction.
    mutating func setSubject(_ subject: String, of device: Identifier) throws
    /// Returns the number of devices of a subject; `limit` if there are more.
    func deviceCount(of subject: String, upTo limit: Int) throws -> Int
    /// Returns the number of rows whose waiting operations begin with one of a subject; `limit` if there are more.
    func waitingRowCount(of subject: String, upTo limit: Int) throws -> Int
    /// Returns devices after an id, in the order of their ids.
    func devices(after device: Identifier?, limit: Int) throws -> [Identifier]
    /// Returns the time at which an entry of the log was stored, and the size of all entries up to it; `nil` before the
    /// horizon and past the head.
    func mark(of number: Int64) throws -> LogMark?
    /// Removes the entries of the log up to a number. The history is saved separately.
    mutating func removeEntries(through number: Int64) throws
    /// Calls the app's hook, which may write tables of the same database.
    mutating func notifyHook(of commit: SyncCommit) throws
}

/// The place of a log entry in time and in bytes. Both grow with the number of the entry.
package struct LogMark: Hashable, Sendable {
    /// The time since 1970 by the clock of the database.
    package let milliseconds: Int64
    /// The size of all entries from the first one ever to this one, in bytes.
    package let byteCount: Int64

    package init(milliseconds: Int64, byteCount: Int64) {
        (self.milliseconds, self.byteCount) = (milliseconds, byteCount)
    }
}
