import Runway
import RunwayJSON
import RunwayTesting
import Testing

/// Which rows of a long list are in memory, and how evicted rows are loaded again.
@MainActor
struct PageWindowTests {
    private let limits = PagingLimits(maximumItemCount: 20)

    @Test func evictedRowsCanBeReadAgain() async throws {
        try await thereAndBack(OffsetList.self)
        try await thereAndBack(NumberedList.self)
        try await thereAndBack(FixedList.self)
        try await thereAndBack(CursorList.self)
    }

    private func thereAndBack<E: TestedList>(_ type: E.Type) async throws {
        let play = PagedPlay(EditedList(count: 100), E.self, limits: limits)
        await play.first(E())
        var seen: Set<Int> = []
        while play.manager.hasMore {
            try #require(await play.next()?.failure == nil, "\(E.self)")
            #expect(play.ids.count <= 20)
            seen.formUnion(play.ids)
        }
        #expect(play.ids.last == 100 && !play.manager.isFirstPage, "\(E.self)")
        for _ in 0..<100 where !play.manager.isFirstPage {
            #expect(await play.land(play.manager.loadPreviousPage())?.failure == nil, "\(E.self)")
            #expect(play.ids.count <= 20)
            if let first = play.ids.first { #expect(play.ids == Array(first..<(first + play.ids.count)), "\(E.self)") }
        }
        #expect(play.ids.first == 1 && play.manager.isFirstPage && play.manager.hasMore, "\(E.self)")
        // And there again.
        #expect(await play.loadToTheEnd() == nil)
        #expect(play.ids.last == 100, "\(E.self)")
    }

    @Test func previousPageConnectsAfterEditsBeforeIt() async throws {
        for edit in 0..<3 {
            let play = PagedPlay(EditedList(count: 60), OffsetList.self, limits: limits)
            await play.first(OffsetList())
            #expect(await play.loadToTheEnd() == nil)
            switch edit {
            case 0: play.list.insert(at: 3)
            case 1: play.list.delete(at: 3)
            default: for _ in 0..<7 { play.list.insert(at: 3) }
            }
            for _ in 0..<60 where !play.manager.isFirstPage {
                let first = play.ids.first
                let failure = await play.land(play.manager.loadPreviousPage())?.failure
                try #require(failure == nil, "edit \(edit), \(play.list.queries.suffix(5))")
                #expect(play.ids.first != first)
                if let start = play.list.ids.firstIndex(of: play.ids[0]) {
                    #expect(Array(play.list.ids[start...].prefix(play.ids.count)) == play.ids, "edit \(edit)")
                }
            }
            #expect(play.ids == Array(play.list.ids.prefix(play.ids.count)))
        }
    }

    @Test func listsWithoutIDsLoadBothWays() async throws {
        let play = PagedPlay(EditedList(count: 60), PlainList.self, limits: limits)
        func ids() -> [Int] { play.manager.items.compactMap { $0["id"].int } }
        await play.first(PlainList())
        #expect(await play.loadToTheEnd() == nil)
        #expect(ids() == Array(41...60))
        for _ in 0..<60 where !play.manager.isFirstPage { await play.land(play.manager.loadPreviousPage()) }
        #expect(ids() == Array(1...20))
    }
}
