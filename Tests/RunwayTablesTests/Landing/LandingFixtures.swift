import Foundation
import Runway
import RunwayJSON
import RunwayStorage
import RunwayTables
import RunwayTestServer
import RunwayTransport

enum Agency: APIService {
    static let environments: [ServiceEnvironment: String] = [:]
}

/// All homes of a city in one response.
struct HomeList: Endpoint {
    static let service = Agency.self
    var path: EndpointPath { "homes" }
    var city: String
}

struct CachedHomeList: Endpoint {
    static let service = Agency.self
    static let cache = CachePolicy.timeToLive(.seconds(600))
    var path: EndpointPath { "homes" }
    var city: String
}

/// Homes of a city, page after page.
struct HomePages: PagedEndpoint {
    static let service = Agency.self
    static let paging = PageStyle.offset
    static let pageSize = 3
    var path: EndpointPath { "pages" }
    var city: String
    var offset = 0
    var limit = 3

    mutating func ask(for page: PageRequest) { (offset, limit) = (page.offset, page.size) }

    func read(_ rawData: RawData) throws -> PageContent {
        try PageContent(rows: rawData["items"], id: "id", total: rawData["total"].int)
    }
}

/// The same by pages of one size, of which each takes two requests after the first.
struct NumberedPages: PagedEndpoint {
    static let service = Agency.self
    static let paging = PageStyle.numberOfFixedSize()
    static let pageSize = 3
    var path: EndpointPath { "numbered/\(number)" }
    var city: String
    @Unencoded var number = 1

    mutating func ask(for page: PageRequest) { number = page.number }

    func read(_ rawData: RawData) throws -> PageContent {
        try PageContent(rows: rawData["items"], id: "id", total: rawData["total"].int)
    }
}

enum Homes: RunwayTables.TableDefinition {
    static let name = "home"
    static let id = Column<Int>("id"), city = Column<String>("city"), title = Column<String>("title")
    /// What only this device knows.
    static let note = Column<String?>("note")
    static let columns = TableColumns<Self>(id, city, title, note)
}

struct HomeRows: RowReformer {
    func drafts(in rawData: RawData, from endpoint: any Endpoint) throws -> [Draft] {
        try rawData["items"].require([JSONValue].self).map { item in
            var row = Values<Homes>()
            row[Homes.id] = try item["id"].require()
            row[Homes.city] = try item["city"].require()
            row[Homes.title] = try item["title"].require()
            return Draft(row)
        }
    }

    func reform(_ drafts: [Draft]) throws -> [String] {
        try drafts.map { "\(try $0.values(of: Homes.self).require(Homes.id)) \($0[Homes.title] ?? "")" }
    }
}

func home(_ id: Int, _ title: String, city: String = "a", note: String? = nil) -> Values<Homes> {
    var row = Values<Homes>()
    row[Homes.id] = id
    row[Homes.city] = city
    row[Homes.title] = title
    row[Homes.note] = note
    return row
}

/// The JSON of homes, "1 first" for instance.
func homes(_ rows: [String], city: String = "a", total: Int? = nil) -> ScriptedResponse {
    let items = rows.map { row in
        let parts = row.split(separator: " ", maxSplits: 1)
        return #"{"id":\#(parts[0]),"city":"\#(city)","title":"\#(parts[1])"}"#
    }
    return .json(#"{"items":[\#(items.joined(separator: ","))],"total":\#(total ?? rows.count)}"#)
}

/// An app with a real server, a real file and a layer of its own.
@MainActor final class LandingApp {
    let folder = ScratchFolder()
    let origin: ScriptedOrigin
    let store: RecordStore
    let network: NetworkLayer
    var failures: [any Error] = []
    private let transport: NIOTransport

    init(
        tables: [any RunwayTables.TableDefinition.Type] = [Homes.self], offlineQueue: OfflineQueue? = nil,
        status: SettableNetworkStatus = SettableNetworkStatus()
    ) async throws {
        origin = try await ScriptedOrigin.start()
        store = try await folder.open(tables)
        transport = try NIOTransport(configuration: TransportConfiguration(connectTimeout: .seconds(300)))
        network = NetworkLayer(transport: transport, offlineQueue: offlineQueue, status: status)
        let url = origin.baseURL
        network.configure(Agency.self) { $0.baseURLs = [.release: url] }
    }

    func end() async {
        await transport.shutdown(waitingAtMost: .zero)
        await origin.shutdown()
    }

    func land<E: Endpoint>(_ endpoint: E.Type) -> TableLanding {
        network.land(endpoint, in: store, by: HomeRows(), reportFailure: { [weak self] in self?.failures.append($0) })
    }

    func landLists<E: Endpoint>(_ endpoint: E.Type, city: @escaping @Sendable (E) -> String) -> TableLanding {
        network.land(endpoint, in: store, by: HomeRows(), reportFailure: { [weak self] in self?.failures.append($0) }) {
            Homes.city == city($0)
        }
    }

    /// The rows in the file, as `HomeRows` shows them.
    func rows(_ condition: Condition<Homes>? = nil) async throws -> [String] {
        try await store.read {
            try HomeRows().reform($0.fetch(Homes.self, where: condition, orderedBy: [.ascending(Homes.id)]))
        }
    }

    func save(_ rows: Values<Homes>...) async throws {
        try await store.write { file in for row in rows { try file.save(row) } }
    }
}
