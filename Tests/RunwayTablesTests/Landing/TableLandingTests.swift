import Foundation
import GRDB
import HTTPTypes
import Runway
import RunwayStorage
import RunwayTestServer
import RunwayTesting
import RunwayTransport
import Testing

@testable import RunwayTables

@MainActor struct TableLandingTests {
    @Test func aListIsThereAtAnOfflineLaunch() async throws {
        let app = try await LandingApp()
        app.origin.on("/homes", respond: homes(["1 first", "2 second"]))
        let landing = app.land(HomeList.self)
        let manager = APIManager<HomeList>(on: app.network)
        try await manager.landing(of: HomeList(city: "a"))
        let shown = try manager.fetch(HomeRows())
        await landing.committed()
        try await app.store.close()
        await app.end()

        // A launch later: another connection and another layer, and no server.
        let store = try await app.folder.open([Homes.self])
        let network = NetworkLayer(
            transport: try NIOTransport(configuration: TransportConfiguration(connectTimeout: .seconds(300))))
        let url = app.origin.baseURL
        network.configure(Agency.self) { $0.baseURLs = [.release: url] }
        let offline = APIManager<HomeList>(on: network)
        await #expect(throws: NetworkError.self) { try await offline.landing(of: HomeList(city: "a")) }
        let stored = store.observe(by: HomeRows()) { try $0.fetch(Homes.self) }
        var iterator = stored.makeAsyncIterator()
        #expect(try await iterator.next() == shown)
        #expect(shown == ["1 first", "2 second"])
    }

    @Test func rowsThatLeftTheListAreRemoved() async throws {
        let app = try await LandingApp()
        try await app.save(home(1, "old", note: "mine"), home(2, "left"), home(9, "elsewhere", city: "b"))
        app.origin.on("/homes", respond: homes(["1 new", "3 third"]))
        let landing = app.landLists(HomeList.self) { $0.city }
        let manager = APIManager<HomeList>(on: app.network)
        try await manager.landing(of: HomeList(city: "a"))
        await landing.committed()
        #expect(try await app.rows() == ["1 new", "3 third", "9 elsewhere"])
        #expect(try await app.rows(Homes.note == "mine") == ["1 new"])
        await app.end()
    }

    @Test func withoutAListNoRowIsRemoved() async throws {
        let app = try await LandingApp()
        try await app.save(home(2, "other"))
        app.origin.on("/homes", respond: homes(["1 first"]))
        let landing = app.land(HomeList.self)
        let manager = APIManager<HomeList>(on: app.network)
        try await manager.landing(of: HomeList(city: "a"))
        await landing.committed()
        #expect(try await app.rows() == ["1 first", "2 other"])
        await app.end()
    }

    @Test(arguments: [false, true]) func anOlderResponseNeverOverwritesANewer(removes: Bool) async throws {
        let app = try await LandingApp()
        let gate = ScriptedGate()
        app.origin.on("/homes", respond: [homes(["1 old", "2 left"]).held(by: gate), homes(["1 new"])])
        let landing = removes ? app.landLists(HomeList.self) { $0.city } : app.land(HomeList.self)
        let (first, second) = (APIManager<HomeList>(on: app.network), APIManager<HomeList>(on: app.network))
        let older = first.load(HomeList(city: "a"))
        try await gate.waitForArrivals()
        // A request of its own, with the response of a later moment.
        try await second.landing(of: HomeList(city: "a"), options: CallOptions(cacheUse: .refresh))
        gate.open()
        _ = try await first.landing(of: older)
        await landing.committed()
        #expect(try await app.rows() == (removes ? ["1 new"] : ["1 new", "2 left"]))
        #expect(app.failures.isEmpty)
        await app.end()
    }

    @Test func differentListsLandInAnyOrder() async throws {
        let app = try await LandingApp()
        let gate = ScriptedGate()
        app.origin.on("/homes?city=a", respond: homes(["1 first"]).held(by: gate))
        app.origin.on("/homes?city=b", respond: homes(["2 second"], city: "b"))
        try await app.save(home(3, "left"))
        let landing = app.landLists(HomeList.self) { $0.city }
        let (first, second) = (APIManager<HomeList>(on: app.network), APIManager<HomeList>(on: app.network))
        let older = first.load(HomeList(city: "a"))
        try await gate.waitForArrivals()
        try await second.landing(of: HomeList(city: "b"))
        gate.open()
        _ = try await first.landing(of: older)
        await landing.committed()
        #expect(try await app.rows() == ["1 first", "2 second"])
        await app.end()
    }

    @Test func aCachedResponseOnlyAdds() async throws {
        let app = try await LandingApp()
        app.origin.on("/homes", respond: homes(["1 first", "2 second"]))
        let manager = APIManager<CachedHomeList>(on: app.network)
        try await manager.landing(of: CachedHomeList(city: "a"))
        let landing = app.landLists(CachedHomeList.self) { $0.city }
        try await app.save(home(1, "newer"), home(3, "of another call"))
        try await manager.landing(of: CachedHomeList(city: "a"))
        #expect(manager.rawData?.source == .cache)
        await landing.committed()
        #expect(try await app.rows() == ["1 newer", "2 second", "3 of another call"])
        await app.end()
    }

