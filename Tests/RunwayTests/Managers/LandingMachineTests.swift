import RunwayTesting
import Testing

@testable import Runway

/// The machine of a manager's landings alone, without tasks, hooks and I/O.
struct LandingMachineTests {
    private static let network = NetworkLayer(transport: StubTransport { _ in .json("{}") }, pipeline: .tested)

    private func call() -> Flight { Self.network.makeFlight(Work.self, .standard) }

    private func response(_ flight: Flight, _ byte: UInt8 = 0) -> Landing { Landing(flight, Work(), RawData([byte])) }

    @Test func secondCallIsIgnoredOnlyDuringTheFirst() {
        var machine = LandingMachine(overlap: .ignoreNew)
        let (known, running) = (call(), call())
        _ = machine.startCompleted(response(known))
        #expect(machine.requested() == .start)
        _ = machine.startInFlight(running)
        #expect(machine.requested() == .ignore(running.id))
        _ = machine.land(response(running))
        #expect(machine.requested() == .start)
    }

    @Test func newerCallReplacesAllThatHaveNotLanded() {
        var machine = LandingMachine(overlap: .cancelRunning)
        let (landed, known, refused, running, newer) = (call(), call(), call(), call(), call())
        _ = machine.startInFlight(landed)
        _ = machine.land(response(landed))
        let replacedByKnown = machine.startCompleted(response(known))
        let replacedByRefused = machine.refuse(refused).map(\.id)
        let replacedByRunning = machine.startInFlight(running).map(\.id)
        let replacedByNewer = machine.startInFlight(newer).map(\.id)
        #expect(replacedByKnown.isEmpty && replacedByRefused == [known.id] && replacedByRunning == [refused.id])
        #expect(replacedByNewer == [running.id])
        #expect(machine.pending == [newer.id] && machine.last.landed?.flight === landed)
    }

    @Test(arguments: [OverlapPolicy.joinOrReplace, .ignoreNew, .cancelRunning, .concurrent])
    func refusedCallReplacesIfThePolicyCancels(overlap: OverlapPolicy) {
        var machine = LandingMachine(overlap: overlap)
        let (running, refused) = (call(), call())
        _ = machine.startInFlight(running)
        let replaced = machine.refuse(refused).map(\.id)
        let cancels = overlap == .joinOrReplace || overlap == .cancelRunning
        #expect(replaced == (cancels ? [running.id] : []))
        #expect(machine.pending == (cancels ? [refused.id] : [running.id, refused.id]))
    }

    @Test func onlyAnIdenticalCallInFlightIsJoined() throws {
        var machine = LandingMachine(overlap: .joinOrReplace)
        let (known, running) = (call(), call())
        _ = machine.startCompleted(response(known))
        #expect(machine.requested(try identity(call(), 1)) == .start)
        _ = machine.startInFlight(running, as: try identity(running, 1))
        #expect(machine.requested(try identity(call(), 1)) == .join(running.id))
        #expect(machine.requested(try identity(call(), 2)) == .start && machine.requested() == .start)
        _ = machine.land(response(running))
        #expect(machine.requested(try identity(call(), 1)) == .start)
    }

    private func identity(_ flight: Flight, _ id: Int) throws -> CallIdentity {
        CallIdentity(try CallContent(of: Work(id: id), in: flight), in: flight)
    }

    @Test func endedCallNeverLands() {
        var machine = LandingMachine(overlap: .concurrent)
        let flight = call()
        _ = machine.startInFlight(flight, holding: response(flight))
        let ended = [machine.end(flight.id), machine.end(flight.id)]
        #expect(ended[0] === flight && ended[1] == nil)
        let isDiscarded = if case .discard = machine.completed(flight.id) { true } else { false }
        let landed = [
            machine.land(response(flight)), machine.holdStale(response(flight)), machine.landStale(of: flight.id),
        ]
        #expect(isDiscarded && landed == [false, false, false] && machine.last.landed == nil)
    }

    @Test func staleResponseLandsBeforeTheFreshOne() {
        var machine = LandingMachine(overlap: .concurrent)
        let flight = call()
        let stale = response(flight)
        _ = machine.startInFlight(flight, holding: stale)
        let isFirst = if case .landStale(let held) = machine.completed(flight.id) { held === stale } else { false }
        let landed = [machine.landStale(of: flight.id), machine.landStale(of: flight.id)]
        let isNext = if case .receive(isValidated: false) = machine.completed(flight.id) { true } else { false }
        #expect(isFirst && landed == [true, false] && isNext)
    }

    @Test func sameFreshResponseLandsUnchangedUnlessCleared() {
        for clears in [false, true] {
            var machine = LandingMachine(overlap: .concurrent)
            let flight = call()
            _ = machine.startInFlight(flight, holding: response(flight, 1))
            _ = machine.landStale(of: flight.id)
            if clears { machine.clear() }
            let unchanged = [machine.landUnchanged(response(flight, 2)), machine.landUnchanged(response(flight, 1))]
            #expect(unchanged == [false, !clears] && machine.isPending(flight.id) == clears)
        }
    }

