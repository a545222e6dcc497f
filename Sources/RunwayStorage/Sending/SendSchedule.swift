import Foundation
import Runway

/// Decides which scope sends next, and when. A pure state machine: callers pass times and events, and a ``SendLoop``
/// performs its decisions.
///
/// A *scope* is an account of the action log, or an account of a service. Its entries are sent in order, and
/// independently of other scopes. Scopes take turns, with a gap between two attempts. Each scope has:
///
/// - a backoff, so that a server that refuses one account does not delay the other accounts. It ends when a network
///   returns, an account signs in, or the app asks;
/// - a pause that its server asked for, which only time ends;
/// - at most one suspected entry, to which no response arrives. It is sent alternately with other entries
///   (``SuspectedEntry``).
///
/// The ``SendPolicy`` decides which scopes are due.
struct SendSchedule<Policy: SendPolicy>: Sendable {
    private struct Lane: Sendable {
        /// The backoff. Nothing is sent before its end, unless an event makes success likely.
        var backoff: Backoff
        /// The number of server faults on an entry, or on a batch that begins with the entry.
        var faults: [UUID: Int] = [:]
        /// The entry without a response, which is sent alternately with other entries.
        var suspect: SuspectedEntry?
        /// The number of the last attempt of the scope (an account); 0 before the first.
        var turn: UInt64 = 0
    }

    var policy: Policy
    private let pace: SendPace
    private var random: any RandomNumberGenerator & Sendable
    private var lanes: [String: Lane] = [:]
    /// The ends of the pauses that servers asked for, by ``SendPolicy/server(of:)``.
    private var pauses: [String: Duration] = [:]
    private var turn: UInt64 = 0
    private var gapEnd = Duration.zero
    private var wasNetworkAllowed: Bool

    init(
        _ policy: Policy, _ pace: SendPace, isNetworkAllowed: Bool,
        random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
    ) {
        (self.policy, self.pace, self.random, wasNetworkAllowed) = (policy, pace, random, isNetworkAllowed)
    }

    /// Ends the backoffs, since the app asked for sending or an account signed in. Pauses of servers still apply.
    mutating func prompt() {
        for scope in lanes.keys { lanes[scope]?.backoff.end = .zero }
        policy.note(.prompted)
    }

    /// Records whether the current network may be used. If it may be used again, the backoffs end.
    mutating func networkDidChange(isAllowed: Bool) {
        if isAllowed, !wasNetworkAllowed {
            prompt()
            policy.note(.networkReturned)
        }
        wasNetworkAllowed = isAllowed
    }

    /// Pauses a scope (an account) and all other scopes of its server, as the server asked in this run or an earlier
    /// one.
    mutating func pause(_ scope: String, until instant: Duration) {
        let server = policy.server(of: scope)
        pauses[server] = max(pauses[server] ?? .zero, instant)
    }

    func pauseEnd(of scope: String) -> Duration { pauses[policy.server(of: scope)] ?? .zero }

    /// Returns whether a pause applies to each of the scopes (accounts); `false` if there are no scopes.
    func isPaused(_ scopes: [String], at now: Duration) -> Bool {
        !scopes.isEmpty && scopes.allSatisfy { pauseEnd(of: $0) > now }
    }

    /// Returns the next step.
    ///
    /// - Parameters:
    ///   - scopes: The scopes with waiting entries that may be sent for the signed-in account.
    ///   - hasOthers: Whether other entries wait that may not be sent now. The default is `false`.
    mutating func step(
        _ scopes: [String], hasOthers: Bool = false, isNetworkAllowed: Bool, at now: Duration
    ) -> SendStep {
        let isIdle = scopes.isEmpty && !hasOthers
        if isIdle || lanes.count > SendPace.maximumLaneCount { forget(besides: scopes, at: now) }
        if isIdle { return .wait(until: nil) }
        // The network may be back before its change is reported.
        networkDidChange(isAllowed: isNetworkAllowed)
        // The network status is read again at this time, since its source may have missed a change.
        let check = now + (pace.interval ?? SendPace.checkInterval)
        guard isNetworkAllowed, !scopes.isEmpty else { return .wait(until: check) }
        let starts = scopes.compactMap { scope in
            let lane = lanes[scope]
            let earliest = max(gapEnd, pauseEnd(of: scope), lane?.backoff.end ?? .zero)
            let start = policy.start(of: scope, from: earliest, isSuspected: lane?.suspect != nil, at: now)
            return start.map { (scope: scope, start: $0, turn: lane?.turn ?? 0) }
        }
        let ready = starts.filter { $0.start <= now }.min { ($0.turn, $0.scope) < ($1.turn, $1.scope) }
        if let ready { return .send(ready.scope) }
        let start = starts.map(\.start).min()
        return .wait(until: pace.interval == nil ? start : min(check, start ?? check))
    }

