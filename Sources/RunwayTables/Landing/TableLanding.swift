import Observation
public import Runway

/// Lands the responses of an endpoint in tables, as its managers land them on screens.
///
/// ```swift
/// let landing = network.land(RentalList.self, in: store, by: RentalRows()) { Rentals.city == $0.city }
/// let rentals = store.observe(by: RentalRows()) { try $0.fetch(Rentals.self, where: Rentals.city == city) }
/// ```
///
/// A view observes the table, and shows the list at a launch without a network, too. Responses land as long as the app
/// holds this object, whichever manager of the endpoint receives them. Each response lands in one transaction, off the
/// main actor. An older response never overwrites a newer one; see <doc:WhatTheAppRemembers#Lists-of-the-network>.
@MainActor
public final class TableLanding: Interceptor {
    /// The endpoint, and how its responses become rows.
    fileprivate struct Source: Sendable {
        let endpoint: any Endpoint.Type
        let drafts: @Sendable (RawData, any Endpoint) throws -> [Draft]
        let list: @Sendable (any Endpoint) throws -> LandedList?
        /// The account whose calls land; `nil` if the calls without an account land.
        let account: String?
    }

    private struct Window {
        weak var manager: (any WindowedManager)?
    }

    private let network: NetworkLayer
    private let store: RecordStore
    private let source: Source
    private let order: LandingOrder
    private let reportFailure: @MainActor (any Error) -> Void
    /// The task that saves the newest response, after all others.
    private var last: Task<Void, Never>?
    /// The managers of lists whose next landing is awaited.
    private var windows: [ObjectIdentifier: Window] = [:]

    fileprivate init(
        _ source: Source, of network: NetworkLayer, in store: RecordStore,
        _ reportFailure: @escaping @MainActor (any Error) -> Void
    ) {
        (self.source, self.network, self.store, self.reportFailure) = (source, network, store, reportFailure)
        order = LandingOrder.of(network)
    }

    /// Lands a response that no manager has received: the response of `NetworkLayer.call`, or of a change that was
    /// replayed. The caller makes sure that it belongs to the store's account. Does nothing for another endpoint.
    ///
    /// - Parameters:
    ///   - rawData: The response.
    ///   - endpoint: The parameters of the call.
    ///   - flight: The number of the call, as an interceptor receives it. With it, an older response overwrites neither
    ///     newer ones nor a later change by ``DataCenter/write(_:)``. By default the response counts as newer than all
    ///     calls before.
    public func land(_ rawData: RawData, of endpoint: any Endpoint, as flight: FlightID? = nil) {
        guard type(of: endpoint) == source.endpoint else { return }
        let number = (flight ?? network.makeFlightID()).number
        // The number counts as a call, so that the next change ends this landing, too.
        order.start(number)
        enqueue { [rows] in rows(rawData, endpoint, number, .response) }
    }

    /// Waits until each response that landed before this call is in the file, or its failure was reported.
    public func committed() async { await last?.value }

    /// The relation of a response to a list.
    private enum Part { case response, page, window(isWhole: Bool) }

    private typealias Rows = @Sendable () throws -> LandedRows

    private func rows(_ rawData: RawData, _ endpoint: any Endpoint, _ flight: UInt64, _ part: Part) -> Rows {
        let isFresh = rawData.source == .network
        let (hasList, addsOnly, isWhole) =
            switch part {
            case .response: (true, !isFresh, isFresh)
            case .page: (false, !isFresh, false)
            case .window(let isWhole): (true, true, isWhole && isFresh)
            }
        return { [source] in
            LandedRows(
                flight: flight, rows: try source.drafts(rawData, endpoint).flatMap(\.rows),
                list: hasList ? try source.list(endpoint) : nil, addsOnly: addsOnly, isWholeList: isWhole)
        }
    }

    /// Saves rows after all rows that were enqueued before. `rows` is called in a later turn of the main actor.
    private func enqueue(_ rows: @escaping @MainActor () -> Rows?) {
        last = Task { [last, source, store, order, reportFailure] in
            let rows = rows()
            await last?.value
            guard let rows else { return }
            do { try await Self.save(rows, of: source, in: store, order) } catch { reportFailure(error) }
        }
    }

    @concurrent
    private static func save(
        _ rows: Rows, of source: Source, in store: RecordStore, _ order: LandingOrder
    ) async throws {
        let landed = try rows()
        try await store.write { file in
            // Checked inside the transaction: a change by a center is either committed before it, or overwrites the
            // rows that it saves.
            guard order.mayLand(landed.flight, of: source.endpoint) else { return }
            try file.land(landed, in: store.url, order)
        }
    }
}

extension TableLanding {
    /// Records the order of calls. Never refuses a call.
    public func beforeCall(to endpoint: inout any Endpoint, as flight: FlightID, by manager: (any APIManaging)?) -> Bool
    {
        order.start(flight.number)
        return true
    }

