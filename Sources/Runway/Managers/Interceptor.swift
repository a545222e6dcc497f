/// Acts on the calls of one API, around the business code: before and after take-off, success and failure.
///
/// It is given to one manager (``APIManager/interceptor``), or to the layer for every manager of an endpoint
/// (``NetworkLayer/add(_:for:)``), whose interceptors come first. It is held weakly and called on the main actor. Every hook has a
/// default that changes nothing. A call that the manager cancelled or replaced passes no further hook.
///
/// A call that lands twice, with a stale answer and then with the fresh one, passes the hooks of coming back and of success for both;
/// ``RawData/source`` says which it is. A veto of the stale answer takes back that one alone. A fresh answer of the same bytes is
/// received, and passes no further hook.
///
/// To act on every request of the layer, or on the wire, write a ``RequestStage``.
@MainActor
public protocol Interceptor: AnyObject {
    /// Called before a call takes off, and before its parameters are checked.
    ///
    /// - Parameters:
    ///   - manager: The manager that was asked for the call.
    ///   - endpoint: The call, which may be changed; if its type is changed, the call fails as
    ///     ``NetworkError/Kind/invalidParameters``.
    /// - Returns: Whether the call may take off. If not it has no further hook and no landing.
    func apiManager(_ manager: any APIManaging, shouldCall endpoint: inout any Endpoint) -> Bool
    /// Called after a call took off.
    func apiManager(_ manager: any APIManaging, didTakeOff flight: FlightID)
    /// Called when a call that took off comes back, whatever it brings.
    func apiManager(_ manager: any APIManaging, didReceive result: Result<RawData, NetworkError>)
    /// Called before a success lands.
    ///
    /// - Returns: Whether it may. If not the manager keeps what it had, and its delegate is not told.
    func apiManager(_ manager: any APIManaging, shouldSucceedWith rawData: RawData) -> Bool
    /// Called after the delegate was told of a success.
    func apiManagerDidSucceed(_ manager: any APIManaging)
    /// Called before a failure lands.
    ///
    /// - Returns: Whether it may. If not the manager keeps what it had, and its delegate is not told.
    func apiManager(_ manager: any APIManaging, shouldFailWith error: NetworkError) -> Bool
    /// Called after the delegate was told of a failure.
    func apiManager(_ manager: any APIManaging, didFailWith error: NetworkError)
}

extension Interceptor {
    /// Lets the call take off as it is.
    public func apiManager(_ manager: any APIManaging, shouldCall endpoint: inout any Endpoint) -> Bool { true }
    /// Does nothing.
    public func apiManager(_ manager: any APIManaging, didTakeOff flight: FlightID) {}
    /// Does nothing.
    public func apiManager(_ manager: any APIManaging, didReceive result: Result<RawData, NetworkError>) {}
    /// Lets the success land.
    public func apiManager(_ manager: any APIManaging, shouldSucceedWith rawData: RawData) -> Bool { true }
    /// Does nothing.
    public func apiManagerDidSucceed(_ manager: any APIManaging) {}
    /// Lets the failure land.
    public func apiManager(_ manager: any APIManaging, shouldFailWith error: NetworkError) -> Bool { true }
    /// Does nothing.
    public func apiManager(_ manager: any APIManaging, didFailWith error: NetworkError) {}
}

/// An interceptor that the layer does not keep alive.
struct WeakInterceptor {
    weak var interceptor: (any Interceptor)?
}

extension NetworkLayer {
    /// Adds an interceptor for every manager of an endpoint. It is held weakly; interceptors are called in the order of their adding.
    @MainActor
    public func add<E: Endpoint>(_ interceptor: any Interceptor, for endpoint: E.Type) {
        let key = ObjectIdentifier(endpoint)
        interceptors[key, default: []].removeAll { $0.interceptor == nil }
        interceptors[key, default: []].append(WeakInterceptor(interceptor: interceptor))
    }

    /// Removes an interceptor from every manager of an endpoint.
    @MainActor
    public func remove<E: Endpoint>(_ interceptor: any Interceptor, for endpoint: E.Type) {
        interceptors[ObjectIdentifier(endpoint)]?.removeAll { $0.interceptor == nil || $0.interceptor === interceptor }
    }
}
