public import HTTPTypes
public import Observation

/// The object that a controller holds for one API: it makes the calls, keeps the last answer, and tells its delegate.
///
/// ```swift
/// @MainActor final class ListController: APIManagerDelegate {
///     lazy var rentals = APIManager<RentalList>(on: network, delegate: self)
///     func filter(city: String) { rentals.load(RentalList(city: city)) }
///     func apiManagerDidSucceed(_ manager: any APIManaging) {
///         do { list.show(try manager.fetch(PropertyListReformer())) } catch { show(error) }
///     }
///     func apiManager(_ manager: any APIManaging, didFailWith error: NetworkError) { show(error) }
/// }
/// ```
///
/// A manager that is released cancels its flights: nothing lands. It is `Observable`, so that a SwiftUI view can show its state.
@MainActor
public final class APIManager<E: Endpoint>: APIManaging, Observable {
    /// The layer that carries the calls.
    public let network: NetworkLayer
    /// What a second call does while the first flies. The default is the endpoint's.
    public let overlap: OverlapPolicy
    /// Where calls land. Held weakly: keep it alive yourself.
    public weak var delegate: (any APIManagerDelegate)?
    /// Gives the parameters of ``load(options:)``. Held weakly: keep it alive yourself.
    public weak var parameterSource: (any ParameterSource)?
    /// Checks parameters and answers beside the endpoint's own checks. Held weakly: keep it alive yourself.
    public weak var validator: (any Validator)?
    /// Acts on the calls of this manager, after the layer's interceptors for the endpoint.
    /// Held weakly: keep it alive yourself.
    public weak var interceptor: (any Interceptor)?

    /// The answer that landed last and was not cleared.
    public var rawData: RawData? { state.last.answer?.rawData }
    /// The error of the call that landed last; `nil` if it succeeded.
    public var error: NetworkError? { state.last.error }
    /// The call that landed last, successfully or not, with its parameters.
    public var landedEndpoint: (any Endpoint)? { state.last.landed?.endpoint }
    /// The number of the call that landed last.
    public var landedFlight: FlightID? { state.last.landed?.flight.id }
    /// The head of the answer that landed last, also of one that was refused; its body is in the error then.
    public var response: HTTPResponse? { error == nil ? rawData?.response : error?.rawData?.response }
    /// Whether a call flies.
    public var isLoading: Bool { state.flyingCount > 0 }
    /// Whether the answer in ``rawData`` is a stale one, after which the fresh one of the same call may land.
    public var isProvisional: Bool {
        // Asked first, so that whoever watches this is told of every take-off and landing.
        guard state.flyingCount > 0, let answer = state.last.answer else { return false }
        return state.flights[answer.flight.id]?.phase == .flying
    }
    /// The endpoint that the manager calls.
    public var endpointType: any Endpoint.Type { E.self }

    let state = ManagerState()
    let box = FlightBox()
    /// Told of every call that ends without a landing; for code that makes calls through this manager.
    var onEndWithoutLanding: ((FlightID) -> Void)?
    /// The manager that makes its calls through this one, and that the app knows in its place. Held weakly.
    weak var owner: (any APIManaging)?

    /// Makes a manager.
    ///
    /// - Parameters:
    ///   - network: The layer that carries the calls.
    ///   - delegate: Where they land; held weakly.
    ///   - overlap: What a second call does while the first flies. The default, `nil`, is the endpoint's policy.
    public init(on network: NetworkLayer, delegate: (any APIManagerDelegate)? = nil, overlap: OverlapPolicy? = nil) {
        self.network = network
        self.delegate = delegate
        self.overlap = overlap ?? E.overlap
    }

    /// Cancels one call: it lands nowhere. A call that has landed, or is of another manager, is left alone.
    public func cancel(_ flight: FlightID) {
        end(flight, as: .cancelled)
    }

    /// Cancels every call that has not landed.
    public func cancelAll() {
        for flight in state.flights.keys.sorted() { end(flight, as: .cancelled) }
    }

    /// Forgets the answer and the error that landed last. Calls that fly are left alone.
    public func clear() {
        state.last = LastLanding()
    }

    /// Ends a call that has not landed, without telling the delegate.
    func end(_ id: FlightID, as outcome: FlightOutcome) {
        guard let running = state.remove(id) else { return }
        // The outcome is written first, so that what the cancelled task throws finds the record closed.
        running.flight.finish(outcome)
        box.cancel(id)
        state.goBack(from: id)
        onEndWithoutLanding?(id)
    }
}
