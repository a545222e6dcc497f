import Foundation
import GRDB
import Runway
import RunwaySyncCore
import RunwayTables
import Synchronization

/// Exchanges the changes of one space, one cycle after the other, until its task is cancelled.
///
/// A cycle begins after a write, a poke, a change of network or a call of the app, and at most 4 s after the last one
/// (rule 20).
final class SpaceLoop: Sendable {
    /// The causes of the next cycle.
    private struct Causes {
        var isPrompted = true
        var isWritten = false
        /// Whether the cause makes a success likely, so that a backoff ends.
        var isUrgent = true
        var head: Int64 = 0
        var events: [SyncDevice.Event] = []
        var waiters: [Race<SyncProblem?>] = []
        var isEnded = false
    }

    /// The longest time between two cycles.
    private static let interval = Duration.seconds(4)
    /// The first and the longest deadline of a request: a slow network gets more time after each timeout. After a
    /// timeout, a small request with a short deadline comes first, so that an exchange begins at most 7 s after the
    /// end of an outage.
    private static let deadlines = (
        first: Duration.seconds(6), longest: Duration.seconds(60), probe: Duration.seconds(3)
    )
    /// The shortest time between two readings of all rows because they differ from those of the server.
    private static let readingInterval = Duration.seconds(3_600)

    let space: Identifier
    private let store: RecordStore
    private let capture: ChangeCapture
    private let calls: SyncCalls
    /// The version of the app's tables.
    private let schema: Int64
    /// Guards the causes of the next cycle.
    private let causes: Mutex<Causes>
    private let signals: AsyncStream<Void>
    private let signal: AsyncStream<Void>.Continuation
    /// Called after each cycle, in which rows may have arrived.
    private let didCycle: @Sendable () -> Void

