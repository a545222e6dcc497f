import GRDB
public import Runway

/// The only interface of an app to one business concern, such as the user's favourites. Its methods are named in the
/// terms of the business, and are implemented with tables.
///
/// A method returns records whose type the caller chooses, or the values of a ``RowReformer``. It never returns
/// ``Values`` or a ``Draft``, so that the code above a center neither names nor imports a table. A center has the rules
/// for several tables; the rules for one table are in its ``TableDefinition``. An app has a center for each concern and
/// account. See <doc:WhatTheAppRemembers#Weak-and-strong-business> for an example.
@MainActor
public protocol DataCenter: AnyObject {
    /// The file of the account.
    var store: RecordStore { get }
    /// The network layer whose responses show the same data.
    var network: NetworkLayer { get }
    /// The endpoints whose responses are outdated after a change, as `Endpoint.invalidates` names them for a call.
    var invalidates: [any Endpoint.Type] { get }
}

extension DataCenter {
    /// Changes tables in one transaction, and then removes the cached responses of ``invalidates`` from memory and
    /// disk.
    ///
    /// Responses of these endpoints to calls that began before the change are not stored afterwards, and a
    /// ``TableLanding`` does not land them: the user's change does not revert on the screen. A change that fails
    /// removes nothing.
    ///
    /// - Parameter change: Reads and writes, as in ``RecordStore/write(_:)``.
    /// - Throws: The errors of ``RecordStore/write(_:)``.
    @discardableResult
    public func write<Value: Sendable>(
        _ change: @escaping @Sendable (TableWriter) throws -> Value
    ) async throws -> Value {
        let (order, endpoints) = (LandingOrder.of(network), invalidates)
        let value = try await store.write { file in
            // Ends landings with the commit, before the next transaction, which may be a landing.
            file.connection.afterNextTransaction { _ in order.end(endpoints) }
            return try change(file)
        }
        for endpoint in endpoints { network.cache.clear(endpoint) }
        return value
    }

    /// Saves the values of a record in all of its tables, in one transaction of ``write(_:)``.
    ///
    /// - Throws: The errors of ``RecordStore/write(_:)``.
    public func save(_ record: some VirtualRecord) async throws {
        let draft = Draft(record)
        try await write { try $0.save(draft) }
    }
}