    /// Lands a fresh response whose bytes equal those of the stale response before it. The layer calls no later hook
    /// for such a response.
    public func beforeLanding(
        _ result: Result<RawData, NetworkError>, of call: InterceptedCall, by manager: (any APIManaging)?
    ) {
        guard case .success(let rawData) = result, let manager, manager.isProvisional,
            manager.rawData?.bytes == rawData.bytes
        else { return }
        afterSuccess(rawData, of: call, by: manager)
    }

    /// Lands a response that a manager has received.
    public func afterSuccess(_ rawData: RawData, of call: InterceptedCall, by manager: (any APIManaging)?) {
        // The account of the call decides: the response to a call without an account may arrive after a sign-in.
        guard let manager, let endpoint = call.endpoint, call.account == source.account else { return }
        let list = manager as? any WindowedManager
        enqueue { [self] in rows(rawData, endpoint, call.flight.number, list == nil ? .response : .page) }
        if let list { awaitLanding(of: list) }
    }

    /// Compares the table with a paged list when a load of the list has landed. A load may take several requests.
    private func awaitLanding(of manager: any WindowedManager) {
        windows = windows.filter { $0.value.manager != nil }
        guard windows.updateValue(Window(manager: manager), forKey: ObjectIdentifier(manager)) == nil else { return }
        withObservationTracking {
            _ = manager.landedFlight
        } onChange: { [weak self, weak manager] in
            MainActor.assumeIsolated { if let self, let manager { self.willLand(manager) } }
        }
    }

    /// Saves the rows of a list. The list lands after this call, in the same turn of the main actor.
    private func willLand(_ manager: any WindowedManager) {
        windows[ObjectIdentifier(manager)] = nil
        enqueue { [self] in
            guard manager.error == nil, let flight = manager.landedFlight, let rawData = manager.rawData,
                let endpoint = manager.landedEndpoint, manager.accounts == [source.account]
            else { return nil }
            return rows(rawData, endpoint, flight.number, .window(isWhole: manager.isFirstPage))
        }
    }
}

@MainActor
private protocol WindowedManager: APIManaging {
    var isFirstPage: Bool { get }
    var accounts: Set<String?> { get }
}

extension PagedAPIManager: WindowedManager {}

extension NetworkLayer {
    /// Lands the responses of an endpoint in tables from now on; see ``TableLanding``.
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint.
    ///   - store: The file of the account that is signed in now.
    ///   - reformer: Reads the rows of a response.
    ///   - reportFailure: Receives the error of a response that could not be read or saved. Nothing of such a response
    ///     is in the file. The default does nothing.
    @MainActor public func land<E: Endpoint>(
        _ endpoint: E.Type, in store: RecordStore, by reformer: some RowReformer & Sendable,
        reportFailure: @escaping @MainActor (any Error) -> Void = { _ in }
    ) -> TableLanding {
        land(endpoint, in: store, by: reformer, reportFailure) { _ in nil }
    }

    /// Lands the responses of an endpoint in tables from now on, and deletes rows that left its list.
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint.
    ///   - store: The file of the account that is signed in now.
    ///   - reformer: Reads the rows of a response.
    ///   - reportFailure: As in ``land(_:in:by:reportFailure:)``.
    ///   - list: Returns a condition for the list of a call. All rows of the list, and no others, must meet it. Return
    ///     `nil` if the response is not the whole list.
    @MainActor public func land<E: Endpoint, Table: TableDefinition>(
        _ endpoint: E.Type, in store: RecordStore, by reformer: some RowReformer & Sendable,
        reportFailure: @escaping @MainActor (any Error) -> Void = { _ in },
        list: @escaping @Sendable (E) -> Condition<Table>?
    ) -> TableLanding {
        land(endpoint, in: store, by: reformer, reportFailure) { call in
            try list(call)?.checked().landedList
        }
    }

    @MainActor private func land<E: Endpoint>(
        _ endpoint: E.Type, in store: RecordStore, by reformer: some RowReformer & Sendable,
        _ reportFailure: @escaping @MainActor (any Error) -> Void,
        list: @escaping @Sendable (E) throws -> LandedList?
    ) -> TableLanding {
        let source = TableLanding.Source(
            endpoint: endpoint, drafts: { try reformer.drafts(in: $0, from: $1) },
            list: { call in try (call as? E).flatMap { try list($0) } },
            account: settings(of: E.Service.self).account)
        let landing = TableLanding(source, of: self, in: store, reportFailure)
        add(landing, for: endpoint)
        return landing
    }
}

extension Condition {
    fileprivate var landedList: LandedList {
        LandedList(layout: Table.columns.layout, condition: sql, arguments: arguments)
    }
}
