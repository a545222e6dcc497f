import Dispatch
import Observation
import RunwayJSON
import RunwayTesting
import Synchronization
import Testing

@testable import Runway

@MainActor
struct PagingTests {
    @Test func pagesAreLoadedUntilTheEnd() async throws {
        let play = PagedPlay(EditedList(count: 12), OffsetList.self)
        #expect(play.manager.hasMore && play.manager.isFirstPage && !play.manager.isLastPage)
        #expect(try await play.first(OffsetList())?.get() == [1, 2, 3, 4, 5])
        #expect(play.manager.newestItems.map { $0["id"].int } == [1, 2, 3, 4, 5])
        #expect(try await play.next()?.get() == Array(1...9), "the page overlaps the one before by a row")
        #expect(play.manager.newestItems.map { $0["id"].int } == [6, 7, 8, 9])
        #expect(try await play.next()?.get() == Array(1...12))
        #expect(play.manager.isLastPage && !play.manager.hasMore && play.manager.isFirstPage)
        #expect(play.manager.loadNextPage() == nil, "at the end nothing is asked")
        #expect(play.manager.loadPreviousPage() == nil, "before the start neither")
        #expect(play.list.requestCount == 3)
        #expect(play.list.queries.map { $0["offset"] } == ["0", "4", "8"])
        #expect(play.list.queries.allSatisfy { $0["size"] == "5" })
    }

    @Test func pagesAreAwaitedUntilTheEnd() async throws {
        let play = PagedPlay(EditedList(count: 12), OffsetList.self)
        try await play.manager.landing(of: OffsetList())
        var counts = [play.manager.newestItems.count]
        for _ in 1...5 {
            guard try await play.manager.landingOfNextPage() != nil else { break }
            counts.append(play.manager.newestItems.count)
        }
        #expect(counts == [5, 4, 3] && play.manager.isLastPage && play.ids == Array(1...12))
    }

    @Test func numberedPagesOverlap() async throws {
        let play = PagedPlay(EditedList(count: 12), NumberedList.self)
        await play.first(NumberedList())
        #expect(await play.loadToTheEnd() == nil)
        #expect(play.ids == Array(1...12))
        #expect(play.list.queries.allSatisfy { (3...5).contains(Int($0["size"] ?? "") ?? 0) })
    }

    @Test func pagesOfFixedSizeReadThePageBefore() async throws {
        let play = PagedPlay(EditedList(count: 12), FixedList.self)
        await play.first(FixedList())
        await play.next()
        #expect(play.ids == Array(1...10))
        #expect(play.list.queries.map { $0["page"] } == ["1", "2", "1"])
    }

    @Test(arguments: [true, false]) func totalEndsTheListWithoutAnotherRequest(saysTotal: Bool) async throws {
        let list = EditedList(count: 9)
        list.state.withLock { $0.saysTotal = saysTotal }
        let play = PagedPlay(list, OffsetList.self)
        await play.first(OffsetList())
        await play.next()
        #expect(play.ids == Array(1...9) && play.manager.isLastPage == saysTotal)
        #expect(play.manager.total == (saysTotal ? 9 : nil))
        await play.next()
        #expect(play.manager.isLastPage && play.list.requestCount == (saysTotal ? 2 : 3))
    }

    @Test func emptyListEndsAtOnce() async throws {
        let play = PagedPlay(EditedList(count: 0), OffsetList.self)
        #expect(try await play.first(OffsetList())?.get() == [])
        #expect(play.manager.isLastPage && play.manager.isFirstPage)
    }

    @Test func failedLoadIsRepeatedByTheNext() async throws {
        let play = PagedPlay(EditedList(count: 20), OffsetList.self)
        await play.first(OffsetList())
        play.list.state.withLock { $0.beforeResponse = { _ in NetworkError(.noNetwork, in: .transporting, "gone") } }
        #expect(await play.next()?.failure?.kind == .noNetwork)
        #expect(play.ids == Array(1...5) && play.manager.error?.kind == .noNetwork && !play.manager.isLoading)
        play.list.state.withLock { $0.beforeResponse = nil }
        await play.next()
        #expect(play.ids == Array(1...9) && play.manager.error == nil)
        #expect(play.list.queries.suffix(2).map { $0["offset"] } == ["4", "4"])
    }

