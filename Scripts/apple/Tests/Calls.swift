import AppleFoundation
import HTTPTypes
import RunwayTesting
import Synchronization
import Testing

@testable import Runway

enum FakeService: APIService {
    static let environments: [ServiceEnvironment: String] = [:]
    /// Reached only by a call that stalls.
    static let deadline = Duration.seconds(240)
}

struct Get: Endpoint {
    static let service = FakeService.self
    static let coalesces = false
    let path: EndpointPath = "a"
    var headers: [String: String] = [:]
    func encode(to encoder: any Encoder) {}
}

struct Post: Endpoint {
    static let service = FakeService.self
    static let method = HTTPRequest.Method.post
    static let encoding = ParameterEncoding.raw(contentType: "application/octet-stream")
    let path: EndpointPath = "a"
    let content: RequestBody
    func encode(to encoder: any Encoder) {}
}

/// A layer over a session whose tasks do what `host` says. Its status is not that of the fakes' paths, which other tests change.
func layer(
    _ configuration: URLSessionTransport.Configuration = .init(), sinks: [any EventSink] = [],
    retrying: AttemptLimits = .none, status: NetworkStatus = .unknown, _ host: @escaping FakeNetwork.Host
) -> NetworkLayer {
    let name = "\(UUID().uuidString.lowercased()).test"
    FakeNetwork.serve(name, host)
    let network = NetworkLayer(
        transport: URLSessionTransport(configuration: configuration), sinks: sinks,
        limits: LayerLimits(admission: .none, retrying: retrying), status: SettableNetworkStatus(status))
    network.configure(FakeService.self) { $0.baseURLs = [.release: "https://\(name)"] }
    return network
}

extension NetworkLayer {
    func failure(of endpoint: some Endpoint) async throws -> NetworkError {
        try await #require(throws: NetworkError.self) { try await self.call(endpoint) }
    }
}

/// What a host saw, for the test to read.
final class Seen<Value: Sendable>: Sendable {
    private let values = Mutex<[Value]>([])
    func note(_ value: Value) { values.withLock { $0.append(value) } }
    var all: [Value] { values.withLock { $0 } }
}
