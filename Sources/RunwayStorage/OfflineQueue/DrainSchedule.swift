import Foundation
import Runway

/// Decides which scope sends its next change, and when. A pure state machine: ``ChangeDrainer`` performs.
///
/// Each scope has a backoff of its own, so that a server that is down does not hold up the changes for another. They
/// take turns.
struct DrainSchedule: Sendable {
    /// What happens next.
    enum Step: Equatable, Sendable {
        /// Send the first change of this scope.
        case replay(String)
        /// Nothing, until an event or, if there is one, this instant.
        case wait(until: Duration?)
    }

    /// What became of an attempt.
    enum Outcome: Equatable, Sendable {
        /// The change is over, or is set aside: the next one follows.
        case settled
        /// The same change may succeed later, not before the wait that the server asks for.
        case failed(retryAfter: Duration? = nil)
        /// The service asks for a login, or for another token.
        case unauthorized
        /// Nothing was sent, or the call was cancelled.
        case stopped
    }

    /// How long nothing is sent after the service asked for a login, unless somebody signs in or the app asks.
    static let credentialsWait = Duration.seconds(300)
    /// The longest wait that a server can ask for.
    static let longestServerWait = Duration.seconds(86_400)

    private struct Lane: Sendable {
        var failures = 0
        /// Nothing is sent before, unless an event makes success likely.
        var backoff = Duration.zero
        /// Nothing is sent before, as the server asked.
        var serverPause = Duration.zero
        /// When it sent last, counted in attempts.
        var turn: UInt64 = 0
    }

    /// A wait for what the app has missed.
    private struct Delay: Sendable {
        let scope: String
        let limit: Duration
        /// When it ends; `nil` while the scope could not send anyway.
        var end: Duration?
    }

    /// Whether delays have no effect, since a flush is under way: the app may be suspended before they end.
    var ignoresDelays = false

    private let options: OfflineQueueOptions
    private var lanes: [String: Lane] = [:]
    /// By owner, each of which delays one scope at a time.
    private var delays: [UUID: Delay] = [:]
    private var turn: UInt64 = 0
    private var gapEnd = Duration.zero
    private var wasNetworkAllowed: Bool

    init(_ options: OfflineQueueOptions, isNetworkAllowed: Bool) {
        self.options = options
        wasNetworkAllowed = isNetworkAllowed
    }

    /// The app asks to send what waits, or somebody signed in. A wait that a server asked for still holds.
    mutating func flush() {
        for scope in lanes.keys { lanes[scope]?.backoff = .zero }
    }

    mutating func networkDidChange(isAllowed: Bool) {
        if isAllowed, !wasNetworkAllowed {
            flush()
            for owner in delays.keys { delays[owner]?.end = nil }
        }
        wasNetworkAllowed = isAllowed
    }

    /// Delays a scope, once it could send, unless the owner delays it already. A delay of another scope by the same
    /// owner ends.
    ///
    /// - Parameter limit: The longest delay; `nil` ends the delay of the owner, whichever scope it is for.
    /// - Returns: Whether a delay has ended.
    @discardableResult
    mutating func delay(_ scope: String, owner: UUID, upTo limit: Duration?) -> Bool {
        let former = delays[owner]
        if limit != nil, former?.scope == scope { return false }
        delays[owner] = limit.map { Delay(scope: scope, limit: $0) }
        return former != nil
    }

    /// A change was stored in a scope in which none waited, after its call had failed.
    mutating func didStoreFirst(in scope: String, retryAfter: Duration?, at now: Duration, jitter: Double) {
        fail(scope, retryAfter, at: now, jitter)
    }

    /// - Parameter jitter: A random number from 0 to 1.
    mutating func didReplay(_ scope: String, _ outcome: Outcome, at now: Duration, jitter: Double) {
        turn += 1
        lanes[scope, default: Lane()].turn = turn
        gapEnd = now + options.gap
        switch outcome {
        case .settled:
            lanes[scope]?.failures = 0
            lanes[scope]?.backoff = .zero
        case .failed(let retryAfter): fail(scope, retryAfter, at: now, jitter)
        case .unauthorized: lanes[scope]?.backoff = now + Self.credentialsWait
        case .stopped:
            let backoff = max(lanes[scope]?.backoff ?? .zero, now + options.baseWait)
            lanes[scope]?.backoff = backoff
        }
    }

    private mutating func fail(_ scope: String, _ retryAfter: Duration?, at now: Duration, _ jitter: Double) {
        var lane = lanes[scope] ?? Lane()
        lane.failures += 1
        lane.backoff = now + wait(after: lane.failures, jitter)
        if let retryAfter { lane.serverPause = max(lane.serverPause, now + min(retryAfter, Self.longestServerWait)) }
        lanes[scope] = lane
        for (owner, delay) in delays where delay.scope == scope { delays[owner]?.end = nil }
    }

    /// Half of the wait is certain and half random, after the bound was applied: devices that failed together do not
    /// return together.
    private func wait(after failures: Int, _ jitter: Double) -> Duration {
        let wait = options.backoff.bound(after: failures)
        return wait / 2 + wait / 2 * jitter
    }

    /// The server asked in an earlier run to wait.
    mutating func pause(_ scope: String, until instant: Duration) {
        var lane = lanes[scope] ?? Lane()
        lane.serverPause = max(lane.serverPause, instant)
        lanes[scope] = lane
    }

    /// Whether the server asked to wait in each of some scopes; `false` if there are none.
    func isPaused(_ scopes: [String], at now: Duration) -> Bool {
        !scopes.isEmpty && scopes.allSatisfy { lanes[$0].map { $0.serverPause > now } ?? false }
    }

    /// - Parameters:
    ///   - scopes: The scopes in which changes wait that may be sent as the account that is signed in.
    ///   - hasOthers: Whether changes wait that may not.
    mutating func step(
        _ scopes: [String], hasOthers: Bool, isNetworkAllowed: Bool, at now: Duration
    ) -> Step {
        if scopes.isEmpty, !hasOthers {
            // Nothing waits, so that nothing is to be remembered but what servers asked for.
            lanes = lanes.filter { $0.value.serverPause > now }
            return .wait(until: nil)
        }
        // A network that has returned may be read here before its change is reported: delays begin anew before anything is sent.
        networkDidChange(isAllowed: isNetworkAllowed)
        let timer = now + options.interval
        // The status is read again then: its source may have missed a change.
        guard isNetworkAllowed, !scopes.isEmpty else { return .wait(until: timer) }
        let starts = scopes.map { scope in
            let lane = lanes[scope] ?? Lane()
            let start = max(gapEnd, lane.backoff, lane.serverPause)
            return (scope: scope, start: start <= now ? delayEnd(of: scope, at: now) : start, turn: lane.turn)
        }
        let ready = starts.filter { $0.start <= now }.min { ($0.turn, $0.scope) < ($1.turn, $1.scope) }
        if let ready { return .replay(ready.scope) }
        return .wait(until: min(timer, starts.map(\.start).min() ?? timer))
    }

    /// When a scope sends that could send now. A delay that began while nobody was signed in is for its account from
    /// now on.
    private mutating func delayEnd(of scope: String, at now: Duration) -> Duration {
        if ignoresDelays || delays.isEmpty { return now }
        let former = ChangeScope(scope)?.ofNobody.text
        var latest = now
        for (owner, delay) in delays where delay.scope == scope || delay.scope == former {
            let end = delay.end ?? now + delay.limit
            delays[owner] = Delay(scope: scope, limit: delay.limit, end: end)
            latest = max(latest, end)
        }
        return latest
    }
}
