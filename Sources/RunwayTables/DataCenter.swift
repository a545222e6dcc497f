public import Runway

/// The one door to a business concern: its methods speak the business's words, and are made of tables.
///
/// A method returns records whose type the caller chooses, or the values of a ``RowReformer``, and never ``Values`` or
/// a ``Draft``: the code above names no table, and imports no table. Rules for several tables are here, those of one
/// table in its ``TableDefinition``. An app has a center for each concern and account;
/// <doc:WhatTheAppRemembers#Weak-and-strong-business> has an example.
@MainActor
public protocol DataCenter: AnyObject {
    /// The file of the account.
    var store: RecordStore { get }
    /// The layer whose responses concern the same things.
    var network: NetworkLayer { get }
    /// The endpoints whose responses a change makes outdated, like `Endpoint.invalidates` for a call.
    var invalidates: [any Endpoint.Type] { get }
}

extension DataCenter {
    /// Changes tables in one transaction, and then removes the cached responses of ``invalidates`` from memory and
    /// disk.
    ///
    /// Responses of these endpoints to calls that began before are not stored afterwards, and a ``TableLanding`` does
    /// not land them: what the user has just changed does not revert. A change that fails removes nothing.
    ///
    /// - Parameter change: As in ``RecordStore/write(_:)``.
    /// - Throws: The errors of ``RecordStore/write(_:)``.
    @discardableResult
    public func write<Value: Sendable>(
        _ change: @escaping @Sendable (TableWriter) throws -> Value
    ) async throws -> Value {
        let (order, endpoints) = (LandingOrder.of(network), invalidates)
        let value = try await store.write { file in
            let value = try change(file)
            order.end(endpoints)
            return value
        }
        for endpoint in endpoints { network.cache.clear(endpoint) }
        return value
    }

    /// Saves the values of a record, of all tables over which it stands, as ``write(_:)`` does.
    ///
    /// - Throws: The errors of ``RecordStore/write(_:)``.
    public func save(_ record: some VirtualRecord) async throws {
        let draft = Draft(record)
        try await write { try $0.save(draft) }
    }
}
