import Foundation
import Runway

/// Decides which scope's batch a log sends next, when, and how large it may be. A pure state machine;
/// ``ActionLogSender`` performs.
///
/// A batch is sent when enough records wait, when the app asks, when the interval has passed since the oldest was
/// recorded, at launch if anything waits, when a network comes back, and when somebody signs in. What is left of enough
/// records waits for the next; for every other cause, and after a failure, batches follow until all is sent that waited
/// then. Records that come meanwhile wait for a cause of their own.
///
/// Each scope has a backoff of its own, so that a server that refuses one account does not hold up the records of
/// another. A wait that the server asks for holds for all of them.
struct FlushSchedule: Sendable {
    /// What happens next.
    enum Step: Equatable, Sendable {
        /// Send a batch of this scope, of at most this many records.
        case send(scope: String, limit: Int)
        /// Nothing, until an event or, if there is one, this instant.
        case wait(until: Duration?)
    }

    /// What became of a batch.
    enum Outcome: Equatable, Sendable {
        /// The server has it. It may ask for a gap before the next.
        case accepted(gap: Duration = .zero)
        /// Nothing was there to send.
        case nothing
        /// The same may succeed later, not before the wait that the server asks for.
        case failed(retryAfter: Duration? = nil)
        /// The batch failed: its records are sent again in smaller batches, or its only record was set aside.
        ///
        /// - Parameter isFault: Whether the server did not refuse it, but failed on it again and again.
        case refused(count: Int, isFault: Bool = false)
        /// The server asks for an account, or for another token.
        case unauthorized
    }

    /// What is to be done with a batch that the server refused or failed on.
    enum Treatment: Equatable, Sendable {
        /// Send it again.
        case `repeat`
        /// Send its records in smaller batches.
        case halve
        /// Set its only record aside.
        case setAside
    }

    /// What is to be done with a batch to which no response came.
    enum LossTreatment: Equatable, Sendable {
        /// Send it again.
        case `repeat`
        /// Send its records in smaller batches.
        case halve
        /// Have its only record wait, and send another one.
        case release(serverIsDown: Bool)
        /// Set its only record aside.
        case setAside
    }

    /// How long nothing of a scope is sent after the server asked for its account, unless an account signs in or the
    /// app calls `flush()`.
    static let credentialsWait = Duration.seconds(300)
    /// The longest wait that a server can ask for.
    static let longestServerWait = Duration.seconds(86_400)
    /// After how long the status of the network, or a file that can't be read, is checked again without another cause.
    static let checkInterval = Duration.seconds(300)
    /// How many single records in a row have to be set aside until the server seems to refuse everything.
    static let refusalLimit = 3

    private struct Lane: Sendable {
        var limit: Int
        /// Nothing is sent before, unless an event makes success likely.
        var backoff = Duration.zero
        /// Attempts that failed since the last batch that was accepted.
        var failures = 0
        /// How often the server failed on the batch that is sent now.
        var faults = 0
        /// Records set aside since the last batch that was accepted.
        var refusals = 0
        /// The record that is sent in turn with others, since no response comes to it.
        var suspect: SuspectedEntry?
        /// When it sent last, counted in attempts.
        var turn: UInt64 = 0
    }

    private let options: ActionLogOptions
    private let batchSize: Int
    private var lanes: [String: Lane] = [:]
    private var turn: UInt64 = 0
    /// How many records wait that may be sent now, by scope.
    private var waiting: [String: Int] = [:]
    /// How many records of each scope the server has accepted or refused in this run, without those that wait again
    /// after a series of refusals.
    private var ended: [String: Int] = [:]
    /// The value of ``ended`` at which everything is sent that waited at the last cause.
    private var dueEnds: [String: Int] = [:]
    /// When the oldest of those that wait was recorded.
    private var oldest: Duration?
    private var wasNetworkAllowed: Bool
    /// Nothing is sent before, as the server asked.
    private(set) var serverPause = Duration.zero
    /// The end of the gap after the last batch.
    private var gapEnd = Duration.zero

    init(_ options: ActionLogOptions, isNetworkAllowed: Bool) {
        self.options = options
        batchSize = max(1, options.batchSize)
        wasNetworkAllowed = isNetworkAllowed
    }

    /// Whether the server has refused, or failed on, one record of a scope after the other: it may be refusing
    /// everything.
    var isRefusingAll: Bool { lanes.values.contains { $0.refusals >= Self.refusalLimit } }

