import Runway
import RunwayJSON
import RunwayTesting
import Synchronization
import Testing

/// What a server can do wrong to a list: each ends in one clear outcome, within the requests that a load may make.
@MainActor
struct PagingBadInputTests {
    @Test(arguments: [
        "<html>", #"{"data":{}}"#, #"{"data":{"list":{"id":1}}}"#, #"{"data":{"list":[{"title":"no id"}]}}"#,
        #"{"data":{"list":[{"id":1.5}]}}"#, #"{"data":{"list":[{"id":null}]}}"#, #"{"data":{"list":[7]}}"#,
    ])
    func unreadablePageFailsTheLoad(text: String) async throws {
        let play = PagedPlay(EditedList(count: 20), OffsetList.self)
        await play.first(OffsetList())
        play.list.state.withLock { $0.response = { _ in text } }
        #expect(await play.next()?.failure?.kind == .invalidResponse)
        #expect(play.ids == Array(1...5))
        play.list.state.withLock { $0.response = nil }
        #expect(try await play.next()?.get() == Array(1...9))
    }

    @Test func pagesRepeatedIDsAreOneRow() async throws {
        let play = PagedPlay(EditedList(count: 20), OffsetList.self)
        play.list.state.withLock { $0.response = { _ in Self.page([1, 2, 2, 1, 3]) } }
        #expect(try await play.first(OffsetList())?.get() == [1, 2, 3])
        play.list.state.withLock { $0.response = { _ in Self.page([3, 4, 4]) } }
        #expect(try await play.next()?.get() == [1, 2, 3, 4])
        #expect(play.manager.isLastPage)
    }

    @Test(arguments: [-1, 0, 3, 1_000_000_000_000]) func wrongTotalDoesNotChangeTheEnd(total: Int)
        async throws
    {
        let play = PagedPlay(EditedList(count: 20), OffsetList.self)
        play.list.state.withLock { state in
            state.response = { query in
                let start = Int(query["offset"] ?? "") ?? 0
                return Self.page(Array((start + 1)..<max(start + 1, min(start + 6, 13))), more: #","total":\#(total)"#)
            }
        }
        await play.first(OffsetList())
        #expect(await play.loadToTheEnd() == nil)
        #expect(play.ids == Array(1...12))
    }

    @Test func pageOfTooManyRowsFails() async throws {
        let play = PagedPlay(EditedList(count: 0), OffsetList.self, limits: PagingLimits(maximumItemCount: 100))
        play.list.state.withLock { $0.response = { _ in Self.page(Array(1...101)) } }
        let error = try #require(await play.first(OffsetList())?.failure)
        #expect(error.kind == .invalidResponse)
        #expect(error.underlying as? PagingFailure == .tooManyRows(101, limit: 100))
    }

    @Test func serverThatIgnoresPagesGetsOneError() async throws {
        try await neverEnding(OffsetList.self)
        try await neverEnding(NumberedList.self)
        try await neverEnding(FixedList.self)
    }

    private func neverEnding<E: TestedList>(_ type: E.Type) async throws {
        let play = PagedPlay(EditedList(count: 0), E.self)
        play.list.state.withLock { $0.response = { _ in Self.page([1, 2, 3, 4, 5]) } }
        await play.first(E())
        let error = try #require(await play.next()?.failure, "\(E.self)")
        #expect(error.kind == .invalidResponse && error.underlying is PagingFailure, "\(E.self): \(error)")
        #expect(play.list.requestCount <= 15 && play.ids == [1, 2, 3, 4, 5])
    }

    @Test func repeatedPageWithoutIDsFails() async throws {
        let play = PagedPlay(EditedList(count: 0), PlainList.self)
        play.list.state.withLock { $0.response = { _ in Self.page([1, 2, 3, 4, 5]) } }
        await play.first(PlainList())
        #expect(await play.next()?.failure?.underlying as? PagingFailure == .repeatedPage)
        #expect(play.list.requestCount == 2)
    }

    @Test(arguments: [1, 3]) func repeatedCursorFails(period: Int) async throws {
        let play = PagedPlay(EditedList(count: 0), CursorList.self)
        let count = Mutex(0)
        play.list.state.withLock { state in
            state.response = { _ in
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                return Self.page([number], more: #","next":"c\#(number % period)""#)
            }
        }
        await play.first(CursorList())
        let error = try #require(await play.loadToTheEnd())
        #expect(error.underlying as? PagingFailure == .repeatedCursor)
        #expect(play.list.requestCount <= period + 1)
    }

    @Test func endlessCursorsWithoutNewRowsFail() async throws {
        for ids in [[], [1]] {
            let play = PagedPlay(EditedList(count: 0), CursorList.self)
            let count = Mutex(0)
            play.list.state.withLock { state in
                state.response = { _ in
                    let number = count.withLock { count in
                        count += 1
                        return count
                    }
                    return Self.page(number == 1 ? [1] : ids, more: #","next":"c\#(number)""#)
                }
            }
            await play.first(CursorList())
            #expect(await play.next()?.failure?.underlying as? PagingFailure == .nothingNew(requests: 13))
            #expect(play.list.requestCount == 14)
        }
    }

    @Test func cursorThatIsTooLongFails() async throws {
        let play = PagedPlay(EditedList(count: 0), CursorList.self)
        let cursor = String(repeating: "c", count: PageContent.maximumCursorByteCount + 1)
        play.list.state.withLock { $0.response = { _ in Self.page([1], more: #","next":"\#(cursor)""#) } }
        #expect(await play.first(CursorList())?.failure?.kind == .invalidResponse)
    }

    @Test func listHasAtMostTheLimitOfCursors() async throws {
        let play = PagedPlay(EditedList(count: 40), CursorList.self, limits: PagingLimits(maximumCursorCount: 3))
        await play.first(CursorList())
        let error = await play.loadToTheEnd()
        #expect(error?.underlying as? PagingFailure == .tooManyPages(limit: 3))
        #expect(play.ids == Array(1...10))
    }

    nonisolated static func page(_ ids: [Int], more: String = "") -> String {
        let rows = ids.map { #"{"id":\#($0)}"# }.joined(separator: ",")
        return #"{"data":{"list":[\#(rows)]\#(more)}}"#
    }
}