    @Test func aFreshResponseLikeTheStaleOneLands() async throws {
        let app = try await LandingApp()
        app.origin.on("/homes", respond: homes(["1 first"]))
        let manager = APIManager<CachedHomeList>(on: app.network)
        let stale = CallOptions(cache: .timeToLive(.nanoseconds(1), staleWhileRevalidate: .seconds(600)))
        try await manager.landing(of: CachedHomeList(city: "a"), options: stale)
        let landing = app.landLists(CachedHomeList.self) { $0.city }
        try await app.save(home(1, "changed elsewhere"), home(2, "left"))
        try await manager.landing(of: CachedHomeList(city: "a"), options: stale)
        #expect(app.origin.requests.count == 2)
        await landing.committed()
        #expect(try await app.rows() == ["1 first"])
        await app.end()
    }

    @Test func aSharedResponseLandsForEachManager() async throws {
        let app = try await LandingApp()
        let gate = ScriptedGate()
        app.origin.on("/homes", respond: homes(["1 first"]).held(by: gate))
        let landing = app.landLists(HomeList.self) { $0.city }
        let managers = (0..<4).map { _ in APIManager<HomeList>(on: app.network) }
        let flights = managers.map { $0.load(HomeList(city: "a")) }
        try await gate.waitForArrivals()
        gate.open()
        for (manager, flight) in zip(managers, flights) { _ = try await manager.landing(of: flight) }
        await landing.committed()
        #expect(app.origin.requests.count == 1)
        #expect(try await app.rows() == ["1 first"])
        await app.end()
    }

    @Test func aCancelledCallLandsNothing() async throws {
        let app = try await LandingApp()
        let gate = ScriptedGate()
        app.origin.on("/homes?city=a", respond: homes(["1 first"]).held(by: gate))
        app.origin.on("/homes?city=b", respond: homes(["2 second"], city: "b"))
        let landing = app.land(HomeList.self)
        let manager = APIManager<HomeList>(on: app.network)
        let cancelled = manager.load(HomeList(city: "a"))
        try await gate.waitForArrivals()
        manager.cancel(cancelled)
        gate.open()
        try await manager.landing(of: HomeList(city: "b"))
        await landing.committed()
        #expect(try await app.rows() == ["2 second"])
        await app.end()
    }

    @Test func responsesOfAnotherAccountDoNotLand() async throws {
        let app = try await LandingApp()
        let gate = ScriptedGate()
        app.origin.on("/homes?city=a", respond: homes(["1 of anna"]).held(by: gate))
        app.origin.on("/homes?city=b", respond: homes(["2 of ben"], city: "b"))
        try await app.network.signIn(AccessToken("t", account: "anna"), to: Agency.self)
        let annas = app.land(HomeList.self)
        let manager = APIManager<HomeList>(on: app.network)
        let flight = manager.load(HomeList(city: "a"))
        try await gate.waitForArrivals()
        // Ben signs in while a call of Anna is in flight; his responses are not for her file, nor hers for his.
        try await app.network.signIn(AccessToken("u", account: "ben"), to: Agency.self)
        let other = ScratchFolder()
        let bensStore = try await other.open([Homes.self])
        let bens = app.network.land(HomeList.self, in: bensStore, by: HomeRows())
        gate.open()
        await #expect(throws: NetworkError.self) { try await manager.landing(of: flight) }
        try await manager.landing(of: HomeList(city: "b"))
        await annas.committed()
        await bens.committed()
        #expect(try await app.rows().isEmpty)
        let found = try await bensStore.read { try HomeRows().reform($0.fetch(Homes.self)) }
        #expect(found == ["2 of ben"])
        await app.end()
    }

    @Test func aResponseOfNobodyStaysOutOfAccounts() async throws {
        let app = try await LandingApp()
        let gate = ScriptedGate()
        app.origin.on("/homes", respond: homes([]).held(by: gate))
        let manager = APIManager<HomeList>(on: app.network)
        let flight = manager.load(HomeList(city: "a"))
        try await gate.waitForArrivals()
        // The manager shows the response after the sign-in, too.
        try await app.network.signIn(AccessToken("t", account: "anna"), to: Agency.self)
        try await app.save(home(1, "of anna"))
        let landing = app.landLists(HomeList.self) { $0.city }
        gate.open()
        _ = try await manager.landing(of: flight)
        await landing.committed()
        #expect(try await app.rows() == ["1 of anna"])
        await app.end()
    }