    /// How many single records of a scope were set aside since its last batch that was accepted.
    func refusals(of scope: String) -> Int { lane(scope).refusals }

    /// An earlier run has set so many records aside, and no batch was accepted since.
    mutating func restoreRefusals(_ refusals: [String: Int]) {
        for (scope, count) in refusals {
            var lane = lane(scope)
            lane.refusals = max(lane.refusals, count)
            lanes[scope] = lane
        }
    }

    /// Records wait that were stored now or, at launch, by an earlier run.
    ///
    /// - Parameters:
    ///   - counts: How many wait, by scope.
    ///   - ended: How many of each scope the server has accepted or refused in this run until then. The default is
    ///     zero.
    ///   - age: How long the oldest of them waits. The default is that it was stored now.
    ///   - isUrgent: Whether all that waits is to be sent. The default is `false`.
    mutating func noteWaiting(
        _ counts: [String: Int], ended: [String: Int] = [:], oldest age: Duration = .zero, isUrgent: Bool = false,
        at now: Duration
    ) {
        waiting = counts.filter { $0.value > 0 }
        self.ended = ended
        dueEnds = dueEnds.filter { waiting[$0.key] != nil }
        oldest = waiting.isEmpty ? nil : min(oldest ?? now, now - age)
        if isUrgent { sendAllThatWaits() }
    }

    private mutating func sendAllThatWaits() {
        for (scope, count) in waiting { dueEnds[scope] = ended[scope, default: 0] + count }
    }

    /// Whether records of a scope wait that waited at the last cause to send them.
    private func isDue(_ scope: String) -> Bool { dueEnds[scope, default: 0] > ended[scope, default: 0] }

    /// The app asks to send what waits. A wait that the server asked for still holds.
    mutating func flush() {
        sendAllThatWaits()
        for scope in lanes.keys { lanes[scope]?.backoff = .zero }
    }

    mutating func networkDidChange(isAllowed: Bool) {
        if isAllowed, !wasNetworkAllowed { flush() }
        wasNetworkAllowed = isAllowed
    }

    /// The server asked in an earlier run to wait.
    mutating func pause(until instant: Duration) { serverPause = max(serverPause, instant) }

    /// Whether the server asked to wait for longer than until now.
    func isPaused(at now: Duration) -> Bool { serverPause > now }

    /// Decides what becomes of a batch of so many records.
    ///
    /// - Parameter isFault: Whether the server failed by a fault of its own, which may be over at the next attempt. A
    ///   batch is repeated then, as often as the options allow, before it is halved. The halves are halved at once,
    ///   down to single records.
    mutating func treat(_ scope: String, count: Int, isFault: Bool) -> Treatment {
        if isFault {
            var lane = lane(scope)
            lane.faults += 1
            lanes[scope] = lane
            let isHalf = count > 1 && lane.limit < batchSize
            if lane.faults < (isHalf ? 1 : max(1, options.maximumServerFaults)) { return .repeat }
        }
        return count > 1 ? .halve : .setAside
    }

    /// The records of a scope that the next batch passes over.
    func skipped(of scope: String) -> Set<UUID> { lane(scope).suspect?.skipped ?? [] }

    /// Whether a batch of one record was sent to find out whether the server is down.
    func isProbe(_ record: UUID, of scope: String) -> Bool {
        guard let suspect = lane(scope).suspect else { return false }
        return suspect.isProbing && suspect.id != record
    }

    /// Decides what becomes of a batch to which no response came.
    ///
    /// - Parameters:
    ///   - first: Its first record.
    ///   - count: How many it has.
    ///   - isDue: Whether that happened so often, and for so long, that the batch itself is suspected.
    mutating func treatLoss(_ scope: String, _ first: UUID, count: Int, isDue: Bool) -> LossTreatment {
        var lane = lane(scope)
        defer { lanes[scope] = lane }
        // Halving removes nothing, so that it does no harm if the server is down.
        if count > 1 { return isDue || lane.limit < batchSize ? .halve : .repeat }
        guard var suspect = lane.suspect, suspect.isProbing || suspect.id == first else {
            lane.suspect = isDue ? SuspectedEntry(first) : nil
            return isDue ? .release(serverIsDown: false) : .repeat
        }
        let conclusion = suspect.didLose(first, isDue: isDue)
        lane.suspect = suspect
        switch conclusion {
        case .serverFailsOnIt: return .setAside
        case .serverIsDown: return .release(serverIsDown: true)
        case .open: return suspect.isProbing ? .release(serverIsDown: false) : .repeat
        }
    }

