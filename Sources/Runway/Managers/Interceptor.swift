/// Acts on the calls of one API, around the business code: before and after start, success and failure.
///
/// Set an interceptor on one manager (``APIManager/interceptor``). Or add it to the layer, for every call of an
/// endpoint (``NetworkLayer/add(_:for:)``) or for all calls of the layer (``NetworkLayer/add(_:)``). Interceptors for
/// all calls come first, then those for the endpoint, then the manager's. An interceptor is held weakly and called on
/// the main actor.
///
/// Every hook has a default that changes nothing. Once a call is cancelled or replaced, no further hook runs for it,
/// even if an earlier interceptor's hook cancelled it. Each hook receives its call as a parameter, because the manager
/// may already have the response of a later call. No hook has the name of a method of ``APIManagerDelegate``, so a
/// delegate may also be the interceptor of its manager.
///
/// A call may land twice, with a stale response and then with the fresh one. The hooks of completion and of success
/// then run for both responses, which differ in ``RawData/source``. A veto of the stale response removes only that
/// response. For a fresh response with the same body, only the hook of completion runs.
///
/// ```swift
/// final class CityInterceptor: Interceptor {
///     func beforeCall(to endpoint: inout any Endpoint, as flight: FlightID, by manager: (any APIManaging)?) -> Bool {
///         if var list = endpoint as? RentalList {
///             list.city = list.city.lowercased()
///             endpoint = list
///         }
///
///         return true
///     }
/// }
/// ```
///
/// The layer's interceptors see the calls of managers and of ``NetworkLayer/call(_:options:)``, streams, transfers,
/// prefetches, and calls that renew a token. They do not see requests without an endpoint
/// (``NetworkLayer/exchange(_:with:options:)``), or a revalidation that no call waits for.
///
/// The parameter `manager` is the manager that the app created: for a list, its ``PagedAPIManager``. It is `nil` for a
/// call without a manager. The hooks of success and failure of such a call run before it returns or throws. If a hook
/// vetoes the call, its response or its failure, the call throws ``NetworkError/Kind/cancelled``.
///
/// The response of a stream is its head, with an empty body. For a transfer that `BackgroundTransfers` hands over to
/// the system, the hooks before and after its start run. If it can't be handed over, the hooks of a failure run, too.
/// The end of the transfer may occur in another launch of the app, and no hook runs for it.
///
/// To act on every request of the layer, or on the wire, write a ``RequestStage``.
@MainActor
public protocol Interceptor: AnyObject, Sendable {
    /// Called before a call starts, and before its parameters are checked.
    ///
    /// - Parameters:
    ///   - endpoint: The parameters of the call. They may be changed, but not their type: the call would fail as
    ///     ``NetworkError/Kind/invalidParameters``.
    ///   - flight: The number of the call.
    ///   - manager: The manager that makes the call; `nil` if the call has no manager.
    /// - Returns: Whether the call may start. If `false`, no further hook runs for the call, nothing is sent, and the
    ///   call does not land.
    func beforeCall(to endpoint: inout any Endpoint, as flight: FlightID, by manager: (any APIManaging)?) -> Bool
    /// Called after a call has started. The request may already have been sent, and the response of a call may come
    /// from the cache.
    func afterCall(_ call: InterceptedCall, by manager: (any APIManaging)?)
    /// Called when a call that has started completes, before its success or failure lands.
    func beforeLanding(
        _ result: Result<RawData, NetworkError>, of call: InterceptedCall, by manager: (any APIManaging)?)
    /// Called before a success lands.
    ///
    /// - Returns: Whether the success may land. If `false`, the manager's state does not change and its delegate is not
    ///   notified.
    func beforeSuccess(_ rawData: RawData, of call: InterceptedCall, by manager: (any APIManaging)?) -> Bool
    /// Called after the delegate was notified of a success.
    ///
    /// - Parameters:
    ///   - rawData: The response to this call.
    ///   - call: The call that succeeded.
    ///   - manager: The manager; `nil` if the call has no manager. It may already hold the response to a later call.
    func afterSuccess(_ rawData: RawData, of call: InterceptedCall, by manager: (any APIManaging)?)
    /// Called before a failure lands.
    ///
    /// - Returns: Whether the failure may land. If `false`, the manager's state does not change and its delegate is not
    ///   notified.
    func beforeFailure(_ error: NetworkError, of call: InterceptedCall, by manager: (any APIManaging)?) -> Bool
    /// Called after the delegate was notified of a failure.
    func afterFailure(_ error: NetworkError, of call: InterceptedCall, by manager: (any APIManaging)?)
}

/// One call, as passed to its interceptors.
public struct InterceptedCall: Sendable {
    /// The number of the call.
    public let flight: FlightID
    /// The endpoint of the call, including changes by interceptors. `nil` if the call failed because no parameters were
    /// supplied.
    public let endpoint: (any Endpoint)?
}

extension Interceptor {
    /// Returns `true`, so the call starts unchanged: the default implementation.
    public func beforeCall(to endpoint: inout any Endpoint, as flight: FlightID, by manager: (any APIManaging)?) -> Bool
    {
        true
    }
    /// Does nothing: the default implementation.
    public func afterCall(_ call: InterceptedCall, by manager: (any APIManaging)?) {}
    /// Does nothing: the default implementation.
    public func beforeLanding(
        _ result: Result<RawData, NetworkError>, of call: InterceptedCall, by manager: (any APIManaging)?
    ) {}
    /// Returns `true`, so the success lands: the default implementation.
    public func beforeSuccess(_ rawData: RawData, of call: InterceptedCall, by manager: (any APIManaging)?) -> Bool {
        true
    }
    /// Does nothing: the default implementation.
    public func afterSuccess(_ rawData: RawData, of call: InterceptedCall, by manager: (any APIManaging)?) {}
    /// Returns `true`, so the failure lands: the default implementation.
    public func beforeFailure(_ error: NetworkError, of call: InterceptedCall, by manager: (any APIManaging)?) -> Bool {
        true
    }
    /// Does nothing: the default implementation.
    public func afterFailure(_ error: NetworkError, of call: InterceptedCall, by manager: (any APIManaging)?) {}
}

extension Endpoint {
    /// Passes the endpoint to interceptors, which may change the parameters.
    ///
    /// - Returns: `false` if an interceptor vetoed the call.
    @MainActor
    mutating func intercept(
        _ interceptors: [any Interceptor], as flight: FlightID, by manager: (any APIManaging)?
    ) throws(NetworkError) -> Bool {
        if interceptors.isEmpty { return true }
        var candidate: any Endpoint = self
        for interceptor in interceptors {
            guard interceptor.beforeCall(to: &candidate, as: flight, by: manager) else { return false }
        }
        guard let changed = candidate as? Self else {
            throw NetworkError(
                .invalidParameters, in: .preparing,
                "An interceptor changed the \(Self.self) into a \(type(of: candidate)).")
        }
        self = changed
        return true
    }
}