    @Test func failedListReportsItsOwnParameters() async throws {
        let play = PagedPlay(EditedList(count: 20), OffsetList.self)
        await play.first(OffsetList())
        play.list.state.withLock { $0.beforeResponse = { _ in NetworkError(.noNetwork, in: .transporting, "gone") } }
        await play.first(OffsetList(size: 7))
        let landed = try #require(play.manager.landedEndpoint as? OffsetList)
        #expect(landed.size == 7)
        #expect(play.manager.endpoint?.size != 7, "the rows are still those of the old list")
        play.manager.parameterSource = NoSource.shared
        let count = play.landings.count
        play.manager.load()
        try await waitUntil { play.landings.count != count }
        #expect(play.manager.landedEndpoint == nil, "no parameters were supplied for this load")
    }

    @Test func failedFirstPageIsRequestedAgain() async throws {
        let play = PagedPlay(EditedList(count: 7), OffsetList.self)
        play.list.state.withLock { $0.beforeResponse = { _ in NetworkError(.noNetwork, in: .transporting, "gone") } }
        #expect(await play.first(OffsetList())?.failure != nil)
        play.list.state.withLock { $0.beforeResponse = nil }
        #expect(try await play.next()?.get() == Array(1...5))
    }

    @Test func secondLoadReturnsTheLoadInFlight() async throws {
        let play = PagedPlay(EditedList(count: 20), OffsetList.self)
        await play.first(OffsetList())
        let flight = play.manager.loadNextPage()
        #expect(flight != nil && play.manager.loadNextPage() == flight && play.manager.loadPreviousPage() == flight)
        await play.land(flight)
        #expect(play.list.requestCount == 2 && play.landings.count == 2)
        #expect(play.manager.landedFlight == flight)
    }

    @Test func cancelledLoadDoesNotLand() async throws {
        let play = PagedPlay(EditedList(count: 20), OffsetList.self)
        await play.first(OffsetList())
        let flight = try #require(play.manager.loadNextPage())
        play.manager.cancel(flight)
        #expect(!play.manager.isLoading)
        await play.next()
        #expect(play.landings.count == 2 && play.ids == Array(1...9))
    }

    @Test func reloadIgnoresCachedPages() async throws {
        let play = PagedPlay(EditedList(count: 9), OffsetList.self)
        await play.first(OffsetList())
        await play.next()
        play.list.delete(at: 0)
        #expect(try await play.land(play.manager.reload())?.get() == [2, 3, 4, 5, 6])
    }

    @Test func clearingRemovesTheRowsButNotTheList() async throws {
        let play = PagedPlay(EditedList(count: 9), OffsetList.self)
        await play.first(OffsetList())
        play.manager.loadNextPage()
        play.manager.clear()
        #expect(play.manager.items.isEmpty && play.manager.rawData == nil && !play.manager.isLoading)
        #expect(play.manager.landedFlight == nil && play.manager.landedEndpoint == nil)
        #expect(try await play.next()?.get() == [1, 2, 3, 4, 5])
    }

    @Test func parameterSourceSelectsTheList() async throws {
        let play = PagedPlay(EditedList(count: 9), OffsetList.self)
        let flight = play.manager.load()
        #expect(!play.manager.isLoading)
        try await waitUntil { !play.landings.isEmpty }
        #expect(play.landings.last?.failure?.kind == .invalidParameters && play.manager.landedFlight == flight)
        let source = ListSource()
        play.manager.parameterSource = source
        #expect(try await play.land(play.manager.load())?.get() == [1, 2, 3, 4, 5])
    }

    @Test func reformerOfOnePageReadsTheWholeList() async throws {
        let play = PagedPlay(EditedList(count: 9), OffsetList.self)
        #expect(throws: NetworkError.self) { try play.manager.fetch(Titles()) }
        await play.first(OffsetList())
        await play.next()
        #expect(play.manager.rawData?.isIndexed == true, "the main actor does not index it")
        #expect(try play.manager.fetch(Titles()) == (1...9).map { "row \($0)" })
        #expect(try play.manager.fetchNewest(Titles()) == (6...9).map { "row \($0)" })
        #expect(try await play.manager.fetchConcurrently(Titles()).count == 9)
        #expect(play.manager.rawData?["code"].int == 0, "the envelope is that of the response")
    }

    @Test func releasedManagerCancelsItsLoad() async throws {
        let managers = ManagerBench()
        let recorder = LandingRecorder()
        var manager: PagedAPIManager<OffsetList>? = PagedAPIManager(on: managers.network, delegate: recorder)
        weak let leaked = manager
        let flight = try #require(manager?.load(OffsetList()))
        try await managers.transport.waitForArrival(of: flight)
        manager = nil
        #expect(leaked == nil)
        try await managers.transport.wait { $0.cancelled.contains(flight.number) }
        #expect(try await managers.outcome(of: flight, among: 1)?.name == "cancelled")
        #expect(recorder.landings.isEmpty)
    }

