/// A GET of one path of a service, for calls without their own endpoint type.
///
/// ```swift
/// let repository = try await network.call(GitHub.get("repos/apple/swift-nio"))
/// let issues = try await network.call(GitHub.get("repos/apple/swift-nio/issues", ["state": "closed", "page": 2]))
/// ```
///
/// It behaves like an ``Endpoint`` with all defaults, so nothing is cached. In a service with
/// ``APIService/credentials`` it carries the access token. Use ``CallOptions/authorization`` to read a public path
/// without a login.
///
/// Failures that open a circuit count by path, without the query. Records, metrics and reports show the same name for
/// all of these calls of a service. Write a separate endpoint type for an API that your app depends on.
public struct GetEndpoint<Service: APIService>: Endpoint, EndpointOfManyPaths {
    /// The service that the path belongs to.
    public static var service: Service.Type { Service.self }
    /// The name in records: `GET` and the name of the service.
    public static var name: String { "GET \(Service.name)" }

    /// The path relative to the service's base URL.
    @Unencoded public var path: EndpointPath
    /// The parameters in the query.
    @Unencoded public var parameters: Parameters
}

/// An endpoint type for many paths. Circuit breakers treat each path as a separate endpoint.
protocol EndpointOfManyPaths: Endpoint {}

extension APIService {
    /// Returns an endpoint for a GET of a path relative to the service's base URL.
    ///
    /// - Parameters:
    ///   - path: The path. Interpolated values in its literal are escaped.
    ///   - parameters: The parameters in the query. The default is empty.
    public static func get(_ path: EndpointPath, _ parameters: Parameters = [:]) -> GetEndpoint<Self> {
        GetEndpoint(path: path, parameters: parameters)
    }
}
