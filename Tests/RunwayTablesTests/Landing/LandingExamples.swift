import Foundation
import Runway
import RunwayJSON
import RunwayTables
import RunwayTestServer
import RunwayViews
import Testing

private enum Listings: APIService {
    static let environments: [ServiceEnvironment: String] = [:]
}

private struct RentalList: Endpoint {
    static let service = Listings.self
    var path: EndpointPath { "rentals" }
    var city: String
}

private struct FavouriteList: Endpoint {
    static let service = Listings.self
    var path: EndpointPath { "favourites" }
}

private enum Rentals: TableDefinition {
    static let name = "rental"
    static let id = Column<Int>("id"), city = Column<String>("city", default: ""), title = Column<String>("title")
    static let columns = TableColumns<Self>(id, city, title)
}

private enum Favourites: TableDefinition {
    static let name = "favourite"
    static let id = Column<Int>("id"), added = Column<Date>("added")
    static let columns = TableColumns<Self>(id, added)
}

private struct FavouriteID: VirtualRecord, Encodable {
    var id = 0

    func write(to draft: inout Draft) {
        draft[Favourites.id] = id
        draft[Favourites.added] = Date(timeIntervalSince1970: 0)
    }
    mutating func read(from draft: Draft) { id = draft[Favourites.id] ?? 0 }
}

@MainActor final class FavouriteCenter: DataCenter {
    let store: RecordStore, network: NetworkLayer
    let invalidates: [any Endpoint.Type] = [FavouriteList.self]
    init(_ store: RecordStore, _ network: NetworkLayer) { (self.store, self.network) = (store, network) }

    func favourites<R: VirtualRecord>(as record: @escaping @MainActor () -> R) -> Observed<[R]> {
        store.observe(as: record) { try $0.fetch(Favourites.self, orderedBy: [.descending(Favourites.added)]) }
    }
    func remove(_ id: Int) async throws {
        try await write { try $0.delete(Favourites.self, where: Favourites.id == id) }
    }
}

@MainActor struct LandingExamples {
    @Test func exampleOfADataCenterRuns() async throws {
        let app = try await LandingApp(tables: [Favourites.self])
        let center = FavouriteCenter(app.store, app.network)
        try await center.save(FavouriteID(id: 7))
        let favourites = center.favourites(as: { FavouriteID() })
        var iterator = favourites.makeAsyncIterator()
        #expect(try await iterator.next()?.map(\.id) == [7])
        try await center.remove(7)
        #expect(try await iterator.next()?.isEmpty == true)
        await app.end()
    }

    @Test func recordsOfACenterFillAView() async throws {
        let app = try await LandingApp(tables: [Favourites.self])
        let center = FavouriteCenter(app.store, app.network)
        for id in [7, 9] { try await center.save(FavouriteID(id: id)) }
        let home = #"{"node":"text","text":"Home {home.id}","each":"{homes}","as":"home","key":"{home.id}"}"#
        let view = try ViewDocument(Array(#"{"node":"box","children":[\#(home)]}"#.utf8))
        var homes = center.favourites(as: { FavouriteID() }).makeAsyncIterator()

        let tree = try view.tree(encoding: ["homes": try await homes.next()])
        #expect(Set(tree.root.children.map(\.text)) == ["Home 7", "Home 9"])
        try await center.remove(7)
        let next = try view.tree(encoding: ["homes": try await homes.next()], after: tree)
        #expect(next.edits(since: tree).map(\.action) == [.remove] && next.root.children.first?.text == "Home 9")
        await app.end()
    }

    @Test func exampleOfALandingRuns() async throws {
        let app = try await LandingApp(tables: [Rentals.self])
        let (network, store) = (app.network, app.store)
        let url = app.origin.baseURL
        network.configure(Listings.self) { $0.baseURLs = [.release: url] }
        app.origin.on("/rentals", respond: .json(#"{"items":[{"id":1,"title":"seaside"}]}"#))
        let manager = APIManager<RentalList>(on: network)
        try await manager.landing(of: RentalList(city: ""))

        struct RentalRows: RowReformer {
            func drafts(in rawData: RawData, from endpoint: any Endpoint) throws -> [Draft] {
                try rawData["items"].require([JSONValue].self).map { item in
                    var draft = Draft()
                    draft[Rentals.id] = try item["id"].require()
                    draft[Rentals.title] = try item["title"].require()
                    return draft
                }
            }
            func reform(_ drafts: [Draft]) -> [String] { drafts.map { $0[Rentals.title] ?? "" } }
        }

        let fetched = try manager.fetch(RentalRows())  // from the network
        let landing = network.land(RentalList.self, in: store, by: RentalRows())  // from there into the table
        let stored = store.observe(by: RentalRows()) { try $0.fetch(Rentals.self) }  // from the disk

        try await manager.landing(of: RentalList(city: ""))
        await landing.committed()
        #expect(fetched == ["seaside"])
        for try await titles in stored where !titles.isEmpty {
            #expect(titles == fetched)
            break
        }
        func landOneCity(_ city: String) {
            let landing = network.land(RentalList.self, in: store, by: RentalRows()) { Rentals.city == $0.city }
            let rentals = store.observe(by: RentalRows()) { try $0.fetch(Rentals.self, where: Rentals.city == city) }
            withExtendedLifetime((landing, rentals)) {}
        }
        landOneCity("a")
        await app.end()
    }

    @Test func exampleOfAdoptionRuns() async throws {
        let folder = ScratchFolder()
        let file = folder.file
        try folder.sql("\(Tasks.creatingSQL) PRAGMA user_version = 3")
        var options = RecordStore.Options()
        options.adopting = RecordStore.Adoption(userVersions: 0...7)
        let store = try await RecordStore.open(at: file, tables: [Tasks.self], options: options)
        #expect(try await store.read { try $0.count(Tasks.self) } == 0)
    }
}
