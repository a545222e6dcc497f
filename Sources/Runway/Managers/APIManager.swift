public import HTTPTypes
public import Observation

import struct Foundation.URL

/// Makes the calls of one API for a controller, holds the last response, and notifies the controller as its delegate.
///
/// ```swift
/// @MainActor final class ListController: APIManagerDelegate {
///     lazy var rentals = APIManager<RentalList>(on: network, delegate: self)
///     func filter(city: String) { rentals.load(RentalList(city: city)) }
///
///     func apiManagerDidSucceed(_ manager: any APIManaging) {
///         do { list.show(try manager.fetch(PropertyListReformer())) } catch { show(error) }
///     }
///     func apiManager(_ manager: any APIManaging, didFailWith error: NetworkError) { show(error) }
/// }
/// ```
///
/// A manager that is released cancels its calls: nothing lands. It is `Observable`, so that a SwiftUI view can show its
/// state.
@MainActor
public class APIManager<E: Endpoint>: APIManaging, Observable {
    /// The layer that carries the calls.
    public let network: NetworkLayer
    /// The policy for a second call while the first is in flight. The default is the endpoint's.
    public let overlap: OverlapPolicy
    // Every access of the weak references starts and ends in a getter or setter: no run-time exclusivity check is needed.

    /// Notified of landings. Held weakly: keep a reference to it.
    @exclusivity(unchecked) public weak var delegate: (any APIManagerDelegate)?
    /// Supplies the parameters of ``load(options:)``. Held weakly: keep a reference to it.
    @exclusivity(unchecked) public weak var parameterSource: (any ParameterSource)?
    /// Checks parameters and responses in addition to the endpoint's own checks. Held weakly: keep a reference to it.
    @exclusivity(unchecked) public weak var validator: (any Validator)?
    /// Acts on the calls of this manager, after the layer's interceptors. Held weakly: keep a reference to it.
    @exclusivity(unchecked) public weak var interceptor: (any Interceptor)?

    /// The response that landed last and was not cleared.
    public var rawData: RawData? { state.last.response?.rawData }
    /// The error of the call that landed last; `nil` if it succeeded.
    public var error: NetworkError? { state.last.landed?.error }
    /// The parameters of the call that landed last, successfully or not.
    public var landedEndpoint: (any Endpoint)? { state.last.landed?.endpoint }
    /// The number of the call that landed last.
    public var landedFlight: FlightID? { state.last.landed?.flight.id }
    /// The record of the call that landed last, successfully or not; see ``APIManaging/lastRecord``.
    public var lastRecord: FlightRecord? { state.last.landed?.record }
    /// The head of the response that landed last, or of the response that made the last call fail; the body of the
    /// latter is in the error.
    public var response: HTTPResponse? { error == nil ? rawData?.response : error?.rawData?.response }
    /// Whether a call is in flight.
    public var isLoading: Bool { state.inFlightCount > 0 }
    /// Whether the response in ``rawData`` is a stale one, after which the fresh one of the same call may land.
    public var isProvisional: Bool {
        // The count is read first, so that observers of this property are notified of every start and landing.
        guard state.inFlightCount > 0, let response = state.last.response else { return false }
        return state.machine.isInFlight(response.flight.id)
    }
    /// The endpoint that the manager calls.
    public var endpointType: any Endpoint.Type { E.self }

    let state: ManagerState
    let tasks = FlightTasks()
    let waiters = LandingWaiters()
    /// Called for every call that ends without landing; for code that makes calls through this manager.
    var onEndWithoutLanding: ((FlightID, FlightOutcome) -> Void)?
    /// The manager that makes its calls through this one, and that the app knows instead of this one. Held weakly.
    @exclusivity(unchecked) weak var owner: (any APIManaging)?

    /// Connects a controller with one API of a layer.
    ///
    /// - Parameters:
    ///   - network: The layer that carries the calls.
    ///   - delegate: Notified of landings; held weakly.
    ///   - overlap: The policy for a second call while the first is in flight. The default, `nil`, is the endpoint's
    ///     policy.
    public init(on network: NetworkLayer, delegate: (any APIManagerDelegate)? = nil, overlap: OverlapPolicy? = nil) {
        self.network = network
        self.delegate = delegate
        self.overlap = overlap ?? E.overlap
        state = ManagerState(overlap: self.overlap)
    }

    /// Creates the flight of a call.
    func makeFlight(_ options: CallOptions) -> Flight {
        network.makeFlight(E.self, options, for: publicManager)
    }

    /// Sends the request of a call off the main actor, and returns the response that lands.
    typealias Transfer = @Sendable (Request) async throws(NetworkError) -> RawData

    /// Returns the file that a call writes; `nil` if it writes none.
    func destination(of endpoint: E) -> URL? { nil }

    /// Returns the transfer that performs a call; `nil` for a call that is not a transfer. It must not retain the
    /// manager.
    func transfer(of endpoint: E, to file: URL?, in flight: Flight) throws(NetworkError) -> Transfer? { nil }

    /// Waits until a call has landed and the delegate was notified, and returns its response; see
    /// ``APIManaging/landing(of:)``.
    public func landing(of flight: FlightID) async throws(NetworkError) -> RawData {
        if isPending(flight) { return try await waiters.end(of: flight).get() }
        guard let landed = state.last.landed, landed.flight.id == flight else {
            throw .notLanded(flight, "it has ended, and nothing shows its landing")
        }
        return try landed.result.get()
    }

    /// Cancels one call: it does not land, and can't be resumed. Does nothing for a call that has landed, or that
    /// belongs to another manager.
    public func cancel(_ flight: FlightID) {
        network.withdrawResumption(of: flight, by: self)
        end(flight, as: .cancelled)
    }

    /// Cancels every call that has not landed.
    public func cancelAll() {
        network.withdrawResumption(by: self)
        for flight in state.machine.pending { end(flight, as: .cancelled) }
    }

    /// Removes the response and the error that landed last. Calls in flight continue.
    public func clear() {
        network.withdrawResumption(by: self)
        state.update { $0.clear() }
    }

    /// Ends a call, if it has not ended, without notifying the delegate.
    func end(_ id: FlightID, as outcome: FlightOutcome) {
        guard let flight = state.update({ $0.end(id) }) else { return }
        close(flight, as: outcome)
    }

    /// Records the outcome of a call that ended without landing, and cancels its task.
    func close(_ flight: Flight, as outcome: FlightOutcome) {
        // The outcome is recorded first: the record does not take the error that the cancelled task throws.
        flight.finish(outcome)
        tasks.cancel(flight.id)
        waiters.ended(flight.id, as: outcome)
        onEndWithoutLanding?(flight.id, outcome)
    }
}
