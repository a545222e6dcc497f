import Foundation
import NIOCore
import RunwayTesting
import Testing

@testable import RunwayTransport

/// Random lives of a pool, against what must hold of any.
///
/// `RUNWAY_POOL_LIVES` says how many; a failure prints its seed, and `RUNWAY_POOL_SEED` plays it again.
struct PoolModelTests {
    @Test func everyRequestCompletesOnceWithinTheBounds() throws {
        let environment = ProcessInfo.processInfo.environment
        let count = environment["RUNWAY_POOL_LIVES"].flatMap { UInt64($0) } ?? 400
        let only = environment["RUNWAY_POOL_SEED"].flatMap { UInt64($0) }
        for seed in only.map({ $0...$0 }) ?? 1...count {
            var life = PoolLife(seed: seed)
            let complaint = life.run(steps: 300)
            try #require(complaint == nil, "seed \(seed)")
        }
    }
}

/// One pool, the connections and requests that the world around it has, and a random world.
private struct PoolLife {
    private struct Connection {
        var limit: Int
        var isShared: Bool
        var carried: Set<RequestID> = []
        var isClosing = false
        var hasCarried = false
    }

    private var machine: PoolMachine
    private var random: SeededGenerator
    private let maximumConnections: Int
    private let maximumWaiting: Int
    private var now: UInt64 = 0
    private var requestCount: RequestID = 0
    private var dialing: Set<ConnectionID> = []
    private var connections: [ConnectionID: Connection] = [:]
    private var waiting: [RequestID: UInt64] = [:]
    /// Those that were lost on a stale connection.
    private var needingFresh: Set<RequestID> = []
    private var isShutDown = false
    private var complaint: String?
    private let mayShare: Bool

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        maximumConnections = Int.random(in: 1...4, using: &random)
        maximumWaiting = Int.random(in: 1...12, using: &random)
        mayShare = Bool.random(using: &random)
        machine = PoolMachine(
            limits: PoolMachine.Limits(
                maximumConnections: maximumConnections, maximumWaiting: maximumWaiting, keepAlive: .seconds(20),
                connectTimeout: .seconds(10)),
            mayShare: mayShare)
    }

    /// Performs a number of steps; returns the problems.
    mutating func run(steps: Int) -> String? {
        for _ in 0..<steps where complaint == nil {
            step()
            check()
        }
        if complaint == nil { end() }
        return complaint
    }

    private var instant: NIODeadline { .uptimeNanoseconds(now * 1_000_000_000) }

    private mutating func step() {
        now += UInt64.random(in: 0...2, using: &random)
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<35: submit()
        case 35..<55: endOne()
        case 55..<70: dialEnds()
        case 70..<75: closeOne()
        case 75..<79: drainOne()
        case 79..<83: changeLimit()
        case 83..<88: withdrawOne()
        case 88..<96: perform(machine.timePassed(instant))
        case 96..<98: perform(machine.warm())
        case 98: drainAll()
        default: if Int.random(in: 0..<20, using: &random) == 0 { shutDown() }
        }
    }

    private mutating func submit() {
        requestCount += 1
        take(machine.submit(requestCount, now: instant), for: requestCount, mayRefuse: true)
    }

    private mutating func take(_ submission: PoolSubmission, for request: RequestID, mayRefuse: Bool) {
        switch submission {
        case .send(let connection, _):
            let passed = waiting.keys.count { !needingFresh.contains($0) }
            if passed > 0 { complaint = "request \(request) passed \(passed) that wait" }
            carry(request, on: connection)
        case .wait(let actions):
            waiting[request] = now + 10
            perform(actions)
        case .refuse(let failure):
            let isRight =
                switch failure {
                case .tooManyWaiting: mayRefuse && waiting.count >= maximumWaiting
                case .shutDown: isShutDown
                case .notMoved: !mayRefuse
                default: false
                }
            if !isRight { complaint = "request \(request) refused: \(failure)" }
        }
    }

    private mutating func carry(_ request: RequestID, on id: ConnectionID) {
        guard let connection = connections[id], !connection.isClosing else {
            return complaint = "request \(request) sent on connection \(id), which there is not"
        }
        if connection.carried.count >= connection.limit { complaint = "connection \(id) carries too many" }
        if needingFresh.contains(request), connection.hasCarried, !connection.isShared {
            complaint = "request \(request) went from one stale connection to another"
        }
        needingFresh.remove(request)
        connections[id]?.carried.insert(request)
        connections[id]?.hasCarried = true
    }

    private mutating func perform(_ actions: [PoolAction]) {
        for action in actions {
            switch action {
            case .connect(let id):
                if !dialing.insert(id).inserted || connections[id] != nil { complaint = "connection \(id) made twice" }
            case .send(let request, let connection, _):
                if waiting.removeValue(forKey: request) == nil { complaint = "request \(request) sent, not waiting" }
                carry(request, on: connection)
            case .fail(let request, let failure):
                guard let deadline = waiting.removeValue(forKey: request) else {
                    return complaint = "request \(request) failed, not waiting"
                }
                if failure == .notConnectedInTime, deadline > now { complaint = "request \(request) failed too early" }
            case .close(let id):
                guard let connection = connections.removeValue(forKey: id) else {
                    return complaint = "connection \(id) closed, which there is not"
                }
                if !connection.carried.isEmpty, !isShutDown { complaint = "connection \(id) closed under requests" }
            }
        }
    }

    private mutating func dialEnds() {
        guard let id = dialing.sorted().randomElement(using: &random) else { return }
        dialing.remove(id)
        if Int.random(in: 0..<5, using: &random) == 0 { return perform(machine.connectFailed(id, now: instant)) }
        let isShared = mayShare && Int.random(in: 0..<4, using: &random) > 0
        let limit = isShared ? Int.random(in: 0...5, using: &random) : 1
        connections[id] = Connection(limit: limit, isShared: isShared)
        perform(machine.connected(id, isShared ? .shared(limit: limit) : .exclusive, now: instant))
    }

    private mutating func endOne() {
        guard let id = connections.filter({ !$0.value.carried.isEmpty }).keys.sorted().randomElement(using: &random),
            let request = connections[id]?.carried.sorted().randomElement(using: &random)
        else { return }
        connections[id]?.carried.remove(request)
        if Int.random(in: 0..<5, using: &random) == 0 {
            drain(id)
        } else if Int.random(in: 0..<6, using: &random) == 0 {
            // One that is refused is lost while its connection lives on.
            lose(request)
        }
        perform(machine.ended(id, now: instant))
    }

    private mutating func lose(_ request: RequestID) {
        let loss = LostRequest(
            isUnprocessed: Bool.random(using: &random), wasReused: Bool.random(using: &random), hasResponse: false,
            isIdempotent: Bool.random(using: &random), isReplayable: true, moves: 0,
            begun: .uptimeNanoseconds(now * 1_000_000_000))
        if loss.isStale {
            perform(machine.retireIdle(since: loss.begun, now: instant))
            if loss.mayMove { needingFresh.insert(request) }
        }
        let submission = machine.lost(request, loss, now: instant)
        if case .refuse(.notMoved) = submission, loss.mayMove { complaint = "request \(request) not moved" }
        take(submission, for: request, mayRefuse: false)
    }

    private mutating func closeOne() {
        guard let id = connections.keys.sorted().randomElement(using: &random) else { return }
        let carried = connections.removeValue(forKey: id)?.carried ?? []
        perform(machine.closed(id, now: instant))
        for request in carried.sorted() { lose(request) }
    }

    private mutating func drainOne() {
        if let id = connections.keys.sorted().randomElement(using: &random) { drain(id) }
    }

    private mutating func drain(_ id: ConnectionID) {
        connections[id]?.isClosing = true
        perform(machine.drain([id], now: instant))
    }

    private mutating func drainAll() {
        for id in connections.keys { connections[id]?.isClosing = true }
        perform(machine.drainAll(now: instant))
    }

    private mutating func changeLimit() {
        guard let id = connections.filter({ $0.value.isShared }).keys.sorted().randomElement(using: &random) else {
            return
        }
        let limit = Int.random(in: 0...6, using: &random)
        connections[id]?.limit = limit
        perform(machine.limitChanged(id, to: limit, now: instant))
    }

    private mutating func withdrawOne() {
        guard let request = waiting.keys.sorted().randomElement(using: &random) else { return }
        waiting[request] = nil
        machine.withdraw(request)
    }

    private mutating func shutDown() {
        isShutDown = true
        perform(machine.shutDown())
        connections = [:]
        dialing = []
        if !waiting.isEmpty { complaint = "\(waiting.count) wait after the shutdown" }
    }

    /// What holds after every step.
    private mutating func check() {
        if machine.waiting.count != waiting.count { complaint = "the machine thinks \(machine.waiting.count) wait" }
        let exclusive = connections.values.filter { !$0.isShared }
        if !mayShare, exclusive.count + dialing.count > 2 * maximumConnections { complaint = "too many connections" }
        if !mayShare, exclusive.count(where: { !$0.isClosing }) > maximumConnections {
            complaint = "too many connections in use"
        }
        guard !waiting.isEmpty, complaint == nil else { return }
        let isFree = connections.contains { !$0.value.isClosing && $0.value.carried.count < $0.value.limit }
        if isFree, waiting.keys.contains(where: { !needingFresh.contains($0) }),
            machine.connections.contains(where: \.isFree)
        {
            complaint = "\(waiting.count) wait beside a free connection"
        }
        if !mayShare, dialing.isEmpty, machine.connections.count < maximumConnections, machine.nextDeadline == nil {
            complaint = "\(waiting.count) wait for a connection that nobody makes"
        }
        if dialing.isEmpty, connections.values.allSatisfy({ $0.isClosing && $0.carried.isEmpty }) {
            complaint = "\(waiting.count) wait for nothing"
        }
    }

    /// When all requests in flight end and time passes, no state is left.
    private mutating func end() {
        for _ in 0..<10_000 where complaint == nil {
            while complaint == nil, !dialing.isEmpty || connections.contains(where: { !$0.value.carried.isEmpty }) {
                dialEnds()
                endOne()
            }
            now += 30
            perform(machine.timePassed(instant))
            if machine.connections.isEmpty, waiting.isEmpty, dialing.isEmpty { break }
        }
        if complaint == nil, !waiting.isEmpty || !connections.isEmpty { complaint = "something is left at the end" }
    }
}
