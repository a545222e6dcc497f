import HTTPTypes
import Runway
import RunwayJSON
import RunwayTesting
import Synchronization

/// A service with two environments, whose responses are judged by their status.
enum Gallery: APIService {
    static let name = "gallery"
    static let environments: [ServiceEnvironment: String] = [
        .release: "https://gallery.test", .development: "https://dev.gallery.test",
    ]
}

/// A call whose responses are stored for three minutes.
struct Work: Endpoint {
    static let service = Gallery.self
    static let coalesces = false
    static let overlap = OverlapPolicy.concurrent
    static let cache = CachePolicy.timeToLive()
    var path: EndpointPath { "works" }
    var id = 1
    @Unencoded var fields: [String: String] = [:]
    @Unencoded var refused = "bad"
    var headers: [String: String] { fields }
    func validate(response: RawData) throws {
        if response[refused].exists { throw Refused("The response has \"\(refused)\".") }
    }
}

/// Another API of the same service.
struct Artist: Endpoint {
    static let service = Gallery.self
    static let coalesces = false
    static let cache = CachePolicy.timeToLive()
    var path: EndpointPath { "artists" }
    var id = 1
}

/// An API of another service.
struct Book: Endpoint {
    static let service = Library.self
    static let coalesces = false
    static let cache = CachePolicy.timeToLive()
    var path: EndpointPath { "book" }
    var id = 1
}

/// A call that reads by POST.
struct Search: Endpoint {
    static let service = Gallery.self
    static let method = HTTPRequest.Method.post
    static let cache = CachePolicy.timeToLive()
    var path: EndpointPath { "search" }
    var text = ""
}

/// A call that changes something, although its policy stores its responses.
struct Rename: Endpoint {
    static let service = Gallery.self
    static let method = HTTPRequest.Method.put
    static let cache = CachePolicy.timeToLive()
    var path: EndpointPath { "works" }
    var title = ""
}

extension CallOptions {
    /// A call with a policy of its own.
    static func policy(_ policy: CachePolicy, _ use: CacheUse = .standard) -> CallOptions {
        CallOptions(cache: policy, cacheUse: use)
    }
}

/// What the server does with a request, which a test may change at any time.
final class GalleryServer: Sendable {
    /// Guards the next response, and the number of requests.
    private let state = Mutex<(next: Result<Response, NetworkError>?, count: Int)>((nil, 0))

    /// How many requests came.
    var requestCount: Int { state.withLock { $0.count } }

    /// Responds from now on with `result`; `nil` counts the requests instead, `{"n":1}` and so on.
    func respond(with result: Result<Response, NetworkError>?) { state.withLock { $0.next = result } }

    func next() throws(NetworkError) -> Response {
        let result = state.withLock { state -> Result<Response, NetworkError> in
            state.count += 1
            return state.next ?? .success(.json(#"{"n":\#(state.count)}"#))
        }
        return try result.get()
    }
}

/// A layer with a cache, whose server and clock a test drives.
struct CachedLayer {
    let server = GalleryServer()
    let transport: StubTransport
    let records = RecordCollector()
    let clock = ManualClock()
    let network: NetworkLayer

    init(cache: CacheLimits = CacheLimits(), diskCache: (any CacheTier)? = nil, clock layerClock: LayerClock? = nil) {
        transport = StubTransport { [server] _ throws(NetworkError) in try server.next() }
        network = NetworkLayer(
            transport: transport, pipeline: .tested, clock: layerClock ?? LayerClock(clock), sinks: [records],
            limits: LayerLimits(cache: cache, admission: .none, retrying: .none), diskCache: diskCache)
    }

    /// The number in the response to a call, and its source.
    func number<E: Endpoint>(_ endpoint: E, _ options: CallOptions = .standard) async throws -> Int? {
        try await network.call(endpoint, options: options)["n"].int
    }

    /// The number in the response to a call of ``Work``.
    func number(_ options: CallOptions) async throws -> Int? { try await number(Work(), options) }

    /// The decisions of caching about the call that landed last.
    func lastDecisions() async -> [CacheDecision] {
        await network.flushRecords()
        return records.records.max { $0.id < $1.id }?.decisions(of: CacheDecision.self) ?? []
    }

    /// The one error that a call ends in.
    func failure<E: Endpoint>(_ endpoint: E, _ options: CallOptions = .standard) async -> NetworkError? {
        do {
            _ = try await network.call(endpoint, options: options)
            return nil
        } catch {
            return error
        }
    }
}

/// A layer with a cache, whose requests wait until a test responds to them.
struct ParkedLayer {
    let transport = ParkingTransport()
    let records = RecordCollector()
    let clock = ManualClock()
    let network: NetworkLayer

    init(diskCache: (any CacheTier)? = nil) {
        network = NetworkLayer(
            transport: transport, pipeline: .tested, clock: LayerClock(clock), sinks: [records],
            limits: LayerLimits(admission: .none, retrying: .none), diskCache: diskCache)
    }

    /// Waits for a new request, and returns the number of its flight.
    func arrival(besides known: [UInt64] = []) async throws -> UInt64 {
        try await transport.wait { !$0.parked.allSatisfy(known.contains) }
        return transport.parked.first { !known.contains($0) } ?? 0
    }

    /// Responds to the request of a flight with a number.
    func respond(_ flight: UInt64, _ number: Int) {
        transport.respond(flight, with: .success(.json(#"{"n":\#(number)}"#)))
    }

    /// Fills the cache by one call of ``Work``.
    func fill(_ number: Int, options: CallOptions = .standard) async throws {
        async let filling = network.call(Work(), options: options)
        respond(try await arrival(), number)
        _ = try await filling
    }
}

/// Counts up from 0.
final class Counter: Sendable {
    private let count = Atomic(0)

    func next() -> Int { count.wrappingAdd(1, ordering: .relaxed).oldValue }
}