    @Test func heldResponsesAreTakenBackInAnyOrder() {
        for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            var machine = LandingMachine(overlap: .concurrent)
            let first = call()
            _ = machine.startInFlight(first)
            _ = machine.land(response(first))
            let flights = (0..<3).map { _ in call() }
            for flight in flights { _ = machine.startCompleted(response(flight)) }
            for (count, index) in order.enumerated() {
                _ = machine.end(flights[index].id)
                let left = order.dropFirst(count + 1).max().map { flights[$0] } ?? first
                #expect(machine.last.response?.flight === left && machine.last.landed?.flight === left, "\(order)")
            }
        }
    }

    @Test func landedResponseIsReleasedAfterTheNext() {
        var machine = LandingMachine(overlap: .concurrent)
        weak var released: Landing?
        do {
            let landing = response(call())
            released = landing
            _ = machine.startCompleted(landing)
            _ = machine.land(landing)
        }
        #expect(released != nil)
        let next = response(call())
        _ = machine.startCompleted(next)
        _ = machine.land(next)
        #expect(released == nil)
    }

    @Test(arguments: [OverlapPolicy.joinOrReplace, .ignoreNew, .cancelRunning, .concurrent])
    func randomEventsMatchTheModel(overlap: OverlapPolicy) throws {
        for seed in Seeds.some(700) {
            var play = MachinePlay(seed: seed, overlap, on: Self.network)
            for _ in 0..<80 { play.step() }
            try #require(play.problems.isEmpty, "seed \(seed), \(overlap): \(play.problems)")
        }
    }
}

/// Plays random events to a machine and to a plain model of it, which never forgets anything, and compares the two.
private struct MachinePlay {
    private struct Call {
        let flight: Flight
        var id = 0
        var isRefused = false
        var isInFlight = false
        var hasEnded = false
        /// The stale response that is held.
        var held: Landing?
        var hadStale = false
        /// Of what the delegate was notified: `true` for a final landing.
        var notified: [Bool] = []
    }

    private var random: SeededGenerator
    private let network: NetworkLayer
    private let overlap: OverlapPolicy
    private var machine: LandingMachine
    private var calls: [Call] = []
    /// What landed and what is held, in order, since it was last cleared.
    private var shown: [(landing: Landing, isHeld: Bool)] = []
    private(set) var problems: [String] = []
    /// Whether each call that starts or fails to ends those before it.
    private var cancels: Bool { overlap == .joinOrReplace || overlap == .cancelRunning }

    init(seed: UInt64, _ overlap: OverlapPolicy, on network: NetworkLayer) {
        random = SeededGenerator(seed: seed)
        self.network = network
        self.overlap = overlap
        machine = LandingMachine(overlap: overlap)
    }

    mutating func step() {
        switch Int.random(in: 0..<12, using: &random) {
        case 0...2: load()
        case 3...5: complete()
        case 6: findStale()
        case 7...8: landStale()
        case 9: if let index = calls.indices.randomElement(using: &random) { end(index) }
        case 10: if chance(5) { for id in machine.pending { end(id) } }
        default: if chance(3) { clear() }
        }
        compare()
    }

    private mutating func chance(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }

    private mutating func landing(_ flight: Flight, mayFail: Bool = true) -> Landing {
        mayFail && chance(3)
            ? Landing(flight, Work(), failing: NetworkError(.refused, in: .transporting, "no"))
            : Landing(flight, Work(), RawData([UInt8.random(in: 0...1, using: &random)]))
    }

    private mutating func load() {
        let running = calls.first { $0.isInFlight && !$0.hasEnded }
        var call = Call(flight: network.makeFlight(Work.self, .standard), id: Int.random(in: 0...2, using: &random))
        let work = Work(id: call.id)
        guard let content = try? CallContent(of: work, in: call.flight) else { return problems.append("no content") }
        let identity = CallIdentity(content, in: call.flight)
        let found = machine.requested(identity)
        let expected: LandingMachine.Overlap =
            switch (overlap, running) {
            case (.ignoreNew, let running?): .ignore(running.flight.id)
            case (.joinOrReplace, let running?) where running.id == call.id: .join(running.flight.id)
            default: .start
            }
        if found != expected { problems.append("\(found), not \(expected)") }
        if found != .start { return }
        let pending = calls.filter { !$0.hasEnded }.map(\.flight.id)
        let replaced: [Flight]
        switch Int.random(in: 0..<4, using: &random) {
        case 0:
            call.isRefused = true
            replaced = machine.refuse(call.flight)
            replace(replaced)
        case 1:
            let landing = landing(call.flight)
            replaced = machine.startCompleted(landing)
            replace(replaced)
            if landing.rawData != nil { shown.append((landing, true)) }
        default:
            call.isInFlight = true
            call.held = chance(2) ? landing(call.flight, mayFail: false) : nil
            call.hadStale = call.held != nil
            replaced = machine.startInFlight(call.flight, as: identity, holding: call.held)
            replace(replaced)
            if let held = call.held { shown.append((held, true)) }
        }
        calls.append(call)
        if replaced.map(\.id) != (cancels ? pending : []) { problems.append("replaced others") }
    }

