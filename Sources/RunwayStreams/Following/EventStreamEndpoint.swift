import HTTPTypes
public import Runway
import RunwayFormats

/// A stream of server-sent events of a service: an endpoint whose response stays open.
///
/// ```swift
/// struct RentalEvents: EventStreamEndpoint {
///     static let service = Listings.self
///     var path: EndpointPath { "events" }
///     var topics: Set<String>? { ["rentals"] }
/// }
/// ```
///
/// The requests of a stream pass the stages of the layer like those of any endpoint: they are authorized, signed,
/// routed and recorded. They are never retried, hedged, cached or shared, even if the endpoint asks for it, since the
/// stream reconnects instead.
public protocol EventStreamEndpoint: EventStreamDeclarations, Endpoint {
    /// The wanted topics when the stream starts. With the default, `nil`, the request names none: the server chooses.
    var topics: Set<String>? { get }
    /// The path of the route that changes an open stream's topics. The default is the endpoint's path and `/topics`.
    var topicsPath: EndpointPath { get }
}

/// Makes the compiler reject a stream whose `topics` do not have the type `Set<String>?`. Otherwise such topics would
/// be ignored silently.
///
/// Every ``EventStreamEndpoint`` conforms without an explicit declaration.
public protocol EventStreamDeclarations {
    /// The declared type of ``EventStreamEndpoint/topics``.
    associatedtype DeclaredTopics = Set<String>?
    /// The topics of the endpoint; see ``EventStreamEndpoint/topics``.
    var topics: DeclaredTopics { get }
    /// A requirement that is fulfilled only if the topics are declared as `Set<String>?`.
    var topicsHaveTheirType: Void { get }
}

extension EventStreamDeclarations where DeclaredTopics == Set<String>? {
    /// Fulfils the requirement for topics that are declared as `Set<String>?`.
    public var topicsHaveTheirType: Void { () }
}

extension EventStreamEndpoint {
    /// The default, `nil`: the server chooses the topics.
    public var topics: Set<String>? { nil }
    /// The default: the endpoint's path followed by `/topics`.
    public var topicsPath: EndpointPath { EndpointPath(stringLiteral: path.percentEncoded + "/topics") }
}

struct LinkOpening<E: EventStreamEndpoint>: Endpoint {
    static var service: E.Service.Type { E.service }
    static var name: String { E.name }
    static var method: HTTPRequest.Method { E.method }
    static var encoding: ParameterEncoding { E.encoding }
    static var deadline: Duration? { E.deadline }
    static var authorization: AuthorizationPolicy { E.authorization }
    static var priority: CallPriority { E.priority }
    static var retry: RetryPolicy { .off }
    static var hedging: HedgingPolicy { .off }
    static var coalesces: Bool { false }
    static var isMergeable: Bool { false }

    var endpoint: E
    let topics: Set<String>?
    let lastEventID: String
    let heartbeat: Duration
    let paddingByteCount: Int

    var path: EndpointPath { endpoint.path }
    var parameters: Parameters {
        get throws {
            var parameters = try endpoint.parameters
            if let topics { parameters.append("topics", .string(topics.sorted().joined(separator: ","))) }
            return parameters
        }
    }
    var headers: [String: String] {
        var headers = [
            "Accept": "text/event-stream", "Cache-Control": "no-cache", "Accept-Encoding": "identity",
            HTTPField.Name.runwayHeartbeat.rawName: "\(heartbeat.components.seconds)",
        ]
        if paddingByteCount > 0 { headers[HTTPField.Name.runwayPadding.rawName] = "\(paddingByteCount)" }
        if !lastEventID.isEmpty { headers[HTTPField.Name.lastEventID.rawName] = lastEventID }
        return headers.merging(endpoint.headers) { $1 }
    }
    var content: RequestBody { get throws { try endpoint.content } }

    mutating func complete() throws { try endpoint.complete() }
    func validate() throws { try endpoint.validate() }
    func encode(to encoder: any Encoder) throws { try endpoint.encode(to: encoder) }
}

/// A call that changes the topics of an open stream, or asks for a heartbeat.
struct TopicsCall<E: EventStreamEndpoint>: Endpoint {
    static var service: E.Service.Type { E.service }
    static var name: String { E.name + "Topics" }
    static var method: HTTPRequest.Method { .post }
    static var authorization: AuthorizationPolicy { E.authorization }
    static var retry: RetryPolicy { .off }
    static var isMergeable: Bool { false }

    let endpoint: E
    let connection: String
    var add: Set<String> = []
    var remove: Set<String> = []

    var path: EndpointPath { endpoint.topicsPath }
    var parameters: Parameters {
        [
            "connection": .string(connection), "add": .array(add.sorted().map { .string($0) }),
            "remove": .array(remove.sorted().map { .string($0) }),
        ]
    }
    var headers: [String: String] { endpoint.headers }
}
