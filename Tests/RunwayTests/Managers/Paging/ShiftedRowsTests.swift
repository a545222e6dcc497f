import Runway
import RunwayTesting
import Testing

/// What one edit between two pages does to the rows, in every style that asks by position.
@MainActor
struct ShiftedRowsTests {
    @Test func rowDeletedBeforeTheEdgeLeavesNoGap() async throws {
        try await each { play in
            play.list.delete(at: 1)
            #expect(await play() == nil)
            #expect(Set(play.ids).isSuperset(of: play.list.ids))
        }
    }

    @Test func rowInsertedBeforeTheEdgeIsFoundOnce() async throws {
        try await each { play in
            play.list.insert(at: 1)
            #expect(await play() == nil)
            #expect(play.ids == play.list.ids)
        }
    }

    @Test func rowMovedBeforeTheEdgeIsFound() async throws {
        try await each { play in
            play.list.move(from: 17, to: 6)
            #expect(await play() == nil)
            #expect(play.ids == play.list.ids)
        }
    }

    @Test func rowMovedPastTheEdgeIsRepositioned() async throws {
        try await each { play in
            play.list.move(from: 2, to: 15)
            #expect(await play() == nil)
            #expect(play.ids == play.list.ids)
        }
    }

    @Test func lastKnownRowMayBeDeleted() async throws {
        try await each { play in
            guard let last = play.ids.last, let index = play.list.ids.firstIndex(of: last) else { return }
            play.list.delete(at: index)
            #expect(await play() == nil)
            #expect(play.ids.filter { $0 != last } == play.list.ids)
        }
    }

    @Test func severalPagesMayBeDeletedAtOnce() async throws {
        try await each { play in
            for _ in 0..<7 { play.list.delete(at: 0) }
            #expect(await play() == nil)
            #expect(Set(play.ids).isSuperset(of: play.list.ids))
        }
    }

    @Test func severalPagesMayBeInsertedAtOnce() async throws {
        try await each { play in
            for _ in 0..<12 { play.list.insert(at: 0) }
            #expect(await play() == nil)
            #expect(Set(play.ids) == Set(play.list.ids) && play.ids.count == play.list.ids.count)
        }
    }

    @Test func wholeListMayBeReplaced() async throws {
        let play = PagedPlay(EditedList(count: 20), OffsetList.self)
        await play.first(OffsetList())
        await play.next()
        for _ in 0..<20 {
            play.list.insert(at: 0)
            play.list.delete(at: 20)
        }
        #expect(await play.loadToTheEnd() == nil)
        #expect(play.ids == play.list.ids)
    }

    @Test func insertAtTheFrontTakesOneMoreRequest() async throws {
        let play = PagedPlay(EditedList(count: 40), OffsetList.self)
        await play.first(OffsetList())
        for _ in 0..<5 { await play.next() }
        let before = play.list.requestCount
        play.list.insert(at: 0)
        await play.next()
        #expect(play.list.requestCount == before + 2 && play.ids.first == 41)
        #expect(!play.manager.mayMissRows)
    }

    @Test func rowsNotFoundWithinTheLimitAreReported() async throws {
        let play = PagedPlay(EditedList(count: 60), OffsetList.self, limits: PagingLimits(maximumExtraRequestCount: 2))
        await play.first(OffsetList())
        for _ in 0..<8 { await play.next() }
        play.list.insert(at: 25)
        await play.next()
        #expect(play.manager.mayMissRows && play.manager.error == nil)
        #expect(await play.land(play.manager.reload())?.failure == nil)
        #expect(!play.manager.mayMissRows)
    }

    /// Reads two pages and a bit, makes an edit, and reads to the end, in every style.
    private func each(_ edit: @MainActor (AnyPlay) async throws -> Void) async throws {
        try await edit(await AnyPlay(OffsetList.self))
        try await edit(await AnyPlay(NumberedList.self))
        try await edit(await AnyPlay(FixedList.self))
    }
}

/// A play of any style that has read a part of a list of twenty rows.
@MainActor
private final class AnyPlay {
    let list: EditedList
    private let currentIDs: () -> [Int]
    private let loadMore: () async -> NetworkError?

    init<E: TestedList>(_ type: E.Type) async {
        let play = PagedPlay(EditedList(count: 20), E.self)
        list = play.list
        currentIDs = { play.ids }
        loadMore = { await play.loadToTheEnd() }
        await play.first(E())
        await play.next()
    }

    var ids: [Int] { currentIDs() }
    /// Reads to the end.
    func callAsFunction() async -> NetworkError? { await loadMore() }
}
