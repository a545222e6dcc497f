import Foundation
import HTTPTypes
import Runway
import RunwayJSON
import RunwayTransport

// The examples in the doc comments of Runway and RunwayTransport, line by line. They are compiled and not run.

enum Listings: APIService {
    static let name = "listings"
    static let environments: [ServiceEnvironment: String] = [
        .development: "https://dev.example.com/v2", .release: "https://api.example.com/v2",
    ]
}

protocol ListingsEndpoint: Endpoint where Service == Listings {}

struct RentalList: Endpoint {
    static let service = Listings.self
    static let overlap = OverlapPolicy.cancelRunning
    var path: EndpointPath { "rental/list" }
    var city: String
    var priceBelow: Int?
}

struct NewHomesList: Endpoint {
    static let service = Listings.self
    var path: EndpointPath { "new/list" }
    var city: String
}

struct RentalDetails: Endpoint {
    static let service = Listings.self
    static let cache = CachePolicy.timeToLive(.seconds(60), staleIfError: .seconds(3600))
    static let retry = RetryPolicy(maximumAttempts: 5, longestWait: .seconds(30))
    static let hedging = HedgingPolicy.learned()
    @Unencoded var id: Int
    var path: EndpointPath { "rental/\(id)" }
}

struct RentalDetail: Endpoint {
    static let service = Listings.self
    @Unencoded var id: Int
    var path: EndpointPath { "rental/\(id)" }
}

struct RentalPhotos: Endpoint {
    static let service = Listings.self
    @Unencoded var id: Int
    var path: EndpointPath { "rental/\(id)/photos" }
}

struct RentalFilm: Endpoint {
    static let service = Listings.self
    @Unencoded var id: Int
    var path: EndpointPath { "rental/\(id)/film" }
}

struct FilmUpload: Endpoint {
    static let service = Listings.self
    static let method = HTTPRequest.Method.put
    static let encoding = ParameterEncoding.raw(contentType: "video/mp4")
    @Unencoded var film: URL
    @Unencoded var id: Int
    var path: EndpointPath { "rental/\(id)/film" }
    var content: RequestBody { get throws { try .file(film) } }
}

func publish(_ file: URL, on network: NetworkLayer) async throws -> RawData {
    let response = try await network.upload(FilmUpload(film: file, id: 7)) { progress in
        print(progress.fraction ?? 0)
    }
    return response
}

func save(_ network: NetworkLayer, to file: URL) async throws {
    let film = try await network.download(RentalFilm(id: 7), to: file) { progress in
        print(progress.fraction ?? 0)
    }
    print(film.byteCount)
}

enum PropertyListKeys {
    static let title = ViewKey<String>("title", in: Self.self)
}

struct UnknownEndpoint: Error {}

func propertyRow(_ item: JSONValue) -> ViewData {
    var row = ViewData()
    row[PropertyListKeys.title] = item["title"].string
    return row
}

struct PropertyListReformer: Reformer {
    func reform(_ rawData: RawData, from endpoint: any Endpoint) throws -> [ViewData] {
        switch endpoint {
        case is RentalList: rawData["result"]["items"].elements.map(propertyRow)
        case is NewHomesList: rawData["data"]["homes"].elements.map(propertyRow)
        default: throw UnknownEndpoint()
        }
    }
}

enum Paged {
    struct RentalList: PagedEndpoint {
        static let service = Listings.self
        static let paging = PageStyle.offset
        var path: EndpointPath { "rental/list" }
        var city: String
        var offset = 0
        var limit = 20
        mutating func ask(for page: PageRequest) { (offset, limit) = (page.offset, page.size) }
        func read(_ rawData: RawData) throws -> PageContent {
            try PageContent(rows: rawData["result"]["items"], id: "zf_id", total: rawData["result"]["total"].int)
        }
    }
}

enum Judged: APIService {
    static let environments: [ServiceEnvironment: String] = [:]

    static func judge(_ head: HTTPResponse, rawData: RawData?) -> Verdict {
        let verdict = Verdict(status: head.status, headerFields: head.headerFields)
        guard verdict == .fine, let rawData else { return verdict }
        guard let code = rawData["code"].int else { return .malformed("\"code\" is missing.") }
        return code == 0 ? .fine : .failed(ServiceError(code: "\(code)"), isAbsorbed: false)
    }
}

enum Merged {
    enum Listings: APIService {
        static let merging: MergePolicy? = .standard
        // …
    }
}

extension Merged.Listings {
    static let environments: [ServiceEnvironment: String] = [:]
}

struct TokenRefresh: Endpoint {
    static let service = Listings.self
    var path: EndpointPath { "token" }
    var refreshToken: String
}

struct ListingsCredentials: Credentials {
    func refresh(_ token: AccessToken, on network: NetworkLayer) async throws -> AccessToken {
        let response = try await network.call(TokenRefresh(refreshToken: token.refreshToken ?? ""))
        return AccessToken(
            try response["access_token"].require(), account: token.account,
            expiry: network.clock.date.addingTimeInterval(try response["expires_in"].require()),
            refreshToken: response["refresh_token"].string)
    }
}

struct Rental: Decodable {
    var title: String
}

@MainActor final class Label {
    var text: String?
}

@MainActor func landing(
    _ rentals: APIManager<RentalList>, _ raw: RawData, _ item: JSONValue, _ label: Label
) throws {
    rentals.load(RentalList(city: "上海"), options: CallOptions(cacheUse: .refresh))

    let title = raw["data"]["list"][3]["title"].string  // nil if any of it is missing
    let price: Int = try raw["data"]["price"].require()  // throws an error that names the place
    print(title ?? "", price)

    var row = ViewData()
    row[PropertyListKeys.title] = item["title"].string
    label.text = row[PropertyListKeys.title]
}

