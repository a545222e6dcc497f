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
    let service: ObjectIdentifier
    let account: String?
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

extension HTTPField.Name {
    /// Whether the field belongs to one connection and not to the message (RFC 9110 §7.6.1, RFC 9112 §7).
    var isHopByHop: Bool {
        switch canonicalName {
        case "connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
            "proxy-authenticate", "proxy-authorization":
            true
        default: false
        }
    }
}

extension HTTPFields {
    /// The fields of the message alone: without those of the connection, and without those that `Connection` names.
    var endToEnd: HTTPFields {
        let named = Set(
            self[values: .connection].flatMap { $0.split(separator: ",") }.map {
                $0.filter { $0 != " " && $0 != "\t" }.lowercased()
            })
        return HTTPFields(filter { !$0.name.isHopByHop && !named.contains($0.name.canonicalName) })
    }
}