    /// - Parameters:
    ///   - outcome: What became of the batch of the last step.
    ///   - counts: How many records wait now, by scope.
    ///   - ended: How many were accepted or refused, by scope; see ``noteWaiting(_:ended:oldest:isUrgent:at:)``.
    ///   - age: How long the oldest of them waits. The default is that it was stored now.
    ///   - jitter: A random number from 0 to 1.
    mutating func didSend(
        _ scope: String, _ outcome: Outcome, waiting counts: [String: Int], ended: [String: Int] = [:],
        oldest age: Duration = .zero, at now: Duration, jitter: Double
    ) {
        let isAccepted = if case .accepted = outcome { true } else { false }
        oldest = nil
        noteWaiting(counts, ended: ended, oldest: age, isUrgent: !isAccepted, at: now)
        turn += 1
        gapEnd = now + options.gap
        var lane = lane(scope)
        lane.turn = turn
        switch outcome {
        case .accepted(let gap):
            var suspect = lane.suspect?.isProbing == true ? lane.suspect : nil
            suspect?.didProbe()
            lane = Lane(limit: lane.limit > batchSize / 2 ? batchSize : lane.limit * 2, suspect: suspect, turn: turn)
            serverPause = max(serverPause, now + min(gap, Self.longestServerWait))
        // What waited is gone, or belongs to an account that has left.
        case .nothing:
            lane.backoff = now + options.baseWait
            if lane.suspect?.isProbing == true { lane.suspect?.hasNoProbe() }
        case .failed(let retryAfter):
            lane.failures += 1
            lane.backoff = now + wait(after: lane.failures, jitter)
            if let retryAfter {
                serverPause = max(serverPause, now + min(retryAfter, Self.longestServerWait))
            }
        case .refused(let count, let isFault):
            lane.faults = 0
            if count > 1 {
                lane.limit = max(1, min(lane.limit, count) / 2)
            } else {
                lane.failures = 0
                lane.suspect = nil
                lane.refusals += 1
                // One is a poison record. A server that refuses one after the other may refuse everything.
                if lane.refusals > 1 { lane.backoff = now + wait(after: lane.refusals - 1, jitter) }
            }
            if isFault, count > 1 {
                lane.failures += 1
                lane.backoff = now + wait(after: lane.failures, jitter)
            }
        case .unauthorized: lane.backoff = now + Self.credentialsWait
        }
        lanes[scope] = lane
        // Accounts that have left are forgotten.
        if lanes.count > 64 { lanes = lanes.filter { waiting[$0.key] != nil } }
    }

    private func lane(_ scope: String) -> Lane { lanes[scope] ?? Lane(limit: batchSize) }

    /// Half of the wait is certain, and half random, after the bound was applied: devices that failed together do not
    /// return together.
    private func wait(after failures: Int, _ jitter: Double) -> Duration {
        let wait = options.backoff.bound(after: failures)
        return wait / 2 + wait / 2 * jitter
    }

    func step(isNetworkAllowed: Bool, at now: Duration) -> Step {
        let count = waiting.values.reduce(0, +)
        guard count > 0 else { return .wait(until: nil) }
        // The source of the status may miss a change.
        guard isNetworkAllowed else { return .wait(until: now + Self.checkInterval) }
        let starts = waiting.keys.compactMap { scope -> (scope: String, start: Duration, lane: Lane)? in
            let lane = lane(scope)
            let start = max(serverPause, gapEnd, lane.backoff)
            // Records behind a suspected one are accepted before it, and are counted in its place.
            if isDue(scope) || lane.suspect != nil || count >= batchSize { return (scope, start, lane) }
            guard let interval = options.interval, let oldest else { return nil }
            return (scope, max(start, oldest + interval), lane)
        }
        let ready = starts.filter { $0.start <= now }.min { ($0.lane.turn, $0.scope) < ($1.lane.turn, $1.scope) }
        if let ready { return .send(scope: ready.scope, limit: ready.lane.suspect == nil ? ready.lane.limit : 1) }
        return .wait(until: starts.map(\.start).min())
    }
}