    /// Removes the pauses that are over. Also removes the state of each scope (account) outside `scopes` that has no
    /// running backoff, no fault and no suspected entry.
    private mutating func forget(besides scopes: [String], at now: Duration) {
        pauses = pauses.filter { $0.value > now }
        lanes = lanes.filter { scope, lane in
            scopes.contains(scope) || lane.backoff.end > now || lane.suspect != nil || !lane.faults.isEmpty
        }
    }

    mutating func didSend(_ scope: String, _ outcome: SendOutcome, at now: Duration) {
        turn += 1
        gapEnd = now + pace.gap
        self[scope].turn = turn
        switch outcome {
        case .settled(let pause):
            self[scope].backoff.reset()
            if pause > .zero { self.pause(scope, until: now + min(pause, SendPace.longestPause)) }
        case .refused(let count):
            self[scope].backoff.reset()
            if count > 1 { self[scope].backoff.end = now + pace.backoff.wait(after: count - 1, using: &random) }
        case .failed(let retryAfter): return fail(scope, retryAfter: retryAfter, at: now)
        case .unauthorized: self[scope].backoff.end = now + SendPace.credentialsWait
        case .stopped: self[scope].backoff.end = max(self[scope].backoff.end, now + pace.backoff.bound(after: 1))
        }
        policy.note(.ended(scope, outcome))
    }

    /// Records a failed attempt, such as a call that was stored because it could not be sent.
    mutating func fail(_ scope: String, retryAfter: Duration?, at now: Duration) {
        var lane = self[scope]
        lane.backoff.fail(at: now, using: &random)
        self[scope] = lane
        if let retryAfter { pause(scope, until: now + min(retryAfter, SendPace.longestPause)) }
        policy.note(.ended(scope, .failed(retryAfter: retryAfter)))
    }

    private subscript(scope: String) -> Lane {
        get { lanes[scope] ?? Lane(backoff: pace.backoff) }
        set { lanes[scope] = newValue }
    }
}

// Counts the faults of an attempt's first entry, and handles attempts without a response.
extension SendSchedule {
    /// Counts a server fault on an entry. Returns the number of its faults in this run.
    mutating func countFault(of first: UUID, in scope: String) -> Int {
        self[scope].faults[first, default: 0] += 1
        return self[scope].faults[first] ?? 0
    }

    /// Returns the entries of a scope that the next attempt skips.
    func skipped(in scope: String) -> Set<UUID> { lanes[scope]?.suspect?.skipped ?? [] }

    /// Returns whether an entry of the scope is suspected of making the server fail, so that entries are sent one at a
    /// time.
    func isSuspected(_ scope: String) -> Bool { lanes[scope]?.suspect != nil }

    /// Returns whether an entry was sent to find out whether the server is down.
    func isProbe(_ first: UUID, in scope: String) -> Bool {
        lanes[scope]?.suspect.map { $0.isProbing && $0.id != first } ?? false
    }

    /// Removes the fault count of an entry, since the server responded to the entry, or it is sent in a batch. If the
    /// entry was sent to find out whether the server is down, records that the server accepted it. Otherwise no entry
    /// of the scope is suspected of making the server fail any more.
    mutating func end(_ first: UUID, in scope: String) {
        self[scope].faults[first] = nil
        if isProbe(first, in: scope) { self[scope].suspect?.didProbe() } else { self[scope].suspect = nil }
    }

