/// Names stored responses that a change makes wrong; see ``Endpoint/invalidates``.
///
/// ```swift
/// struct PriceChange: Endpoint {
///     static let service = Estate.self
///     static let method = HTTPRequest.Method.put
///     var path: EndpointPath { "homes/\(id)/price" }
///     @Unencoded var id: Int
///     var price: Int
///     var invalidates: [CacheInvalidation] { [.endpoint(HomesNearby.self), .call(HomeDetails(id: id))] }
/// }
/// ```
public struct CacheInvalidation: Sendable {
    /// What is named.
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

    /// All responses of an endpoint, whatever its parameters and whoever they are for.
    ///
    /// Responses stored by ``CachePolicy/http(onDisk:)`` belong to targets and not to endpoints, so that those of the
    /// whole service are removed with them.
    public static func endpoint<E: Endpoint>(_ endpoint: E.Type) -> CacheInvalidation {
        CacheInvalidation(subject: .endpoint(endpoint))
    }

    /// The response of one call, in the environment and for the account of the change; under
    /// ``CachePolicy/http(onDisk:)`` all responses of its target.
    ///
    /// The call is completed as if it was made, and passes no interceptor: if one changes the parameters of the
    /// endpoint, name the whole endpoint. If no request can be made of it, all responses of its endpoint are removed.
    public static func call<E: Endpoint>(_ endpoint: E) -> CacheInvalidation {
        CacheInvalidation(subject: .call(endpoint))
    }
}