@MainActor func decode(_ manager: APIManager<RentalList>) throws -> [Rental] {
    let rentals = try manager.fetch(DecodableReformer([Rental].self, at: "data", "list"))
    return rentals
}

func makeLayer() async throws {
    let network = NetworkLayer(transport: try NIOTransport())
    let raw = try await network.call(RentalList(city: "上海"))
    print(raw["result"]["items"][0]["zf_title"].string ?? "nothing")
}

struct RentalRow {
    var id: Int
}

func makeSmallLayer(over transport: any Transport) -> NetworkLayer {
    let network = NetworkLayer(
        transport: transport, limits: LayerLimits(cache: CacheLimits(maximumCount: 200), retrying: .none))
    return network
}

func use(_ network: NetworkLayer, in city: String, for visibleRows: [RentalRow]) async throws -> (RawData, RawData) {
    network.configure(Listings.self) { $0.environment = .development }
    for row in visibleRows { network.prefetch(RentalDetails(id: row.id)) }
    async let rentals = network.call(RentalList(city: city))
    async let homes = network.call(NewHomesList(city: city))
    let both = try await (rentals, homes)
    return both
}

func watchForLogins(
    _ showLogin: @escaping @MainActor (any APIService.Type, @escaping @MainActor () -> Void) -> Void
) -> any NSObjectProtocol {
    let observer = NotificationCenter.default.addObserver(
        forName: NetworkLayer.needsLoginNotification, object: nil, queue: nil
    ) { notification in
        guard let need = NeedsLogin(notification) else { return }
        MainActor.assumeIsolated { showLogin(need.service) { need.resume() } }
    }
    return observer
}

@MainActor func follow(_ network: NetworkLayer, with banner: Banner) async {
    for await status in network.statuses { banner.isHidden = status.isReachable }
}

@MainActor func resumeCalls(of network: NetworkLayer) async {
    for await status in network.statuses where status.isReachable { network.resumeCalls(of: Listings.self) }
}

@MainActor final class Banner {
    var isHidden = false
}

func driveStatus(over transport: any Transport) -> NetworkLayer {
    let status = SettableNetworkStatus(.wifi)
    let network = NetworkLayer(transport: transport, status: status)
    status.set(.none)  // calls fail at once now
    return network
}

/// A switch over the kinds of errors has a `default`, so that a kind that is added later does not break it.
func message(for error: NetworkError) -> String {
    switch error.kind {
    case .noNetwork, .timedOut: return "Check your connection."
    case .service: return error.serviceError?.message ?? ""
    default: return "Something went wrong."
    }
}

func rentals(in city: String, on network: NetworkLayer) async throws -> [Rental] {
    let rentals = try await network.call(RentalList(city: city), as: [Rental].self, at: "result.items")
    return rentals
}

@MainActor func load(_ rentals: APIManager<RentalList>) async throws -> RawData {
    let rawData = try await rentals.landing(of: RentalList(city: "上海"))
    return rawData
}

@MainActor func loadAgain(_ rentals: any APIManaging) async throws -> RawData {
    let rawData = try await rentals.landing(of: rentals.load())
    return rawData
}

// What only Apple's systems have.
#if canImport(Darwin)
    actor FilmLibrary {
        func note(_ id: String, _ error: NetworkError?) {}
    }

    @MainActor func loadFilm(
        to file: URL, folder: URL, for library: FilmLibrary, over network: NetworkLayer,
        _ completionHandler: @escaping () -> Void
    ) async throws {
        let transfers = try BackgroundTransfers("com.example.films", folder: folder, over: network) { transfer in
            await library.note(transfer.id, transfer.error)
        }
        try await transfers.download(RentalFilm(id: 7), to: file, id: "film-7", on: .unmetered)
        // In the app's delegate, application(_:handleEventsForBackgroundURLSession:completionHandler:):
        transfers.handleEvents(completionHandler)
    }

    func makeLayersWithKeychain() -> [NetworkLayer] {
        let network = NetworkLayer(tokens: KeychainTokenStore())
        // In an app and in its extension, which share their tokens:
        let shared = NetworkLayer(tokens: KeychainTokenStore(accessGroup: "A1B2C3D4E5.com.example.films"))
        return [network, shared]
    }

    func makeLayerWithStatus() throws -> NetworkLayer {
        let status = PathNetworkStatus()
        let network = NetworkLayer(transport: try NIOTransport(), status: status)
        print(status.current.link)  // unknown, until the system has reported
        return network
    }
#endif

enum CarryingTokens {
    struct RentalList: Endpoint {
        static let service = Listings.self
        static let authorization = AuthorizationPolicy.ifSignedIn
        var path: EndpointPath { "rental/list" }
    }
}

func signIn(as name: String, password: String, on network: NetworkLayer) async throws {
    enum Printers: APIService {
        static let environments: [ServiceEnvironment: String] = [.release: "https://printers.example.com"]
        static let credentials: (any Credentials)? = BasicCredentials()
    }

    try await network.signIn(.basic(user: name, password: password, account: name), to: Printers.self)
}

func publicNews(on network: NetworkLayer) async throws -> RawData {
    let news = try await network.call(
        Listings.get("news"), options: CallOptions(authorization: AuthorizationPolicy.none))
    return news
}
