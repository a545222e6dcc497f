public import HTTPTypes
public import Observation
import Synchronization

import struct Foundation.URL

/// Makes the calls of one endpoint for a controller. Holds the last response, and notifies the controller, which is its
/// delegate.
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
/// A call *lands* when the manager stores its response or error and notifies the delegate. A manager that is released
/// cancels its calls, which then do not land. A manager is `Observable`, so that a SwiftUI view can show its state.
@MainActor
public class APIManager<E: Endpoint>: APIManaging, Observable {
    /// The layer that sends the calls.
    public let network: NetworkLayer
    /// The policy for a second call while the first is in flight. The default is the endpoint's policy.
    public let overlap: OverlapPolicy
    // Every access of the weak references starts and ends in a getter or setter, so no run-time exclusivity check is
    // needed.

    /// The delegate, which is notified of responses and errors. It is referenced weakly, so retain it elsewhere.
    @exclusivity(unchecked) public weak var delegate: (any APIManagerDelegate)?
    /// Supplies the parameters of ``load(options:)``. It is referenced weakly, so retain it elsewhere.
    @exclusivity(unchecked) public weak var parameterSource: (any ParameterSource)?
    /// Checks parameters and responses in addition to the endpoint's own checks. It is referenced weakly, so retain it
    /// elsewhere.
    @exclusivity(unchecked) public weak var validator: (any Validator)?
    /// Intercepts the calls of this manager, after the layer's interceptors. It is referenced weakly, so retain it
    /// elsewhere.
    @exclusivity(unchecked) public weak var interceptor: (any Interceptor)?

    /// The response that was delivered last; `nil` if none was delivered since ``clear()``.
    public var rawData: RawData? { state.last.response?.rawData }
    /// The error of the call whose result was delivered last; `nil` if that call succeeded or no result was delivered.
    public var error: NetworkError? { state.last.landed?.error }
    /// The parameters of the call whose result was delivered last, successful or not; `nil` if no result was delivered.
    public var landedEndpoint: (any Endpoint)? { state.last.landed?.endpoint }
    /// The number of the call whose result was delivered last; `nil` if no result was delivered.
    public var landedFlight: FlightID? { state.last.landed?.flight.id }
    /// The record of the call whose result was delivered last, successful or not; see ``APIManaging/lastRecord``.
    public var lastRecord: FlightRecord? { state.last.landed?.record }
    /// The status and header fields of the response that was delivered last, or of the response that made the last call
    /// fail. In the second case ``error`` contains the body.
    public var response: HTTPResponse? { error == nil ? rawData?.response : error?.rawData?.response }
    /// Whether a call is in flight.
    public var isLoading: Bool { state.inFlightCount > 0 }
    /// Whether ``rawData`` is a stale response and the fresh response of the same call may still be delivered.
    public var isProvisional: Bool {
        // The count is read first, so that observers of this property are notified whenever a call starts or ends.
        guard state.inFlightCount > 0, let response = state.last.response else { return false }
        return state.machine.isInFlight(response.flight.id)
    }
    /// The endpoint type that the manager calls.
    public var endpointType: any Endpoint.Type { E.self }

    let state: ManagerState
    let tasks = FlightTasks()
    let waiters = LandingWaiters()
    /// Called for every call that ends without a delivered result. Used by code that makes calls through this manager.
    var onEndWithoutLanding: ((FlightID, FlightOutcome) -> Void)?
    /// The manager that makes its calls through this one; the app knows only that manager. Referenced weakly.
    @exclusivity(unchecked) weak var owner: (any APIManaging)?

    /// Creates a manager for the calls of one endpoint.
    ///
    /// - Parameters:
    ///   - network: The layer that sends the calls.
    ///   - delegate: Notified of responses and errors; referenced weakly.
    ///   - overlap: The policy for a second call while the first is in flight. The default, `nil`, is the endpoint's
    ///     policy.
    public init(on network: NetworkLayer, delegate: (any APIManagerDelegate)? = nil, overlap: OverlapPolicy? = nil) {
        self.network = network
        self.delegate = delegate
        self.overlap = overlap ?? E.overlap
        state = ManagerState(overlap: self.overlap)
    }

    /// The interceptors of a call in order: the interceptors of the layer for all calls, the interceptors of the layer
    /// for the endpoint, and the interceptor of the manager.
    var interceptors: [any Interceptor] {
        let shared = network.interceptors.all(of: E.self)
        return interceptor.map { shared + [$0] } ?? shared
    }

    /// The manager that the app created. If that manager makes its calls through this manager, it is ``owner``;
    /// otherwise it is this manager.
    var publicManager: any APIManaging { owner ?? self }

    /// Returns whether a call is in progress: its result was not delivered yet, and the call was not ended, for example
    /// by a hook.
    func isPending(_ flight: Flight) -> Bool { isPending(flight.id) }
    func isPending(_ flight: FlightID) -> Bool { state.machine.isPending(flight) }