    @Test(.timeLimit(.minutes(10))) func loadCancelledWhileReadingDoesNotLand() async throws {
        // It blocks a thread of all tasks.
        try await oneAtATime {
            let play = PagedPlay(EditedList(count: 9), HeldList.self)
            play.manager.load(HeldList())
            try await waitUntil { HeldList.isHeld.withLock { $0 } }
            play.manager.cancelAll()
            #expect(!play.manager.isLoading)
            play.list.insert(at: 0)
            HeldList.isRead.signal()
            #expect(try await play.first(HeldList())?.get() == [10, 1, 2, 3, 4])
            #expect(play.landings.count == 1)
        }
    }

    @Test func olderPageNeverLandsAfterAReload() async throws {
        let managers = ManagerBench(ignoresCancellation: true)
        let recorder = LandingRecorder()
        let manager = PagedAPIManager<OffsetList>(on: managers.network, delegate: recorder)
        let older = manager.load(OffsetList(), options: CallOptions(priority: .low))
        try await managers.transport.waitForArrival(of: older)
        let newer = manager.reload()
        try await managers.transport.waitForArrival(of: newer)
        for (flight, id) in [(older, 1), (newer, 2)] {
            managers.transport.respond(flight.number, with: .success(.json(#"{"data":{"list":[{"id":\#(id)}]}}"#)))
        }
        try await recorder.landings(count: 1)
        #expect(manager.items.map { $0["id"].int } == [2] && recorder.landings.map(\.flight) == [newer])
        #expect(try await managers.outcome(of: older, among: 2)?.name == "replaced")
    }

    @Test func vetoEndsTheLoadWithoutALanding() async throws {
        for veto in [Veto.Moment.beforeCall, .beforeLanding] {
            let play = PagedPlay(EditedList(count: 9), OffsetList.self)
            let interceptor = Veto(veto)
            play.manager.interceptor = interceptor
            play.manager.load(OffsetList())
            try await waitUntil { !play.manager.isLoading }
            #expect(play.landings.isEmpty && play.manager.items.isEmpty)
            play.manager.interceptor = nil
            #expect(try await play.next()?.get() == [1, 2, 3, 4, 5])
        }
    }

    @Test func managerIsObservable() async throws {
        let play = PagedPlay(EditedList(count: 9), OffsetList.self)
        let count = Mutex(0)
        withObservationTracking {
            _ = play.manager.items.count
        } onChange: {
            count.withLock { $0 += 1 }
        }
        await play.first(OffsetList())
        #expect(count.withLock { $0 } == 1)
    }
}

struct Titles: Reformer, Sendable {
    func reform(_ rawData: RawData, from endpoint: any Endpoint) throws -> [String] {
        try rawData["data"]["list"].elements.map { try $0["title"].require() }
    }
}

/// A list whose first page is held up when it is read for the manager, which is after the check of the response.
private struct HeldList: TestedList {
    static let paging = PageStyle.offset
    static let isHeld = Mutex(false)
    static let isRead = DispatchSemaphore(value: 0)
    var offset = 0
    var size = 0
    mutating func ask(for page: PageRequest) { (offset, size) = (page.offset, page.size) }
    func validate(response: RawData) throws {}
    func read(_ rawData: RawData) throws -> PageContent {
        let isFirst = Self.isHeld.withLock { isHeld in
            defer { isHeld = true }
            return !isHeld
        }
        if isFirst { Self.isRead.wait() }
        return try PageContent(rows: rawData["data"]["list"], id: "id")
    }
}

@MainActor
private final class NoSource: ParameterSource {
    static let shared = NoSource()
    func endpoint(for manager: any APIManaging) -> (any Endpoint)? { nil }
}

@MainActor
private final class ListSource: ParameterSource {
    func endpoint(for manager: any APIManaging) -> (any Endpoint)? { OffsetList() }
}

@MainActor
private final class Veto: Interceptor {
    enum Moment { case beforeCall, beforeLanding }
    let moment: Moment
    init(_ moment: Moment) { self.moment = moment }
    func beforeCall(to endpoint: inout any Endpoint, as flight: FlightID, by manager: (any APIManaging)?) -> Bool {
        moment != .beforeCall
    }
    func beforeSuccess(_ rawData: RawData, of call: InterceptedCall, by manager: (any APIManaging)?) -> Bool {
        moment != .beforeLanding
    }
}
