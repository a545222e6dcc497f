import HTTPTypes
import Runway
import RunwayTesting
import RunwayTransport
import Testing

/// The service of these tests; every layer says for itself where it is.
enum TestService: APIService {
    static let name = "test"
    static let environments: [ServiceEnvironment: String] = [:]
    /// Far above what a call takes on a machine that is busy with other tests.
    static let deadline = Duration.seconds(600)
}

/// A method as a type, since an endpoint's method is its type's.
protocol TestMethod: Sendable {
    static var method: HTTPRequest.Method { get }
}

enum GET: TestMethod { static let method = HTTPRequest.Method.get }
enum HEAD: TestMethod { static let method = HTTPRequest.Method.head }
enum POST: TestMethod { static let method = HTTPRequest.Method.post }
enum PUT: TestMethod { static let method = HTTPRequest.Method.put }
enum PATCH: TestMethod { static let method = HTTPRequest.Method.patch }
enum DELETE: TestMethod { static let method = HTTPRequest.Method.delete }
enum OPTIONS: TestMethod { static let method = HTTPRequest.Method.options }
enum TRACE: TestMethod { static let method = HTTPRequest.Method.trace }

/// A call of any path with any body.
struct Fetch<Method: TestMethod>: Endpoint {
    static var service: TestService.Type { TestService.self }
    static var method: HTTPRequest.Method { Method.method }
    static var encoding: ParameterEncoding { .raw(contentType: "application/octet-stream") }
    /// Every call of a test of the wire is one request.
    static var coalesces: Bool { false }

    let path: EndpointPath
    var parameters: Parameters = [:]
    var headers: [String: String] = [:]
    var content: RequestBody = .none

    init(_ path: EndpointPath, _ content: RequestBody = .none, headers: [String: String] = [:]) {
        self.path = path
        self.content = content
        self.headers = headers
    }

    func encode(to encoder: any Encoder) {}
}

/// A GET whose response may have no more than a thousand bytes.
struct SmallFetch: Endpoint {
    static let service = TestService.self
    static let maximumResponseByteCount = 1000
    let path: EndpointPath
    func encode(to encoder: any Encoder) {}
}

extension NetworkLayer {
    /// A layer whose calls go to `baseURL`, over a transport of its own.
    convenience init(
        to baseURL: String,
        _ configuration: TransportConfiguration = TransportConfiguration(connectTimeout: .seconds(300)),
        clock: LayerClock = .system, sinks: [any EventSink] = []
    ) throws {
        self.init(
            to: baseURL, over: try TransportUnderTest.make(configuration), clock: clock, sinks: sinks)
    }

    /// A layer whose calls go to `baseURL`.
    convenience init(
        to baseURL: String, over transport: any Transport, clock: LayerClock = .system,
        sinks: [any EventSink] = []
    ) {
        // What goes wrong on the wire is what these tests look at, each time that it does.
        self.init(
            transport: transport, pipeline: .tested, clock: clock, sinks: sinks,
            limits: LayerLimits(admission: .none, retrying: .none))
        configure(TestService.self) { $0.baseURLs = [.release: baseURL] }
    }

    /// The error that a call ends in.
    func failure(
        of endpoint: some Endpoint, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> NetworkError {
        try await #require(throws: NetworkError.self, sourceLocation: sourceLocation) {
            try await call(endpoint)
        }
    }
}

extension BodyStream {
    /// The stream's parts as one text.
    func text() async throws -> String { String(decoding: try await collect(upTo: 1 << 24), as: UTF8.self) }

    /// The error that reading the stream to its end ends in.
    func failure(sourceLocation: SourceLocation = #_sourceLocation) async throws -> NetworkError {
        try await #require(throws: NetworkError.self, sourceLocation: sourceLocation) {
            for try await _ in self {}
        }
    }
}

/// Finishes its stream when it is released, for tests that wait for that.
final class Lifetime: Sendable {
    let ended: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    init() { (ended, continuation) = AsyncStream.makeStream() }
    deinit { continuation.finish() }
}