    private mutating func replace(_ replaced: [Flight]) {
        for flight in replaced {
            guard let index = calls.firstIndex(where: { $0.flight === flight }) else { continue }
            calls[index].hasEnded = true
            removeHeld(index)
        }
    }

    /// A call's result comes, also of a call that has ended.
    private mutating func complete() {
        guard let index = calls.indices.randomElement(using: &random) else { return }
        let call = calls[index]
        switch machine.completed(call.flight.id) {
        case .discard: if !call.hasEnded { problems.append("a pending call is discarded") }
        case .landStale(let stale):
            if call.hasEnded || stale !== call.held { problems.append("another stale response") }
            landStale(index)
        case .fail: if call.hasEnded || !call.isRefused { problems.append("fails although it started") }
        case .receive(let isValidated):
            if call.hasEnded || call.isRefused || call.held != nil || isValidated == call.isInFlight {
                problems.append("received too early")
            }
        }
        if calls[index].held != nil { return problems.append("a stale response is held after it landed") }
        // A hook may end the call before it lands.
        if chance(6) { end(index) }
        land(index)
    }

    private mutating func land(_ index: Int) {
        let call = calls[index]
        let landing: Landing =
            call.isRefused
            ? Landing(call.flight, nil, failing: NetworkError(.invalidParameters, in: .preparing, "no"))
            : shown.first { $0.isHeld && $0.landing.flight === call.flight }?.landing ?? landing(call.flight)
        let last = shown.last { $0.landing.rawData != nil }?.landing
        let isSame =
            landing.rawData != nil && last?.flight === call.flight && last?.rawData?.bytes == landing.rawData?.bytes
        let isUnchanged = landing.rawData != nil && machine.landUnchanged(landing)
        if isUnchanged != (isSame && !call.hasEnded && call.notified == [false]) { problems.append("unchanged") }
        if !isUnchanged {
            let isNotified = machine.land(landing)
            if isNotified == call.hasEnded { problems.append("landed: \(isNotified)") }
            if isNotified { notify(index, isFinal: true) }
        }
        if !call.hasEnded {
            removeHeld(index)
            shown.append((landing, false))
        }
        calls[index].hasEnded = true
    }

    private mutating func findStale() {
        guard
            let index = calls.indices.filter({ calls[$0].isInFlight && !calls[$0].hadStale }).randomElement(
                using: &random)
        else { return }
        let landing = landing(calls[index].flight, mayFail: false)
        if machine.holdStale(landing) == calls[index].hasEnded { problems.append("held although ended") }
        if calls[index].hasEnded { return }
        (calls[index].held, calls[index].hadStale) = (landing, true)
        shown.append((landing, true))
    }

    /// The turn in which a stale response lands, also of a call that has ended.
    private mutating func landStale() {
        if let index = calls.indices.filter({ calls[$0].hadStale }).randomElement(using: &random) { landStale(index) }
    }

    private mutating func landStale(_ index: Int) {
        let held = calls[index].held
        if held != nil, chance(4) {
            machine.removeHeldStale(of: calls[index].flight.id)
            removeHeld(index)
        } else {
            let isNotified = machine.landStale(of: calls[index].flight.id)
            if isNotified != (held != nil) { problems.append("stale landed: \(isNotified)") }
            guard isNotified, let held else { return }
            notify(index, isFinal: false)
            removeHeld(index)
            shown.append((held, false))
        }
    }

    private mutating func end(_ id: FlightID) {
        if let index = calls.firstIndex(where: { $0.flight.id == id }) { end(index) }
    }

    private mutating func end(_ index: Int) {
        let ended = machine.end(calls[index].flight.id)
        if (ended != nil) == calls[index].hasEnded { problems.append("ended twice, or never") }
        if !calls[index].hasEnded { removeHeld(index) }
        calls[index].hasEnded = true
    }

    private mutating func clear() {
        machine.clear()
        shown = []
    }

    private mutating func removeHeld(_ index: Int) {
        calls[index].held = nil
        shown.removeAll { $0.isHeld && $0.landing.flight === calls[index].flight }
    }

    /// Notes of what the delegate was notified, and checks that it may be.
    private mutating func notify(_ index: Int, isFinal: Bool) {
        if calls[index].notified.contains(true) || (!isFinal && !calls[index].notified.isEmpty) {
            problems.append("notified again")
        }
        if cancels, index + 1 < calls.count {
            problems.append("a replaced call landed")
        }
        calls[index].notified.append(isFinal)
    }

    private mutating func compare() {
        let pending = calls.filter { !$0.hasEnded }
        if machine.pending != pending.map(\.flight.id) { problems.append("other calls are pending") }
        if machine.inFlightCount != pending.count(where: \.isInFlight) { problems.append("count in flight") }
        if overlap != .concurrent, machine.inFlightCount > 1 { problems.append("two in flight") }
        for call in calls where machine.heldStale(of: call.flight.id) !== call.held { problems.append("held") }
        let response = shown.last { $0.landing.rawData != nil }?.landing
        if machine.last.response !== response { problems.append("another response is shown") }
        if machine.last.landed !== shown.last?.landing { problems.append("another landing is shown") }
    }
}
