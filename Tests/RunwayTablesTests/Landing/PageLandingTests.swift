import Foundation
import HTTPTypes
import Runway
import RunwayTestServer
import Synchronization
import Testing

@testable import RunwayTables

/// The rows of a list at the server, which edits change.
private final class ServedRows: Sendable {
    /// Guards the rows.
    private let rows: Mutex<[String]>
    var value: [String] { rows.withLock { $0 } }

    init(_ rows: [String]) { self.rows = Mutex(rows) }

    func removeFirst() { rows.withLock { _ = $0.removeFirst() } }
}

@MainActor struct PageLandingTests {
    private func serve(_ rows: ServedRows, from origin: ScriptedOrigin) {
        origin.on(nil, "/pages") { request in
            let query = URLComponents(string: request.target)?.queryItems ?? []
            func number(_ name: String) -> Int { query.first { $0.name == name }?.value.flatMap(Int.init) ?? 0 }
            let rows = rows.value
            return homes(Array(rows.dropFirst(number("offset")).prefix(number("limit"))), total: rows.count)
        }
    }

    private func numbered(_ range: ClosedRange<Int>) -> [String] { range.map { "\($0) home" } }

    @Test func pagesLandOneAfterTheOther() async throws {
        let app = try await LandingApp()
        serve(ServedRows(numbered(1...7)), from: app.origin)
        let landing = app.landLists(HomePages.self) { $0.city }
        let manager = PagedAPIManager<HomePages>(on: app.network)
        try await manager.landing(of: HomePages(city: "a"))
        await landing.committed()
        #expect(try await app.rows() == numbered(1...3))
        while try await manager.landingOfNextPage() != nil {}
        await landing.committed()
        #expect(try await app.rows() == numbered(1...7))
        #expect(app.failures.isEmpty)
        await app.end()
    }

    @Test func aListBegunAnewHasOnePage() async throws {
        let app = try await LandingApp()
        let rows = ServedRows(numbered(1...7))
        serve(rows, from: app.origin)
        try await app.save(home(50, "elsewhere", city: "b"))
        let landing = app.landLists(HomePages.self) { $0.city }
        let manager = PagedAPIManager<HomePages>(on: app.network)
        try await manager.landing(of: HomePages(city: "a"))
        while try await manager.landingOfNextPage() != nil {}
        rows.removeFirst()
        _ = try await manager.landing(of: manager.reload())
        await landing.committed()
        #expect(try await app.rows() == numbered(2...4) + ["50 elsewhere"])
        await app.end()
    }

    @Test func evictedRowsStayInTheTable() async throws {
        let app = try await LandingApp()
        serve(ServedRows(numbered(1...12)), from: app.origin)
        let landing = app.landLists(HomePages.self) { $0.city }
        let manager = PagedAPIManager<HomePages>(
            on: app.network, limits: PagingLimits(maximumItemCount: 6))
        try await manager.landing(of: HomePages(city: "a"))
        while try await manager.landingOfNextPage() != nil {}
        await landing.committed()
        #expect(!manager.isFirstPage)
        #expect(try await app.rows() == numbered(1...12))
        await app.end()
    }

    @Test func aFailedLoadRemovesNothing() async throws {
        let app = try await LandingApp()
        app.origin.on(
            "/numbered/1", respond: [homes(numbered(1...3), total: 6), ScriptedResponse(status: .notFound)])
        app.origin.on("/numbered/2", respond: homes(numbered(4...6), total: 6))
        let landing = app.landLists(NumberedPages.self) { $0.city }
        let manager = PagedAPIManager<NumberedPages>(on: app.network)
        try await manager.landing(of: NumberedPages(city: "a"))
        // The second page lands, and the first, which is read again after it, fails.
        await #expect(throws: NetworkError.self) { try await manager.landingOfNextPage() }
        await landing.committed()
        #expect(app.origin.requests.count == 3)
        #expect(try await app.rows() == numbered(1...6))
        await app.end()
    }

    @Test func aPageDoesNotOverwriteOthers() async throws {
        let app = try await LandingApp()
        serve(ServedRows(numbered(1...5)), from: app.origin)
        let landing = app.landLists(HomePages.self) { $0.city }
        let manager = PagedAPIManager<HomePages>(on: app.network)
        try await manager.landing(of: HomePages(city: "a"))
        await landing.committed()
        try await app.save(home(1, "by another call"))
        _ = try await manager.landingOfNextPage()
        await landing.committed()
        #expect(try await app.rows() == ["1 by another call"] + numbered(2...5))
        await app.end()
    }

    @Test func theListThatLandedLastIsWhole() async throws {
        let app = try await LandingApp()
        serve(ServedRows(numbered(1...9)), from: app.origin)
        let landing = app.landLists(HomePages.self) { $0.city }
        let (first, second) = (
            PagedAPIManager<HomePages>(on: app.network), PagedAPIManager<HomePages>(on: app.network)
        )
        try await first.landing(of: HomePages(city: "a"))
        _ = try await first.landingOfNextPage()
        try await second.landing(of: HomePages(city: "a"))
        await landing.committed()
        #expect(try await app.rows() == numbered(1...3))
        // The rows of the second page, which the other list has removed, come back with the third.
        _ = try await first.landingOfNextPage()
        await landing.committed()
        #expect(try await app.rows() == numbered(1...7))
        await app.end()
    }

    @Test func aListBegunByNobodyRemovesNothing() async throws {
        let app = try await LandingApp()
        serve(ServedRows(numbered(1...7)), from: app.origin)
        let manager = PagedAPIManager<HomePages>(on: app.network)
        try await manager.landing(of: HomePages(city: "a"))
        try await app.network.signIn(AccessToken("t", account: "anna"), to: Agency.self)
        try await app.save(home(50, "of anna"))
        let landing = app.landLists(HomePages.self) { $0.city }
        _ = try await manager.landingOfNextPage()
        await landing.committed()
        // The page of her own call lands, which overlaps by one row; the other rows before it do not.
        let rows = try await app.rows()
        #expect(rows == numbered(3...5) + ["50 of anna"])
        _ = try await manager.landing(of: manager.reload())
        await landing.committed()
        #expect(try await app.rows() == numbered(1...3))
        await app.end()
    }

    @Test func aReleasedManagerIsFollowedNoLonger() async throws {
        let app = try await LandingApp()
        serve(ServedRows(numbered(1...3)), from: app.origin)
        let landing = app.landLists(HomePages.self) { $0.city }
        var manager: PagedAPIManager<HomePages>? = PagedAPIManager(on: app.network)
        try await manager?.landing(of: HomePages(city: "a"))
        await landing.committed()
        weak let released = manager
        manager = nil
        #expect(released == nil)
        await app.end()
    }
}
