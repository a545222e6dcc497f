public import HTTPTypes
public import Runway
import RunwayJSON

extension Command {
    /// Declares a command with which a page calls any path of a service below the given prefixes.
    ///
    /// The request has the app's credentials. So a page can call servers of other origins, which browsers forbid it.
    ///
    /// ```swift
    /// let read = Command("shop.get", calling: Shop.self, below: ["orders", "catalogue/items"], on: network)
    /// let add = Command("shop.post", calling: Shop.self, method: .post, below: ["cart"], on: network)
    /// ```
    ///
    /// ```js
    /// await runway.call("shop.get", { path: "orders/7", query: { expand: "items" } })
    /// await runway.call("shop.post", { path: "cart", body: { item: 7 } })
    /// ```
    ///
    /// The path is decoded, and compared segment by segment. It is refused (``BridgeError/Kind/notGranted``) outside of
    /// the prefixes, and where servers read a path in different ways: with an empty segment, with dot segments, or with
    /// an escaped slash. POST, PUT and PATCH have a body. Responses have to be JSON. A method that is not safe (RFC
    /// 9110 §9.2.1) needs a gesture, and its request carries ``CommandCall/idempotencyKey`` as `Idempotency-Key`.
    ///
    /// A query is refused, too, if one of its names is that of a common parameter of the service, regardless of case
    /// and of brackets. For this comparison, the service makes its common parameters once more.
    ///
    /// - Parameters:
    ///   - name: The name by which pages call it.
    ///   - service: The service of the app.
    ///   - method: GET, POST, PUT, PATCH or DELETE. The default is GET.
    ///   - prefixes: Paths relative to the base URL of the service. A path below one of them begins with all of its
    ///     segments.
    ///   - network: The layer that sends the calls.
    ///   - callsPerSecond: The sustained number of calls per second of one document, and the largest burst. The default
    ///     is 20.
    ///   - maximumResponseByteCount: The size of the largest response. A larger one is refused while it arrives
    ///     (`invalidResponse`). The default is 1 MiB.
    public init<S: APIService>(
        _ name: String, calling service: S.Type, method: HTTPRequest.Method = .get, below prefixes: [String],
        on network: NetworkLayer, callsPerSecond: Int = 20, maximumResponseByteCount: Int = 1 << 20
    ) {
        let prefixes = prefixes.map { text in
            guard let prefix = StrictPath(text) else { preconditionFailure("\(text) is no path of plain segments") }
            return prefix
        }
        self.init(
            name, isUnsafe: !method.isSafe, usesDevice: false, deadline: .seconds(60), callsPerSecond: callsPerSecond
        ) { document, call in
            let input: PathInput = try Self.read(document)
            guard let path = StrictPath(input.path), prefixes.contains(where: path.isBelow) else {
                throw BridgeError(.notGranted, "The path is not below a prefix that the app has granted.")
            }
            let query = input.query ?? [:]
            guard query.isEmpty || !network.settings(of: S.self).hasCommonParameter(among: query.keys) else {
                throw BridgeError(.notGranted, "A name of the query is that of a common parameter of the service.")
            }
            let body = document.root["body"]
            let content = PathContent(
                path: path, query: query, body: body.exists ? .bytes(Array(body.rawBytes)) : .none)
            var options = CallOptions.standard
            options.maximumResponseByteCount = maximumResponseByteCount
            return switch method {
            case .get: try await call.send(PathCall<S, Get>(content), options, on: network)
            case .post: try await call.send(PathCall<S, Post>(content), options, on: network)
            case .put: try await call.send(PathCall<S, Put>(content), options, on: network)
            case .patch: try await call.send(PathCall<S, Patch>(content), options, on: network)
            case .delete: try await call.send(PathCall<S, Delete>(content), options, on: network)
            default: preconditionFailure("\(method) is no method of a command")
            }
        }
    }
}

extension ServiceSettings {
    /// Whether a server could read one of the names as that of a common parameter.
    fileprivate func hasCommonParameter(among names: some Sequence<String>) -> Bool {
        // Servers may ignore case, and read `a[]` or `a[b]` as `a`.
        func stem(_ name: String) -> String { String(name.lowercased().prefix { $0 != "[" }) }
        let common = Set((commonParameters.map(\.name) + makeCommonParameters().map(\.name)).map(stem))
        return names.contains { common.contains(stem($0)) }
    }
}

private struct PathInput: Decodable, Sendable {
    let path: String
    let query: [String: QueryValue]?
}

/// A value of a query: text, a number or a Boolean.
private struct QueryValue: Decodable, Sendable {
    let value: ParameterValue

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let bool = try? container.decode(Bool.self) {
            value = .bool(bool)
        } else if let integer = try? container.decode(Int64.self) {
            value = .integer(integer)
        } else if let number = try? container.decode(Double.self) {
            value = .double(number)
        } else {
            value = .string(try container.decode(String.self))
        }
    }
}

private struct PathContent: Sendable {
    let path: StrictPath
    let query: [String: QueryValue]
    let body: RequestBody
}

/// The method of an endpoint, which belongs to its type.
private protocol PathMethod: Sendable {
    static var method: HTTPRequest.Method { get }
}
private enum Get: PathMethod { static let method = HTTPRequest.Method.get }
private enum Post: PathMethod { static let method = HTTPRequest.Method.post }
private enum Put: PathMethod { static let method = HTTPRequest.Method.put }
private enum Patch: PathMethod { static let method = HTTPRequest.Method.patch }
private enum Delete: PathMethod { static let method = HTTPRequest.Method.delete }

/// A call of a path that a page has chosen.
private struct PathCall<Service: APIService, Method: PathMethod>: Endpoint {
    static var service: Service.Type { Service.self }
    static var name: String { "\(Method.method) \(Service.name) of pages" }
    static var method: HTTPRequest.Method { Method.method }
    static var encoding: ParameterEncoding {
        [.get, .delete].contains(Method.method) ? .query() : .raw(contentType: "application/json")
    }

    @Unencoded private var pathContent: PathContent

    init(_ content: PathContent) { pathContent = content }

    var path: EndpointPath {
        var text = EndpointPath.StringInterpolation(literalCapacity: 0, interpolationCount: 0)
        for (index, segment) in pathContent.path.segments.enumerated() {
            if index > 0 { text.appendLiteral("/") }
            text.appendInterpolation(segment)
        }
        return EndpointPath(stringInterpolation: text)
    }
    var parameters: Parameters {
        Parameters(pathContent.query.sorted { $0.key < $1.key }.map { ($0.key, $0.value.value) })
    }
    var content: RequestBody { pathContent.body }
}
