import Foundation
import GRDB
import Runway
import RunwayTestServer
import RunwayTesting
import Testing

@testable import RunwayTables

/// The favourites of an account, as views know them.
@MainActor final class HomeCenter: DataCenter {
    let store: RecordStore
    let network: NetworkLayer
    let invalidates: [any Endpoint.Type] = [CachedHomeList.self, HomeList.self]

    init(_ app: LandingApp) { (store, network) = (app.store, app.network) }

    func homes<R: VirtualRecord>(as record: @escaping @MainActor () -> R) -> Observed<[R]> {
        store.observe(as: record) { try $0.fetch(Homes.self, orderedBy: [.ascending(Homes.id)]) }
    }

    func note(_ note: String, on id: Int) async throws {
        try await write { file in
            var row = Values<Homes>()
            row[Homes.id] = id
            row[Homes.note] = note
            guard try file.update(row) else { throw Refusal() }
        }
    }
}

@MainActor private final class HomeCell: @MainActor VirtualRecord {
    var id = 0
    var title = ""

    func write(to draft: inout Draft) {
        draft[Homes.id] = id
        draft[Homes.city] = "a"
        draft[Homes.title] = title
    }

    func read(from draft: Draft) { (id, title) = (draft[Homes.id] ?? 0, draft[Homes.title] ?? "") }
}

private struct HomeTitle: VirtualRecord {
    var title = ""
    func write(to draft: inout Draft) { draft[Homes.title] = title }
    mutating func read(from draft: Draft) { title = draft[Homes.title] ?? "" }
}

@MainActor private final class Screen: ObservedDelegate {
    let landings = AwaitedValue(0)
    let failures = AwaitedValue(0)
    var cells: Observed<[HomeCell]>?
    var titles: Observed<[HomeTitle]>?
    private(set) var shown: [String] = []

    func observedDidLand<Value>(_ observed: Observed<Value>) {
        if observed === cells {
            shown = cells?.value?.map(\.title) ?? []
        } else if observed === titles {
            shown.append(contentsOf: titles?.value?.map(\.title) ?? [])
        }
        landings.update { $0 += 1 }
    }

    func observed<Value>(_ observed: Observed<Value>, didFailWith error: any Error) { failures.update { $0 += 1 } }
}

@MainActor struct DataCenterTests {
    @Test func aChangeRemovesCachedResponses() async throws {
        let app = try await LandingApp()
        app.origin.on("/homes", respond: homes(["1 first"]))
        let manager = APIManager<CachedHomeList>(on: app.network)
        let landing = app.land(CachedHomeList.self)
        try await manager.landing(of: CachedHomeList(city: "a"))
        try await manager.landing(of: CachedHomeList(city: "a"))
        await landing.committed()
        #expect(app.origin.requests.count == 1)

        let center = HomeCenter(app)
        await #expect(throws: Refusal.self) { try await center.note("mine", on: 77) }
        try await manager.landing(of: CachedHomeList(city: "a"))
        #expect(app.origin.requests.count == 1)
        try await center.note("mine", on: 1)
        try await manager.landing(of: CachedHomeList(city: "a"))
        #expect(app.origin.requests.count == 2)
        await app.end()
    }

    @Test func callsBeforeAChangeDoNotLand() async throws {
        let app = try await LandingApp()
        let gate = ScriptedGate()
        app.origin.on("/homes", respond: [homes(["1 old"]).held(by: gate), homes(["1 new"])])
        let landing = app.land(HomeList.self)
        let (manager, center) = (APIManager<HomeList>(on: app.network), HomeCenter(app))
        let older = manager.load(HomeList(city: "a"))
        try await gate.waitForArrivals()
        let cell = HomeCell()
        (cell.id, cell.title) = (1, "by the user")
        try await center.save(cell)
        gate.open()
        _ = try await manager.landing(of: older)
        await landing.committed()
        #expect(try await app.rows() == ["1 by the user"])
        try await manager.landing(of: HomeList(city: "a"))
        await landing.committed()
        #expect(try await app.rows() == ["1 new"])
        await app.end()
    }

    @Test func aChangeEndsTheLandingsByHand() async throws {
        let app = try await LandingApp()
        let (landing, center) = (app.land(HomeList.self), HomeCenter(app))
        app.origin.on("/homes", respond: homes(["1 of the network"]))
        let endpoint = HomeList(city: "a")
        let rawData = try await app.network.call(endpoint)
        let cell = HomeCell()
        (cell.id, cell.title) = (1, "by the user")
        // Whichever is written first, the change is newer.
        landing.land(rawData, of: endpoint)
        try await center.save(cell)
        await landing.committed()
        #expect(try await app.rows() == ["1 by the user"])
        // What lands after the change is newer than it, and so is the next call.
        landing.land(rawData, of: endpoint)
        await landing.committed()
        #expect(try await app.rows() == ["1 of the network"])
        try await center.save(cell)
        try await APIManager<HomeList>(on: app.network).landing(of: endpoint)
        await landing.committed()
        #expect(try await app.rows() == ["1 of the network"])
        await app.end()
    }

    @Test func aFailedCommitEndsNoLanding() async throws {
        let app = try await LandingApp()
        let gate = ScriptedGate()
        app.origin.on("/homes", respond: homes(["1 of the network"]).held(by: gate))
        try await app.store.write {
            try $0.connection.execute(
                sql: "CREATE TABLE paper (home INTEGER REFERENCES home (id) DEFERRABLE INITIALLY DEFERRED)")
        }
        let (landing, center) = (app.land(HomeList.self), HomeCenter(app))
        let manager = APIManager<HomeList>(on: app.network)
        let flight = manager.load(HomeList(city: "a"))
        try await gate.waitForArrivals()
        await #expect(throws: (any Error).self) {
            try await center.write { try $0.connection.execute(sql: "INSERT INTO paper VALUES (99)") }
        }
        gate.open()
        _ = try await manager.landing(of: flight)
        await landing.committed()
        #expect(try await app.rows() == ["1 of the network"])
        await app.end()
    }

    @Test func twoViewsShowOneRecordByADelegate() async throws {
        let app = try await LandingApp()
        let (center, screen) = (HomeCenter(app), Screen())
        let cells = center.homes(as: { HomeCell() })
        let titles = center.homes(as: { HomeTitle() })
        (screen.cells, screen.titles) = (cells, titles)
        (cells.delegate, titles.delegate) = (screen, screen)
        try await screen.landings.wait(until: 2)
        let cell = HomeCell()
        (cell.id, cell.title) = (1, "seaside")
        try await center.save(cell)
        try await screen.landings.wait(until: 4)
        #expect(screen.shown.contains("seaside"))
        #expect(titles.value?.map(\.title) == ["seaside"] && cells.value?.map(\.title) == ["seaside"])
        await app.end()
    }

    @Test func aReformerThatFailsEndsTheObservation() async throws {
        struct Failing: RowReformer {
            func drafts(in rawData: RawData, from endpoint: any Endpoint) -> [Draft] { [] }
            func reform(_ drafts: [Draft]) throws -> Int {
                if drafts.isEmpty { throw Refusal() }
                return drafts.count
            }
        }
        let app = try await LandingApp()
        let screen = Screen()
        let counted = app.store.observe(by: Failing()) { try $0.fetch(Homes.self) }
        counted.delegate = screen
        try await screen.failures.wait(until: 1)
        #expect(counted.error is Refusal && counted.value == nil)
        try await app.save(home(1, "first"))
        counted.retry()
        try await screen.landings.wait(until: 1)
        #expect(counted.value == 1)
        await app.end()
    }
}