    @Test func anUnreadableResponseChangesNothing() async throws {
        let app = try await LandingApp()
        try await app.save(home(1, "first"))
        app.origin.on(
            "/homes", respond: [.json(#"{"items":[{"id":2,"city":"a","title":"x"},{"id":3}]}"#), homes(["1 newer"])])
        let landing = app.landLists(HomeList.self) { $0.city }
        let manager = APIManager<HomeList>(on: app.network)
        try await manager.landing(of: HomeList(city: "a"))
        await landing.committed()
        #expect(app.failures.count == 1)
        #expect(try await app.rows() == ["1 first"])
        try await manager.landing(of: HomeList(city: "a"))
        await landing.committed()
        #expect(try await app.rows() == ["1 newer"])
        await app.end()
    }

    @Test func aFailedCommitIsNotNewer() async throws {
        let app = try await LandingApp()
        let gate = ScriptedGate()
        app.origin.on("/homes", respond: [homes(["1 older"]).held(by: gate), homes(["1 newer"])])
        try await app.store.write {
            try $0.connection.execute(
                sql: """
                    CREATE TABLE paper (home INTEGER REFERENCES home (id) DEFERRABLE INITIALLY DEFERRED);
                    CREATE TRIGGER refusal AFTER INSERT ON home WHEN NEW.title = 'newer'
                    BEGIN INSERT INTO paper VALUES (99); END
                    """)
        }
        let landing = app.landLists(HomeList.self) { $0.city }
        let (first, second) = (APIManager<HomeList>(on: app.network), APIManager<HomeList>(on: app.network))
        let older = first.load(HomeList(city: "a"))
        try await gate.waitForArrivals()
        // A request of its own, with the response of a later moment.
        try await second.landing(of: HomeList(city: "a"), options: CallOptions(cacheUse: .refresh))
        await landing.committed()
        #expect(app.failures.count == 1)
        gate.open()
        _ = try await first.landing(of: older)
        await landing.committed()
        #expect(try await app.rows() == ["1 older"])
        await app.end()
    }

    @Test func aCallWithoutAManagerLandsByHand() async throws {
        let app = try await LandingApp()
        app.origin.on("/homes", respond: homes(["1 first"]))
        let landing = app.landLists(HomeList.self) { $0.city }
        let endpoint = HomeList(city: "a")
        let rawData = try await app.network.call(endpoint)
        await landing.committed()
        #expect(try await app.rows().isEmpty)
        landing.land(rawData, of: endpoint)
        landing.land(rawData, of: CachedHomeList(city: "a"))
        await landing.committed()
        #expect(try await app.rows() == ["1 first"])
        await app.end()
    }

    @Test func aResponseByHandHasItsCallsNumber() async throws {
        let app = try await LandingApp()
        app.origin.on("/homes", respond: [homes(["1 old"]), homes(["1 new"])])
        let (manager, endpoint) = (APIManager<HomeList>(on: app.network), HomeList(city: "a"))
        let older = manager.load(endpoint)
        let rawData = try await manager.landing(of: older)
        let landing = app.landLists(HomeList.self) { $0.city }
        try await manager.landing(of: endpoint)
        landing.land(rawData, of: endpoint, as: older)
        await landing.committed()
        #expect(try await app.rows() == ["1 new"])
        // Without a number it is newer than all calls before.
        landing.land(rawData, of: endpoint)
        await landing.committed()
        #expect(try await app.rows() == ["1 old"])
        await app.end()
    }

    @Test func theResponseOfAReplayedChangeLands() async throws {
        let (folder, status) = (ScratchFolder(), SettableNetworkStatus(.none))
        let queue = OfflineQueue(
            at: folder.url.appending(path: "changes/changes.sqlite"), replaying: [ReplayedEndpoint(HomeChange.self)])
        let app = try await LandingApp(offlineQueue: queue, status: status)
        app.origin.on("/homes/1", respond: homes(["1 changed"]))
        let landing = app.land(HomeChange.self)
        let (manager, sender) = (APIManager<HomeChange>(on: app.network), ChangeSender(landing))
        manager.delegate = sender
        _ = manager.load(HomeChange(id: 1))
        try await sender.stored.wait(until: 1)
        #expect(try await app.rows().isEmpty)
        status.set(.wifi)
        try await sender.replayed.wait(until: 1)
        await landing.committed()
        #expect(try await app.rows() == ["1 changed"])
        await queue.close()
        await app.end()
    }
}

private struct HomeChange: Endpoint {
    static let service = Agency.self
    static let method = HTTPRequest.Method.post
    static let offline = OfflinePolicy.queued
    var path: EndpointPath { "homes/\(id)" }
    @Unencoded var id: Int
}

/// A delegate that lands the response of a change when it was sent.
@MainActor private final class ChangeSender: APIManagerDelegate {
    let stored = AwaitedValue(0)
    let replayed = AwaitedValue(0)
    private let landing: TableLanding

    init(_ landing: TableLanding) { self.landing = landing }

    func apiManagerDidSucceed(_ manager: any APIManaging) {}
    func apiManager(_ manager: any APIManaging, didFailWith error: NetworkError) {}
    func apiManager(_ manager: any APIManaging, didQueue change: QueuedChange) { stored.update { $0 += 1 } }

    func apiManager(
        _ manager: any APIManaging, didReplay change: QueuedChange, with result: Result<RawData, NetworkError>
    ) {
        if case .success(let rawData) = result { landing.land(rawData, of: HomeChange(id: 1)) }
        replayed.update { $0 += 1 }
    }
}