    /// Records that no other waiting entry could show whether the server is down.
    mutating func hasNoProbe(in scope: String) {
        if lanes[scope]?.suspect?.isProbing == true { lanes[scope]?.suspect?.hasNoProbe() }
    }

    /// Returns the next step after a single entry had no response.
    ///
    /// - Parameter isDue: Whether enough attempts were lost, over a long enough time, that the entry is suspected.
    mutating func treatLoss(of first: UUID, in scope: String, isDue: Bool) -> LossTreatment {
        guard var suspect = lanes[scope]?.suspect, suspect.isProbing || suspect.id == first else {
            self[scope].suspect = isDue ? SuspectedEntry(first) : nil
            return isDue ? .release(serverIsDown: false) : .repeat
        }
        let conclusion = suspect.didLose(first, isDue: isDue)
        self[scope].suspect = suspect
        switch conclusion {
        case .serverFailsOnIt: return .setAside
        case .serverIsDown: return .release(serverIsDown: true)
        case .open: return suspect.isProbing ? .release(serverIsDown: false) : .repeat
        }
    }
}

/// Decides for which scopes of a ``SendSchedule`` entries have to be sent. Implementations are pure state machines.
protocol SendPolicy: Sendable {
    /// Returns the name of the server of a scope. A pause that a server asks for applies to all scopes of this server.
    func server(of scope: String) -> String
    /// Returns the time at which entries of a scope are sent, not before `earliest`; `nil` if the scope waits for an
    /// event.
    ///
    /// - Parameter isSuspected: Whether an entry of the scope is suspected of making the server fail. It is sent
    ///   alternately with other entries.
    mutating func start(of scope: String, from earliest: Duration, isSuspected: Bool, at now: Duration) -> Duration?
    mutating func note(_ event: SendEvent)
}

/// An event after which entries of a scope may have to be sent.
enum SendEvent: Sendable {
    /// The app asked for sending, an account signed in, or a network returned.
    case prompted
    /// A network returned. ``prompted`` precedes this event.
    case networkReturned
    /// A flush began (`true`), or the last flush ended (`false`).
    case flushing(Bool)
    /// An attempt of this scope has ended.
    case ended(String, SendOutcome)
}

enum SendStep: Equatable, Sendable {
    case send(String)
    case wait(until: Duration?)
}

enum SendOutcome: Equatable, Sendable {
    /// The entries were accepted or set aside, and the next ones follow, after the pause that the server asked for.
    case settled(pause: Duration = .zero)
    /// The server refused the entries. The associated value is the number of single entries that were set aside in a
    /// row. From the second entry on, the server may refuse everything, so the delay doubles.
    case refused(inRow: Int)
    /// The same entries may succeed later, but not before the delay that the server asked for.
    case failed(retryAfter: Duration? = nil)
    /// The server requires a sign-in or another token.
    case unauthorized
    /// There was nothing to send, or the call was cancelled.
    case stopped
}

/// The next step after an entry had no response.
enum LossTreatment: Equatable, Sendable {
    case `repeat`
    /// Let the entry wait, and send another one.
    case release(serverIsDown: Bool)
    case setAside
}

struct SendPace: Sendable {
    /// The time for which a scope sends nothing after the server required a sign-in. It ends earlier if an account
    /// signs in or the app asks.
    static let credentialsWait = Duration.seconds(300)
    /// The maximum pause that a server can ask for.
    static let longestPause = Duration.seconds(86_400)
    /// The time after which the network status, or an unreadable file, is checked again without another cause.
    static let checkInterval = Duration.seconds(300)
    /// The number of scopes above which the state of scopes without waiting entries is removed.
    static let maximumLaneCount = 64

    var gap: Duration
    var backoff: Backoff
    /// The time after which the schedule decides again without another cause. If it is `nil`, only ``checkInterval``
    /// applies, and only without a network.
    var interval: Duration?
}
