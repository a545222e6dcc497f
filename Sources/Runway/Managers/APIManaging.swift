public import HTTPTypes

/// Any ``APIManager``, whatever its endpoint: what a delegate that serves several of them is given.
///
/// Tell managers apart by identity: `if manager === rentals { … }`.
@MainActor
public protocol APIManaging: AnyObject, Sendable {
    /// The endpoint that the manager calls.
    var endpointType: any Endpoint.Type { get }
    /// Whether a call flies.
    var isLoading: Bool { get }
    /// Whether the answer in ``rawData`` is a stale one, after which the fresh one of the same call may land.
    var isProvisional: Bool { get }
    /// The answer that landed last and was not cleared.
    var rawData: RawData? { get }
    /// The head of the answer that landed last, also of one that was refused; its body is in the error then.
    var response: HTTPResponse? { get }
    /// The error of the call that landed last; `nil` if it succeeded.
    var error: NetworkError? { get }
    /// The call that landed last, successfully or not, with its parameters.
    var landedEndpoint: (any Endpoint)? { get }
    /// The number of the call that landed last.
    var landedFlight: FlightID? { get }

    /// Makes a call with the parameters that the manager's source gives.
    @discardableResult func load(options: CallOptions) -> FlightID
    /// Cancels one call; it lands nowhere.
    func cancel(_ flight: FlightID)
    /// Cancels every call that flies.
    func cancelAll()
    /// Forgets the answer and the error that landed last.
    func clear()
    /// Lets a reformer make what a view shows from the answer that landed last, here and now.
    func fetch<R: Reformer>(_ reformer: R) throws(NetworkError) -> R.Value
    /// Lets a reformer make what a view shows from the answer that landed last, off the main actor.
    func fetchConcurrently<R: Reformer & Sendable>(
        _ reformer: R
    ) async throws(NetworkError) -> R.Value where R.Value: Sendable
}

extension APIManaging {
    /// Makes a call with the parameters that the manager's source gives, and nothing that differs from what its endpoint says.
    @discardableResult public func load() -> FlightID { load(options: .standard) }
}

/// Where the calls of a manager land.
///
/// The manager holds it weakly and tells it on the main actor, once for every call that lands, in a turn after `load` returned. It is
/// not told of a call that the manager cancelled, replaced or ignored, that an interceptor vetoed, or that the service absorbed.
///
/// Where the cache policy has ``CachePolicy/staleWhileRevalidate``, a call may land twice: first with a stale answer, whose
/// ``RawData/source`` is ``ResponseSource/staleCache`` and during which ``APIManaging/isProvisional`` holds, then with the fresh one or
/// with the failure to get it. A fresh answer of the same bytes is no second landing: it takes the stale one's place silently.
@MainActor
public protocol APIManagerDelegate: AnyObject {
    /// A call landed; its answer is in the manager.
    func apiManagerDidSucceed(_ manager: any APIManaging)
    /// A call failed.
    func apiManager(_ manager: any APIManaging, didFailWith error: NetworkError)
}
