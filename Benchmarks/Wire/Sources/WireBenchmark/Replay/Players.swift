import AsyncHTTPClient
import Foundation
import NIOCore
import Runway
import RunwayJSON
import RunwayStorage
import RunwayTransport
import Synchronization

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension Player {
    /// AsyncHTTPClient itself.
    static func asyncHTTPClient(base: String, root: String) -> Player {
        Player(name: "AsyncHTTPClient") {
            let client = try makeClient(root: root, http1Only: false)
            let get: @Sendable (String) async throws -> [UInt8] = { target in
                let response = try await client.execute(HTTPClientRequest(url: base + target), timeout: .seconds(60))
                return Array(buffer: try await response.body.collect(upTo: 16 << 20))
            }
            return Play(
                connect: { _ = try await get("hello") }, call: { try await get($0.response.resource.target) },
                cachedCount: { nil }, end: { try await client.shutdown() })
        }
    }

    /// URLSession with a cache of its own in memory, which may do what the server says.
    ///
    /// On Linux it fails a call now and then with an unknown error; such a call is made again, as its user would do.
    static func urlSession(base: String) -> Player {
        Player(name: "URLSession") {
            let session = URLSession(configuration: .ephemeral)
            let failures = FailureCount()
            let get: @Sendable (String, Bool) async throws -> [UInt8] = { target, isRefresh in
                guard let url = URL(string: base + target) else { throw UnexpectedResponse() }
                let policy: URLRequest.CachePolicy = isRefresh ? .reloadIgnoringLocalCacheData : .useProtocolCachePolicy
                let request = URLRequest(url: url, cachePolicy: policy)
                for _ in 0..<2 {
                    do {
                        return Array(try await session.data(for: request).0)
                    } catch {
                        failures.add()
                    }
                }
                return Array(try await session.data(for: request).0)
            }
            return Play(
                connect: { _ = try await get("hello", false) },
                call: { try await get($0.response.resource.target, $0.isRefresh) },
                cachedCount: { nil }, failedCount: { failures.value }, end: { session.invalidateAndCancel() })
        }
    }

    /// The layer with all its default limits: every response is stored for three minutes, and 300 events of the user are recorded.
    ///
    /// - Parameters:
    ///   - prefetches: Whether the app has prefetched the homes of a page of a list when it shows that page for the first time.
    ///   - merges: Whether concurrent requests are merged.
    static func runway(
        _ name: String, base: String, root: String, prefetches: Bool, merges: Bool, maximumRequests: Int? = nil,
        leastSpeedup: Double? = nil
    ) -> Player {
        Player(
            name: name, maximumRequests: maximumRequests, leastSpeedup: leastSpeedup, eventCount: ReplayedApp.eventCount
        ) {
            let pem = try String(contentsOfFile: root, encoding: .utf8)
            let transport = try NIOTransport(
                configuration: TransportConfiguration(trust: .certificates(pem: [pem])))
            let network = NetworkLayer(transport: transport)
            network.configure(Homes.self) { settings in
                settings.baseURLs = [.release: base]
                settings.merging = merges ? MergePolicy(mergesOverHTTP2: true) : nil
            }
            let folder = FileManager.default.temporaryDirectory.appending(path: "runway-replay-\(UUID().uuidString)")
            let log = ActionLog(
                at: folder.appending(path: "log.sqlite"), sendingTo: Homes.self, at: "log", over: network)
            let app = ReplayedApp(network: network, log: log, prefetches: prefetches)
            return Play(
                connect: { _ = try await network.call(Hello()) }, call: { try await app.call($0) },
                flush: { await log.flush() }, cachedCount: { app.cachedCount },
                end: {
                    await log.close()
                    await transport.shutdown()
                    try FileManager.default.removeItem(at: folder)
                })
        }
    }
}

private final class FailureCount: Sendable {
    private let count = Atomic(0)
    var value: Int { count.load(ordering: .relaxed) }
    func add() { count.wrappingAdd(1, ordering: .relaxed) }
}

/// The app over the layer: what it does besides what the user asks for.
private final class ReplayedApp: Sendable {
    private struct State {
        var shown: Set<Resource> = []
        var cachedCount = 0
        var callCount = 0
    }

    /// How many events a session has: three in ten calls are worth one.
    static let eventCount = 300

    private let network: NetworkLayer
    private let log: ActionLog
    private let prefetches: Bool
    /// Guards the pages that were shown before, and the counts of calls and cached responses.
    private let state = Mutex(State())

    init(network: NetworkLayer, log: ActionLog, prefetches: Bool) {
        self.network = network
        self.log = log
        self.prefetches = prefetches
    }

    var cachedCount: Int { state.withLock { $0.cachedCount } }

    func call(_ call: Session.Call) async throws -> [UInt8] {
        let number = state.withLock { state in
            state.callCount += 1
            return state.callCount
        }
        if number % 10 < 3 {
            log.record("opened", ["screen": .string(call.response.resource.target), "number": .integer(Int64(number))])
        }
        let options = CallOptions(cacheUse: call.isRefresh ? .refresh : .standard)
        let rawData: RawData
        switch call.response.resource {
        case .list(let city, let filter, let page):
            rawData = try await network.call(HomeList(city: city, filter: filter, page: page), options: options)
        case .details(let city, let home):
            rawData = try await network.call(HomeDetails(city: city, home: home), options: options)
        case .map(let city): rawData = try await network.call(CityMap(city: city), options: options)
        }
        if rawData.source == .cache { state.withLock { $0.cachedCount += 1 } }
        if prefetches, state.withLock({ $0.shown.insert(call.response.resource).inserted }) {
            prefetch(from: call.response.resource, rawData)
        }
        return rawData.bytes
    }

    /// Fetches ahead the next page, the map, and the details of every home on the page.
    private func prefetch(from resource: Resource, _ rawData: RawData) {
        guard case .list(let city, let filter, let page) = resource else { return }
        if Resource.pages.contains(page + 1) {
            network.prefetch(HomeList(city: city, filter: filter, page: page + 1))
            network.prefetch(CityMap(city: city))
        }
        for home in rawData["homes"].elements.compactMap({ $0["id"].int }) {
            network.prefetch(HomeDetails(city: city, home: home))
        }
    }
}

private enum Homes: APIService {
    static let name = "homes"
    static let environments: [ServiceEnvironment: String] = [:]
}

private struct Hello: Endpoint {
    static let service = Homes.self
    var path: EndpointPath { "hello" }
}

private struct HomeList: Endpoint {
    static let service = Homes.self
    static let cache = CachePolicy.timeToLive()
    @Unencoded var city: Int
    var filter: Int
    var page: Int
    var path: EndpointPath { "cities/\(city)/homes" }
}

private struct HomeDetails: Endpoint {
    static let service = Homes.self
    static let cache = CachePolicy.timeToLive()
    @Unencoded var city: Int
    @Unencoded var home: Int
    var path: EndpointPath { "cities/\(city)/homes/\(home)" }
}

private struct CityMap: Endpoint {
    static let service = Homes.self
    static let cache = CachePolicy.timeToLive()
    @Unencoded var city: Int
    var path: EndpointPath { "cities/\(city)/map" }
}
