import HTTPTypes

/// Where merged requests of a service go: what a server is asked about once.
struct MergeRoute: Hashable, Sendable {
    let origin: Origin
    let environment: ServiceEnvironment
    /// The path of the route, from the root of the origin.
    let path: String
}

/// What has to be the same for two requests to leave as one.
struct MergeLane: Hashable, Sendable {
    /// The session of the account, so that calls before and after a sign-out never share an envelope.
    let session: AccountSession
    let route: MergeRoute
}

/// Stands for the endpoint of a flight that carries the requests of several calls.
struct MergedRequests<Service: APIService>: Endpoint {
    static var service: Service.Type { Service.self }
    static var name: String { "merged requests" }
    static var method: HTTPRequest.Method { .post }
    static var isMergeable: Bool { false }
    var path: EndpointPath { "" }
}
