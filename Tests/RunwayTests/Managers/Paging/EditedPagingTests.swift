import Foundation
import Runway
import RunwayTesting
import Synchronization
import Testing

/// Pages through lists that are edited meanwhile, in every order that a seed can think of.
@MainActor
struct EditedPagingTests {
    /// How many lists are read; `RUNWAY_PAGED_LISTS` asks for more.
    nonisolated static let count =
        ProcessInfo.processInfo.environment["RUNWAY_PAGED_LISTS"].flatMap { Int($0) } ?? 1008

    @Test func byOffset() async throws { try await play(OffsetList.self) }
    @Test func byNumber() async throws { try await play(NumberedList.self) }
    @Test func byNumberOfFixedSize() async throws { try await play(FixedList.self) }
    @Test func byCursor() async throws { try await play(CursorList.self) }

    private func play<E: TestedList>(_ type: E.Type) async throws {
        for seed in Seeds.some(Self.count / 12) {
            for regime in EditedReading<E>.Regime.allCases {
                let problems = await EditedReading<E>(seed: seed, regime).run()
                try #require(problems.isEmpty, "seed \(seed), \(E.self), \(regime): \(problems)")
            }
        }
    }
}

@MainActor
private final class EditedReading<E: TestedList> {
    enum Regime: CaseIterable {
        /// Rows come and go at any time, between the requests of one load too.
        case comingAndGoing
        /// Rows come, go and move, but no more than one between two loads.
        case oneEditBetweenLoads
        /// Everything, at any time.
        case wild
    }

    private var random: SeededGenerator
    private let regime: Regime
    private let list: EditedList
    private let play: PagedPlay<E>
    private var problems: [String] = []
    private var hasEdited = false
    private let extraRequests: Int

    init(seed: UInt64, _ regime: Regime) {
        random = SeededGenerator(seed: seed)
        self.regime = regime
        list = EditedList(count: Int.random(in: 0...40, using: &random))
        list.state.withLock { $0.saysTotal = seed % 2 == 0 }
        extraRequests = regime == .oneEditBetweenLoads ? 60 : 12
        play = PagedPlay(list, limits: PagingLimits(maximumExtraRequestCount: extraRequests))
        // Pages of a fixed size can't overlap, so that what changes between two requests of one load may stay unseen.
        let editsMeanwhile = regime != .oneEditBetweenLoads && (regime == .wild || E.paging != .numberOfFixedSize())
        let state = Mutex(SeededGenerator(seed: seed &* 31))
        list.state.withLock { list in
            list.beforeResponse = { list in
                state.withLock { random in
                    if editsMeanwhile, Int.random(in: 0..<4, using: &random) == 0 {
                        Self.edit(list, regime, using: &random)
                    }
                    return Int.random(in: 0..<12, using: &random) == 0
                        ? NetworkError(.noNetwork, in: .transporting, "gone") : nil
                }
            }
        }
    }

    func run() async -> [String] {
        await load(play.manager.load(E()))
        for _ in 0..<Int.random(in: 3...14, using: &random) { await step() }
        // No more edits, and no more failures.
        list.state.withLock { $0.beforeResponse = nil }
        if play.manager.items.isEmpty { await load(play.manager.reload()) }
        for _ in 0..<200 where play.manager.hasMore && problems.isEmpty {
            await load(play.manager.loadNextPage(), mustSucceed: regime == .oneEditBetweenLoads)
        }
        if play.manager.hasMore { problems.append("the end was not reached") }
        checkEnd()
        await load(play.manager.reload(), mustSucceed: true)
        if let error = await play.loadToTheEnd() { problems.append("\(error)") }
        if play.ids != list.ids { problems.append("\(play.ids) after a reload, \(list.ids) on the server") }
        return problems
    }

    private func step() async {
        switch Int.random(in: 0..<12, using: &random) {
        case 0: play.manager.cancelAll()
        case 1: await interrupt()
        case 2 where regime != .oneEditBetweenLoads:
            for _ in 0..<Int.random(in: 1...6, using: &random) { Self.edit(list, regime, using: &random) }
        case 2...5:
            if regime == .oneEditBetweenLoads, hasEdited { return await load(play.manager.loadNextPage()) }
            hasEdited = true
            Self.edit(list, regime, using: &random)
        default: await load(play.manager.loadNextPage())
        }
    }

    /// Cancels a load somewhere in its middle.
    private func interrupt() async {
        let before = play.ids
        let count = play.landings.count
        guard play.manager.loadNextPage() != nil else { return }
        for _ in 0..<Int.random(in: 0...6, using: &random) { await Task.yield() }
        guard play.manager.isLoading else { return landed(before: count) }
        play.manager.cancelAll()
        if play.ids != before { problems.append("a cancelled load changed the rows") }
    }

    private func load(_ flight: FlightID?, mustSucceed: Bool = false) async {
        let before = play.ids
        let requests = list.requestCount
        let count = play.landings.count
        let landing = await play.land(flight)
        if let error = landing?.failure {
            if play.ids != before { problems.append("a load that failed changed the rows") }
            if mustSucceed { problems.append("\(error)") }
        }
        if list.requestCount - requests > extraRequests + 2 {
            problems.append("\(list.requestCount - requests) requests of one load")
        }
        landed(before: count)
    }

    private func landed(before count: Int) {
        if play.landings.count > count + 1 { problems.append("a load landed twice") }
        if play.landings.count > count, play.landings.last?.failure == nil { hasEdited = false }
        if Set(play.ids).count != play.ids.count { problems.append("a row is there twice: \(play.ids)") }
    }

    private func checkEnd() {
        let server = list.ids
        let wanted: Set<Int> =
            switch regime {
            case .comingAndGoing: list.state.withLock { $0.untouched }
            // A cursor says nothing of the rows before it.
            case .oneEditBetweenLoads: list.state.withLock { E.paging == .cursor ? $0.untouched : $0.remaining }
            case .wild: []
            }
        let missing = wanted.subtracting(play.ids)
        if !missing.isEmpty { problems.append("missing \(missing.sorted()) of \(server) in \(play.ids)") }
        let untouched = regime == .wild ? [] : list.state.withLock { $0.untouched }
        let order = play.ids.filter { untouched.contains($0) }
        if order != server.filter({ untouched.contains($0) && order.contains($0) }) {
            problems.append("order \(play.ids) of \(server)")
        }
    }

    private nonisolated static func edit(_ list: EditedList, _ regime: Regime, using random: inout SeededGenerator) {
        let count = list.ids.count
        let place = Int.random(in: 0...count, using: &random)
        switch Int.random(in: 0..<(regime == .comingAndGoing ? 2 : 3), using: &random) {
        case 0: list.insert(at: place)
        case 1: list.delete(at: place)
        default: list.move(from: place, to: Int.random(in: 0...count, using: &random))
        }
    }
}
