/// Acts on calls before and after their start, their success and their failure.
///
/// Set an interceptor on one manager (``APIManager/interceptor``), or add it to the layer: for every call of an
/// endpoint (``NetworkLayer/add(_:for:)``), or for all calls of the layer (``NetworkLayer/add(_:)``). Interceptors for
/// all calls come first, then those for the endpoint, then the manager's. An interceptor is referenced weakly and
/// called on the main actor.
///
/// Every hook has a default that changes nothing. Once a call is cancelled or replaced, no further hook runs for it,
/// even if an earlier interceptor's hook cancelled it. Each hook receives the call that it concerns, because the
/// manager may already hold a later call's response. No hook has the name of a method of ``APIManagerDelegate``, so a
/// delegate can also be its manager's interceptor.
///
/// A call may deliver two responses: a stale one, and then the fresh one. In this case ``beforeLanding(_:of:by:)`` and
/// the hooks for a success are called for both; ``RawData/source`` distinguishes them. A veto of the stale response
/// removes only that response. For a fresh response with the same body, only ``beforeLanding(_:of:by:)`` is called.
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
/// The layer's interceptors are called for calls of managers and of ``NetworkLayer/call(_:options:)``, streams,
/// transfers, prefetches, and calls that renew a token. They are not called for requests without an endpoint
/// (``NetworkLayer/exchange(_:with:options:)``) and for revalidations that no call waits for.
///
/// The hooks receive the manager that the app created; for a list, this is its ``PagedAPIManager``. For a call without
/// a manager they receive `nil`. The hooks for the success and the failure of such a call run before the call returns
/// or throws. If a hook vetoes the call, its response or its failure, the call throws ``NetworkError/Kind/cancelled``.
///
/// For a stream, the hooks receive the status and header fields with an empty body. For a transfer that
/// `BackgroundTransfers` hands over to the system, the hooks before and after the start are called, and the hooks for a
/// failure if the transfer can't be handed over. The end of such a transfer calls no hook, because it may occur in
/// another launch of the app.
///
/// To act on every request of the layer, or on the requests as they are sent, write a ``RequestStage``.
@MainActor
public protocol Interceptor: AnyObject, Sendable {
    /// Called before a call starts, and before its parameters are checked.
    ///
    /// - Parameters:
    ///   - endpoint: The parameters of the call. The hook may change their values, but not their type. If the type
    ///     changes, the call fails as ``NetworkError/Kind/invalidParameters``.
    ///   - flight: The number of the call.
    ///   - manager: The manager that makes the call; `nil` if the call has no manager.
    /// - Returns: Whether the call may start. If `false`, no further hook runs for the call, nothing is sent, and no
    ///   result is delivered.
    func beforeCall(to endpoint: inout any Endpoint, as flight: FlightID, by manager: (any APIManaging)?) -> Bool
    /// Called after a call has started. The request may already have been sent, or the response may come from the
    /// cache.
    func afterCall(_ call: InterceptedCall, by manager: (any APIManaging)?)
    /// Called when a call that has started completes, before its response or error is delivered.
    func beforeLanding(
        _ result: Result<RawData, NetworkError>, of call: InterceptedCall, by manager: (any APIManaging)?)
    /// Called before a response is delivered.
    ///
    /// - Returns: Whether the response may be delivered. If `false`, the manager's state does not change and its
    ///   delegate is not notified.
    func beforeSuccess(_ rawData: RawData, of call: InterceptedCall, by manager: (any APIManaging)?) -> Bool
    /// Called after the delegate was notified of a success.
    ///
    /// - Parameters:
    ///   - rawData: The response to this call.
    ///   - call: The call that succeeded.
    ///   - manager: The manager; `nil` if the call has no manager. It may already hold the response to a later call.
    func afterSuccess(_ rawData: RawData, of call: InterceptedCall, by manager: (any APIManaging)?)
    /// Called before the error of a failed call is delivered.
    ///
    /// - Returns: Whether the error may be delivered. If `false`, the manager's state does not change and its delegate
    ///   is not notified.
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
    /// The account that was signed in when the call was made; `nil` if no account was signed in.
    package let account: String?

    init(_ flight: Flight, _ endpoint: (any Endpoint)?) {
        (self.flight, self.endpoint, account) = (flight.id, endpoint, flight.account)
    }
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
    /// Returns `true`, so the response is delivered: the default implementation.
    public func beforeSuccess(_ rawData: RawData, of call: InterceptedCall, by manager: (any APIManaging)?) -> Bool {
        true
    }
    /// Does nothing: the default implementation.
    public func afterSuccess(_ rawData: RawData, of call: InterceptedCall, by manager: (any APIManaging)?) {}
    /// Returns `true`, so the error is delivered: the default implementation.
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