    init(
        _ space: Identifier, _ store: RecordStore, _ capture: ChangeCapture, _ calls: SyncCalls, schema: Int64,
        didCycle: @escaping @Sendable () -> Void
    ) {
        self.didCycle = didCycle
        (self.space, self.store, self.capture, self.calls, self.schema) = (space, store, capture, calls, schema)
        causes = Mutex(Causes())
        (signals, signal) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Begins a cycle soon.
    ///
    /// - Parameter isUrgent: Whether a backoff ends. A pause that the server asked for always applies.
    func prompt(isUrgent: Bool) {
        causes.withLock {
            $0.isPrompted = true
            $0.isUrgent = $0.isUrgent || isUrgent
        }
        signal.yield()
    }

    /// Sends a write of the app soon, unless a backoff runs.
    func sendWrite() {
        causes.withLock { $0.isWritten = true }
        signal.yield()
    }

    func poke(head: Int64) {
        causes.withLock {
            $0.head = max($0.head, head)
            $0.isUrgent = true
        }
        signal.yield()
    }

    func pass(_ event: SyncDevice.Event) {
        causes.withLock {
            $0.events.append(event)
            $0.isUrgent = true
        }
        signal.yield()
    }

    /// Runs a cycle, and returns when it has ended.
    ///
    /// - Returns: The problem that ended it early; `nil` if it succeeded, or if the task was cancelled.
    func cycle() async -> SyncProblem? {
        let end = Race<SyncProblem?>()
        let isEnded = causes.withLock { causes in
            if causes.isEnded { return true }
            (causes.isPrompted, causes.isUrgent) = (true, true)
            causes.waiters.append(end)
            return false
        }
        if isEnded { return .unavailable }
        signal.yield()
        return await end.wait(onCancel: nil)
    }

    @concurrent func run() async {
        var iterator = signals.makeAsyncIterator()
        var pace = Pace()
        var device = SyncDevice(capture.policies)
        var recorded: SyncProblem??
        while !Task.isCancelled {
            guard let causes = takeCauses(pace) else {
                await wait(until: pace.next(at: calls.network.clock.now), &iterator)
                continue
            }
            let problem = await cycle(&device, causes, &pace)
            pace.didEnd(with: problem, at: calls.network.clock.now)
            didCycle()
            if Task.isCancelled { break }
            if recorded != .some(problem) {
                recorded = .some(problem)
                await record(problem)
            }
            for waiter in causes.waiters { waiter.finish(problem) }
        }
        let waiters = causes.withLock { causes in
            causes.isEnded = true
            defer { causes.waiters = [] }
            return causes.waiters
        }
        for waiter in waiters { waiter.finish(.unavailable) }
    }

    /// Returns the causes of a cycle that begins now; `nil` if none is due.
    private func takeCauses(_ pace: Pace) -> Causes? {
        let now = calls.network.clock.now
        return causes.withLock { causes in
            let hasCause =
                causes.isPrompted || causes.isWritten || causes.head > 0 || !causes.events.isEmpty
                || !causes.waiters.isEmpty
            // A caller that waits receives the reason at once if nothing can be sent.
            if causes.waiters.isEmpty {
                guard calls.network.isReachable else { return nil }
                guard pace.isDue(at: now, hasCause: hasCause, isUrgent: causes.isUrgent) else { return nil }
            }
            defer {
                causes = Causes(isPrompted: false, isUrgent: false)
            }
            return causes
        }
    }

    private func wait(until instant: Duration, _ iterator: inout AsyncStream<Void>.Iterator) async {
        let alarm = Task { [clock = calls.network.clock, signal] in
            try await clock.sleep(until: instant)
            signal.yield()
        }
        defer { alarm.cancel() }
        _ = await iterator.next(isolation: #isolation)
    }

    /// Handles the events of a cycle, and all responses, until nothing more is to be sent.
    private func cycle(_ device: inout SyncDevice, _ causes: Causes, _ pace: inout Pace) async -> SyncProblem? {
        if calls.network.clock.now < pace.pauseEnd { return .unavailable }
        var events = causes.events
        if causes.isPrompted || causes.head == 0 && !causes.isWritten {
            events.append(.prompted)
        } else {
            if causes.head > 0 { events.append(.poked(head: causes.head)) }
            if causes.isWritten { events.append(.wrote) }
        }
        var problem: SyncProblem?
        do {
            for event in events {
                var effects = try await handle(event, &device)
                while let (request, exchange) = effects.request, !Task.isCancelled {
                    var isReachable = true
                    // After a timeout, a long deadline would outlast the end of an outage.
                    if pace.deadline > Self.deadlines.first {
                        isReachable = await calls.isResponding(in: space, within: Self.deadlines.probe)
                    }
                    let outcome =
                        isReachable
                        ? await calls.send(request, in: space, deadline: pace.deadline) : .lost(.offline)
                    switch outcome {
                    case .response(let response, let flight):
                        pace.deadline = Self.deadlines.first
                        effects = try await handle(.received(response, exchange: exchange), &device)
                        if effects.contains(.differs) { flight?.noteMismatch() }
                    case .lost(let reason):
                        problem = reason
                        if reason == .offline, isReachable {
                            pace.deadline = min(pace.deadline * 2, Self.deadlines.longest)
                        }
                        effects = try await handle(.lost(exchange: exchange), &device)
                    }
                    for effect in effects {
                        switch effect {
                        case .pause(let milliseconds):
                            pace.pauseEnd = calls.network.clock.now + .milliseconds(milliseconds)
                            problem = .unavailable
                        case .upgrade: problem = .outdated
                        case .differs:
                            problem = .mismatch
                            if calls.network.clock.now < pace.nextReading { break }
                            pace.nextReading = calls.network.clock.now + Self.readingInterval
                            pass(.reread)
                        default: break
                        }
                    }
                }
            }
        } catch {
            // Its own state is lost with the error, as by a restart; all else is in the file.
            device = SyncDevice(capture.policies)
            return .file
        }
        return problem
    }

    /// Handles an event in one transaction of the file.
    private func handle(_ event: SyncDevice.Event, _ device: inout SyncDevice) async throws -> [SyncDevice.Effect] {
        let (space, capture, current, schema) = (space, capture, device, schema)
        let (next, effects) = try await store.writeAsFollower { database in
            var next = current
            var random = capture.makeRandom()
            try capture.endForeignWrites(in: database)
            var space = try capture.store(of: space, in: database)
            (next.direction, next.schema) = (capture.direction(of: space), schema)
            var effects: [SyncDevice.Effect] = []
            try space.applying {
                try space.recordConflicts(of: event)
                effects = try next.handle(event, at: capture.now, in: &space, using: &random)
            }
            try space.recordMoves(effects)
            try space.finish()
            return (next, effects)
        }
        device = next
        return effects
    }

    private func record(_ problem: SyncProblem?) async {
        let (id, text) = (space.databaseValue, problem?.description)
        try? await store.writeAsFollower { database in
            try database.execute(
                sql: "UPDATE runway_sync_space SET problem = ? WHERE id = ? AND problem IS NOT ?",
                arguments: [text, id, text])
        }
    }

    /// Decides when the next cycle begins. Times are those of the layer's clock.
    private struct Pace {
        var pauseEnd = Duration.zero
        var deadline = SpaceLoop.deadlines.first
        var nextReading = Duration.zero
        private var timer = Duration.zero
        private var backoff = Backoff(base: .milliseconds(500), longest: SpaceLoop.interval)
        private var random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()

        func isDue(at now: Duration, hasCause: Bool, isUrgent: Bool) -> Bool {
            if now < pauseEnd { return false }
            return isUrgent || now >= timer || (hasCause || backoff.failures > 0) && now >= backoff.end
        }

        /// Returns the time at which a cycle is due without another cause.
        func next(at now: Duration) -> Duration {
            let due = max(pauseEnd, backoff.failures > 0 ? min(backoff.end, timer) : timer)
            // The network may be back before its change is reported.
            return due > now ? due : now + SpaceLoop.interval
        }

        mutating func didEnd(with problem: SyncProblem?, at now: Duration) {
            timer = now + SpaceLoop.interval
            if problem == nil { backoff.reset() } else { backoff.fail(at: now, using: &random) }
        }
    }
}

extension [SyncDevice.Effect] {
    fileprivate var request: (SyncRequest, Int64)? {
        for case .send(let request, let exchange) in self { return (request, exchange) }
        return nil
    }
}