    /// Returns the error of the manager's validator if the validator refuses a response; otherwise `nil`.
    func refusal(of rawData: RawData) -> NetworkError? {
        do {
            try validator?.apiManager(publicManager, validateResponse: rawData)
            return nil
        } catch {
            return .invalidResponse(in: .checking, rawData, error)
        }
    }

    func makeFlight(_ options: CallOptions) -> Flight {
        network.makeFlight(E.self, options, for: publicManager)
    }

    /// Sends the request of a call off the main actor, and returns the response to deliver.
    typealias Transfer = @Sendable (Request) async throws(NetworkError) -> RawData

    /// Returns the file that a call writes, or `nil` if it writes none.
    func destination(of endpoint: E) -> URL? { nil }

    /// Returns the transfer that performs a call, or `nil` if the call is not a transfer. The transfer must not retain
    /// the manager.
    func transfer(of endpoint: E, to file: URL?, in flight: Flight) throws(NetworkError) -> Transfer? { nil }

    /// Waits until the result of a call was delivered and the delegate was notified. Returns the response; see
    /// ``APIManaging/landing(of:)``.
    public func landing(of flight: FlightID) async throws(NetworkError) -> RawData {
        if isPending(flight) { return try await waiters.end(of: flight).get() }
        guard let landed = state.last.landed, landed.flight.id == flight else {
            throw .notLanded(flight, "it has ended, and nothing shows its landing")
        }
        return try landed.result.get()
    }

    /// Cancels one call. Its result is not delivered, and the call can't be resumed. Does nothing if the result was
    /// already delivered or the call belongs to another manager.
    public func cancel(_ flight: FlightID) {
        network.withdrawResumption(of: flight, by: self)
        end(flight, as: .cancelled)
    }

    /// Cancels every call whose result was not delivered yet.
    public func cancelAll() {
        network.withdrawResumption(by: self)
        for flight in state.machine.pending { end(flight, as: .cancelled) }
    }

    /// Removes the last response and the last error. Calls in flight continue.
    public func clear() {
        network.withdrawResumption(by: self)
        state.update { $0.clear() }
    }

    /// Ends a call without notifying the delegate, unless it has ended.
    func end(_ id: FlightID, as outcome: FlightOutcome) {
        guard let flight = state.update({ $0.end(id) }) else { return }
        close(flight, as: outcome)
    }

    /// Records the outcome of a call that ended without a delivered result, and cancels its task.
    func close(_ flight: Flight, as outcome: FlightOutcome) {
        // The outcome is recorded first, so the record ignores the error that the cancelled task throws.
        flight.finish(outcome)
        tasks.cancel(flight.id)
        waiters.ended(flight.id, as: outcome)
        onEndWithoutLanding?(flight.id, outcome)
    }
}

/// The observable state of a manager. Its machine decides each change.
///
/// It is a separate class because observation needs key paths. A key path into a generic class, like a manager, is
/// created at every use, which takes microseconds. Key paths into this class are constants.
@MainActor @Observable
final class ManagerState {
    // No method of the machine accesses this object, so no run-time exclusivity check is needed.
    @ObservationIgnored @exclusivity(unchecked) private(set) var machine: LandingMachine
    private(set) var inFlightCount = 0
    /// The results that the manager shows. They are a single value because observers are notified of each change, and
    /// each delivery is one change.
    private(set) var last = LastLanding()

    init(overlap: OverlapPolicy) { machine = LandingMachine(overlap: overlap) }

    /// Passes an event to the state machine, and notifies observers of changed values.
    func update<Action>(_ event: (inout LandingMachine) -> Action) -> Action {
        // The values of the machine are compared, because reading the observed properties costs as much as the event.
        let (former, formerCount) = (machine.last, machine.inFlightCount)
        let action = event(&machine)
        if machine.inFlightCount != formerCount { inFlightCount = machine.inFlightCount }
        if !machine.last.isSame(as: former) { last = machine.last }
        return action
    }
}

/// The tasks of a manager's calls in flight. They are cancelled when the manager is released, on any thread.
final class FlightTasks: Sendable {
    /// Guards the tasks of calls whose results were not delivered yet.
    private let tasks = Mutex<[FlightID: Task<Void, Never>]>([:])

    deinit {
        tasks.withLock { tasks in
            for task in tasks.values { task.cancel() }
        }
    }

    func insert(_ task: Task<Void, Never>, for id: FlightID) {
        tasks.withLock { $0[id] = task }
    }

    func remove(_ id: FlightID) {
        tasks.withLock { _ = $0.removeValue(forKey: id) }
    }

    func cancel(_ id: FlightID) {
        tasks.withLock { $0.removeValue(forKey: id) }?.cancel()
    }
}
