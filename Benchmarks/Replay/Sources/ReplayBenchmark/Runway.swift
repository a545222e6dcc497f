import HTTPTypes
import Runway
import RunwayTransport

enum Listings: APIService {
    static let name = "listings"
    static let environments: [ServiceEnvironment: String] = [:]
}

struct ListEndpoint: Endpoint {
    static let service = Listings.self
    static let cache = CachePolicy.timeToLive()
    @Unencoded var number: Int
    var path: EndpointPath { "list/\(number)" }
}

struct DetailsEndpoint: Endpoint {
    static let service = Listings.self
    static let cache = CachePolicy.timeToLive()
    @Unencoded var number: Int
    var path: EndpointPath { "details/\(number)" }
}

/// The layer: what was answered is kept, who asks for the same at once shares a request.
///
/// - Parameters:
///   - prefetches: Whether the app has the details of a list's rows fetched ahead when the list has come.
///   - merges: Whether requests share one.
func runway(_ name: String, prefetches: Bool, merges: Bool, port: Int, root: String) -> Player {
    Player(name: name) {
        let transport = try AsyncHTTPClientTransport(
            configuration: TransportConfiguration(trust: .certificates(pem: [root])))
        let network = NetworkLayer(transport: transport)
        network.configure(Listings.self) { settings in
            settings.baseURLs = [.release: "https://localhost:\(port)/v1"]
            settings.merging = merges ? MergePolicy(settling: .milliseconds(5), mergesOverHTTP2: true) : nil
        }
        return Caller { call, isRefresh in
            let options = CallOptions(cacheUse: isRefresh ? .refresh : .standard)
            switch call {
            case .details(let number): return try await network.call(DetailsEndpoint(number: number)).bytes
            case .list(let number):
                let rawData = try await network.call(ListEndpoint(number: number), options: options)
                if prefetches, rawData.source == .network {
                    for row in Session.rows(of: number) { network.prefetch(DetailsEndpoint(number: row)) }
                }
                return rawData.bytes
            }
        } end: {
            await transport.shutdown(.cutting)
        }
    }
}
