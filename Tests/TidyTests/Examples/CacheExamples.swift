import HTTPTypes
import Runway
import RunwayJSON
import RunwayTesting
import Testing

// The examples of caching, line by line, and what shows that they do what the articles say.

extension CacheKind { static let images = CacheKind("images") }
struct Photo: Endpoint {
    static let service = Estate.self
    static let cache = CachePolicy.untilEvicted(onDisk: true)
    static let cacheKind = CacheKind.images
    var path: EndpointPath { "photos/\(id)" }
    @Unencoded var id: Int
}
let limits = LayerLimits(cache: CacheLimits(maximumByteCountByKind: [.images: 64 << 20]))

struct HomeDetails: Endpoint {
    static let service = Estate.self
    static let cache = CachePolicy.timeToLive()
    var path: EndpointPath { "homes/\(id)/details" }
    @Unencoded var id: Int
}

struct PriceChange: Endpoint {
    static let service = Estate.self
    static let method = HTTPRequest.Method.put
    var path: EndpointPath { "homes/\(id)/price" }
    @Unencoded var id: Int
    var price: Int
    var invalidates: [CacheInvalidation] { [.endpoint(HomesNearby.self), .call(HomeDetails(id: id))] }
}

func printReport(of network: NetworkLayer) {
    print(network.cacheReport)
}

struct ProblemReformer: Reformer {
    func reform(_ rawData: RawData, from endpoint: any Endpoint) throws -> String { try rawData["detail"].require() }
}

@MainActor
final class ProblemController: APIManagerDelegate {
    var shown = ""
    func show(_ text: String) { shown = text }
    func apiManagerDidSucceed(_ manager: any APIManaging) {}
    func apiManager(_ manager: any APIManaging, didFailWith error: NetworkError) {
        show((try? manager.fetchFailure(ProblemReformer())) ?? "\(error)")
    }
}

struct CacheExampleTests {
    @Test func aPriceChangeInvalidatesWhatShowsThePrice() async throws {
        let transport = StubTransport { _ in .json("{}") }
        let network = NetworkLayer(transport: transport, limits: limits)
        _ = try await network.call(HomeDetails(id: 7))
        _ = try await network.call(HomeDetails(id: 8))
        _ = try await network.call(HomesNearby())
        _ = try await network.call(Photo(id: 7))
        _ = try await network.call(PriceChange(id: 7, price: 250_000))
        #expect(network.cache.count == 2)
        #expect(network.cacheReport.endpoints.map(\.endpoint).contains("HomesNearby"))
    }

    @MainActor
    @Test func aRefusalIsShownInTheServersWords() async throws {
        let transport = StubTransport { _ in .json(#"{"detail":"The home is sold."}"#, status: .conflict) }
        let controller = ProblemController()
        let manager = APIManager<PriceChange>(on: NetworkLayer(transport: transport), delegate: controller)
        await #expect(throws: NetworkError.self) { try await manager.landing(of: PriceChange(id: 7, price: 1)) }
        #expect(controller.shown == "The home is sold.")
    }
}
