/// Decides when a log sends its next batch, and how large that may be. A pure state machine: ``ActionLogSender`` performs.
///
/// A batch is sent when enough records wait, when the app asks, when the interval has passed since the oldest was recorded, at launch if
/// anything waits, and when a network comes back. Once one is sent, others follow until nothing waits.
struct FlushSchedule: Sendable {
    /// What happens next.
    enum Step: Equatable, Sendable {
        /// Send a batch of at most this many records.
        case send(limit: Int)
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
        /// The server refuses this batch for ever, of so many records. One alone was set aside.
        case refused(count: Int)
        /// The server asks for an account, or for another token.
        case unauthorized
    }

    /// How long nothing is sent after the server asked for an account, unless one signs in or the app asks.
    static let credentialsWait = Duration.seconds(300)
    /// The longest wait that a server can ask for.
    static let longestServerWait = Duration.seconds(86_400)

    private let batchSize: Int
    private let interval: Duration?
    private let baseWait: Duration
    private let longestWait: Duration
    /// How many records wait that may be sent now.
    private var waiting = 0
    /// Whether all that waits is to be sent.
    private var isDraining = false
    /// When the first of those that wait was noticed.
    private var oldest: Duration?
    private var isNetworkAllowed: Bool
    /// Nothing is sent before, as the server asked.
    private var serverPause = Duration.zero
    /// Nothing is sent before, unless an event makes success likely.
    private var backoff = Duration.zero
    private var failures = 0
    /// Records refused alone since the last batch that was accepted.
    private var refusals = 0
    private var limit: Int

    init(_ options: ActionLogOptions, isNetworkAllowed: Bool) {
        batchSize = max(1, options.batchSize)
        interval = options.interval
        baseWait = options.baseWait
        longestWait = options.longestWait
        limit = batchSize
        self.isNetworkAllowed = isNetworkAllowed
    }

    /// Records wait that were stored now or, at launch, by an earlier run.
    mutating func noteWaiting(_ count: Int, isUrgent: Bool = false, at now: Duration) {
        waiting = count
        if count == 0 {
            isDraining = false
            oldest = nil
        } else {
            oldest = oldest ?? now
            isDraining = isDraining || isUrgent
        }
    }

    /// The app asks to send what waits. A wait that the server asked for still holds.
    mutating func flush() {
        isDraining = isDraining || waiting > 0
        backoff = .zero
    }

    /// Another account is signed in.
    mutating func accountDidChange() { flush() }

    mutating func networkDidChange(isAllowed: Bool) {
        if isAllowed, !isNetworkAllowed { flush() }
        isNetworkAllowed = isAllowed
    }

    /// - Parameters:
    ///   - outcome: What became of the batch of the last step.
    ///   - waiting: How many records wait now.
    ///   - jitter: A random number from 0 to 1.
    mutating func didSend(_ outcome: Outcome, waiting count: Int, at now: Duration, jitter: Double) {
        isDraining = true
        oldest = nil
        noteWaiting(count, at: now)
        switch outcome {
        case .accepted(let gap):
            (failures, refusals) = (0, 0)
            limit = min(batchSize, limit * 2)
            serverPause = max(serverPause, now + min(gap, Self.longestServerWait))
        case .nothing: isDraining = false
        case .failed(let retryAfter):
            failures += 1
            backoff = now + wait(after: failures, jitter)
            if let retryAfter {
                serverPause = max(serverPause, now + min(retryAfter, Self.longestServerWait))
            }
        case .refused(let count) where count > 1: limit = max(1, min(limit, count) / 2)
        case .refused:
            refusals += 1
            // One is a poison record. A server that refuses one after the other may refuse everything.
            if refusals > 1 { backoff = now + wait(after: refusals - 1, jitter) }
        case .unauthorized: backoff = now + Self.credentialsWait
        }
    }

    /// Half of the wait is certain, and half random, after the bound was applied: devices that failed together do not return together.
    private func wait(after failures: Int, _ jitter: Double) -> Duration {
        var wait = min(baseWait, longestWait)
        for _ in 1..<max(1, min(failures, 64)) where wait < longestWait { wait = min(wait * 2, longestWait) }
        return wait / 2 + wait / 2 * jitter
    }

    func step(at now: Duration) -> Step {
        guard waiting > 0, isNetworkAllowed else { return .wait(until: nil) }
        var start = max(serverPause, backoff)
        if !isDraining, waiting < batchSize {
            guard let interval, let oldest else { return .wait(until: nil) }
            start = max(start, oldest + interval)
        }
        return start <= now ? .send(limit: limit) : .wait(until: start)
    }
}
