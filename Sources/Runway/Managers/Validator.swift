/// Checks the parameters and the answers of a manager, beside the endpoint's own checks and after them.
///
/// The manager holds it weakly and calls it on the main actor.
@MainActor
public protocol Validator: AnyObject {
    /// Checks the parameters of a call, after interceptors changed them. The default accepts all.
    ///
    /// - Throws: What is wrong; the call fails as ``NetworkError/Kind/invalidParameters`` and nothing is sent. A `NetworkError` is thrown on
    ///   as it is; see ``NetworkError/detail`` for what records show of other errors.
    func apiManager(_ manager: any APIManaging, validate endpoint: any Endpoint) throws
    /// Checks an answer that the service and the endpoint accepted. The default accepts all.
    ///
    /// - Throws: What is wrong; the call fails as ``NetworkError/Kind/invalidResponse``. A `NetworkError` is thrown on as it is; see
    ///   ``NetworkError/detail`` for what records show of other errors.
    func apiManager(_ manager: any APIManaging, validateResponse rawData: RawData) throws
}

extension Validator {
    /// Accepts all.
    public func apiManager(_ manager: any APIManaging, validate endpoint: any Endpoint) {}
    /// Accepts all.
    public func apiManager(_ manager: any APIManaging, validateResponse rawData: RawData) {}
}
