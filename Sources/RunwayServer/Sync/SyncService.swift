public import Foundation
public import RunwaySyncCore

/// Decides on the changes that devices push, and returns the changes of others, for the spaces of one store.
///
/// ```swift
/// let store = try SyncStore.sqlite(at: file)
/// let sync = SyncService(store: store, hub: hub, conflicts: ["note": .ask]) { subject, space, access in
///     members.contains(subject, in: space)
/// }
///
/// SyncRouter(sync) { request, context in
///     guard let account = context.account else { throw HTTPError(.unauthorized) }
///     return account.id
/// }.add(to: router)
/// ```
///
/// A response to a push is sent when the verdicts are as durable as the store makes them. Afterwards, the head of the
/// space is published under ``topic(of:)``, so that other devices pull at once. If several server processes share a
/// store, pass each a hub over a shared event log.
public final class SyncService: Sendable {
    /// Says whether a subject has a right in a space.
    ///
    /// It is called for ``SyncAccess/Kind/read`` at each request. A device whose subject must not read the space any
    /// more has to remove its rows, and its id is closed. For each pushed operation it is called inside the
    /// transaction, after the space was locked: it must return quickly, must not use the store, and may be called
    /// several times. For ``SyncAccess/Kind/upload`` it is called before the file is received, and again before
    /// the file appears, outside of a transaction.
    public typealias Rights = @Sendable (_ subject: String, _ space: UUID, _ access: SyncAccess) -> Bool

    let database: any SyncDatabase
    let policies: ConflictPolicies
    private let minimumSchema: Int64
    let rights: Rights
    private let logLimits: SyncLogLimits
    let pokes: SyncPokes?
    private let waits: PredecessorWaits

    /// Creates a service.
    ///
    /// - Parameters:
    ///   - store: Stores the spaces.
    ///   - hub: Publishes the heads of spaces. The default is none: devices then pull by their timers only.
    ///   - conflicts: The policies of tables by name, as the devices have them. The default is
    ///     `ConflictPolicy.newestPerColumn` for all tables.
    ///   - minimumSchema: The oldest version of an app's tables that may use the spaces. Older apps receive 426, and
    ///     show that they need an update. The default is 0, which accepts all.
    ///   - logLimits: The limits of each log; see ``SyncLogLimits`` for the defaults.
    ///   - clock: Measures the time for which a packet waits for the one before it. The default is the system's clock.
    ///   - rights: Says whether a subject has a right.
    public init(
        store: SyncStore, hub: EventHub? = nil, conflicts: [String: ConflictPolicy] = [:],
        minimumSchema: Int64 = 0, logLimits: SyncLogLimits = SyncLogLimits(),
        clock: some Clock<Duration> = ContinuousClock(),
        rights: @escaping Rights
    ) {
        policies = ConflictPolicies(Columns(conflicts.map { ($0, $1) }))
        (database, self.rights) = (store.database, rights)
        (self.minimumSchema, self.logLimits) = (minimumSchema, logLimits)
        pokes = hub.map { SyncPokes($0) }
        waits = PredecessorWaits(HubClock(clock))
    }

    /// Returns the topic under which the head of a space is published: `sync/` and the UUID in lower case.
    public static func topic(of space: UUID) -> String { topic(of: Identifier(space)) }

    static func topic(of space: Identifier) -> String { "sync/\(space)" }

    /// The type of the events. Their data are an object with the number `head`.
    static let eventType = "sync"

    /// Handles a request of a subject's device.
    package func respond(
        to request: SyncRequest, in space: Identifier, as subject: String, byteCount: Int
    ) async throws -> SyncResponse {
        let response = try await exchange(request, in: space, as: subject, byteCount)
        guard case .push(let packet) = request else { return response }
        let key = PredecessorWaits.Key(space: space, device: packet.device)
        switch response {
        case .verdicts:
            waits.notify(key)
            return response
        case .gap:
            let later = try await waits.wait(key, byteCount: byteCount) {
                try await self.exchange(request, in: space, as: subject, byteCount)
            }
            if case .verdicts? = later { waits.notify(key) }
            return later ?? response
        default: return response
        }
    }

    private func exchange(
        _ request: SyncRequest, in space: Identifier, as subject: String, _ byteCount: Int
    ) async throws -> SyncResponse {
        guard request.device != Self.device(of: space) else { return .deviceTaken }
        guard rights(subject, UUID(space), .read) else { return try await revoke(request.device, in: space, subject) }
        var server = SpaceServer(policies) { [rights] sender, action in
            // A void changes nothing. An operation that waited may come from a subject that has left the space.
            guard let access = SyncAccess(action) else { return true }
            guard let writer = sender.subject else { return false }
            if writer != subject, !rights(writer, UUID(space), .read) { return false }
            return rights(writer, UUID(space), access)
        }
        (server.subject, server.minimumSchema) = (subject, minimumSchema)
        var exchange = SyncExchange(request, in: space, as: subject, server, rights, logLimits)
        while true {
            do {
                let exchange = exchange
                var result = try await database.transaction(request.access, in: space, byteCount: byteCount) {
                    try exchange.run(&$0)
                }
                if result == nil {
                    // The first request for a space creates it.
                    result = try await database.transaction(.writing, in: space, byteCount: byteCount) {
                        try exchange.run(&$0)
                    }
                }
                guard let result else { preconditionFailure("a transaction that writes creates its space") }
                if let head = result.head { pokes?.publish(head, of: space) }
                return result.response
            } catch let refused as SyncExchange.Refused {
                // The transaction was rolled back. It runs again without the refused one.
                exchange.server.refusals[refused.transaction] = Refusal(name: refused.refusal.reason)
                // Each time runs all other transactions again. The device divides the packet.
                if exchange.server.refusals.count > SyncExchange.maximumRefusals { return .tooLarge }
            }
        }
    }

    /// Closes the id of a device whose subject must not read the space (rule 13).
    private func revoke(_ device: Identifier, in space: Identifier, _ subject: String) async throws -> SyncResponse {
        let response = try await database.transaction(.reading, in: space, byteCount: 0) { tables in
            try SyncExchange.revoked(device, subject, &tables, closes: false)
        }
        guard let (response, isOpen) = response else { return .revoked([]) }
        if !isOpen { return response }
        return try await database.transaction(.writing, in: space, byteCount: 0) { tables in
            try SyncExchange.revoked(device, subject, &tables, closes: true).response
        } ?? .revoked([])
    }
}
