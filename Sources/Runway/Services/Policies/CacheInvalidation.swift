/// Identifies stored responses that a call makes outdated because it changes data; see ``Endpoint/invalidates``.
///
/// ```swift
/// struct PriceChange: Endpoint {
///     static let service = Estate.self
///     static let method = HTTPRequest.Method.put
///     var path: EndpointPath { "homes/\(id)/price" }
///
///     @Unencoded var id: Int
///     var price: Int
///     var invalidates: [CacheInvalidation] { [.endpoint(HomesNearby.self), .call(HomeDetails(id: id))] }
/// }
/// ```
public struct CacheInvalidation: Sendable {
    /// The responses to remove.
    enum Subject: Sendable {
        case service(any APIService.Type)
        case endpoint(any Endpoint.Type)
        case call(any Endpoint)
    }

    let subject: Subject

    /// All responses of a service, in every environment and for every account.
    public static func service<Service: APIService>(_ service: Service.Type) -> CacheInvalidation {
        CacheInvalidation(subject: .service(service))
    }

    /// All responses of an endpoint, for all parameters and accounts.
    ///
    /// Responses stored by ``CachePolicy/http(onDisk:)`` belong to targets, not to endpoints. For these, all responses
    /// of the service are removed.
    public static func endpoint<E: Endpoint>(_ endpoint: E.Type) -> CacheInvalidation {
        CacheInvalidation(subject: .endpoint(endpoint))
    }

    /// The response of one call, in the environment and for the account of the invalidating call. Under
    /// ``CachePolicy/http(onDisk:)``, these are all responses of the call's target.
    ///
    /// The call's parameters are completed as usual, but interceptors are not called. If an interceptor changes the
    /// endpoint's parameters, use ``endpoint(_:)`` instead. If no request can be created for the call, all responses of
    /// its endpoint are removed.
    public static func call<E: Endpoint>(_ endpoint: E) -> CacheInvalidation {
        CacheInvalidation(subject: .call(endpoint))
    }
}
