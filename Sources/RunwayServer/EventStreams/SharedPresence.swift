import Foundation
import Synchronization

/// Decides when a hub records in a shared log which members of its process have joined and left. It reads no clock:
/// times are parameters.
///
/// The members are recorded under a lease. If recording fails, the recorded state is unknown: the hub creates another
/// lease with all its members, and the old lease's members are removed when it expires.
struct SharedPresence: Sendable {
    static let renewalInterval = Duration.seconds(5)

    /// The duration of the lease. It tolerates late renewals, and includes the grace period, in which the members of a
    /// killed process can connect to another process.
    let duration: Duration
    /// The name of the lease; `nil` before the first lease and after a failed recording.
    private(set) var lease: String?
    private(set) var isRecording = false
    /// Whether no members of expired leases remain.
    private(set) var isComplete = true
    private var renewalTime = Duration.zero
    /// The time when the lease expires unless it is renewed, by the clock of the process.
    private var leaseEnd = Duration.zero

    init(grace: Duration) { duration = grace + Self.renewalInterval * 3 }

    /// Returns whether to start a recording. It is due if changes are pending or the lease must be renewed. After a
    /// failure, a pause must pass first. If the function returns `true`, a recording counts as running.
    mutating func beginRecording(hasMore: Bool, at now: Duration) -> Bool {
        guard !isRecording, now >= renewalTime || (lease != nil && hasMore) else { return false }
        isRecording = true
        renewalTime = now + Self.renewalInterval
        // Without connections, nothing renews the lease. Renewing an expired lease would fail and cause a pause.
        if now >= leaseEnd { lease = nil }
        return true
    }

    /// Stores the name of a new lease, under which no member is recorded yet.
    mutating func begin(_ lease: String, at now: Duration) { (self.lease, leaseEnd) = (lease, now + duration) }

    /// Records a successful step of a recording. The step has renewed the lease.
    ///
    /// - Parameters:
    ///   - continues: Whether another step follows; otherwise, the recording has ended.
    ///   - isComplete: Whether no members of expired leases remain.
    ///   - now: The current instant.
    mutating func endStep(continues: Bool, isComplete: Bool, at now: Duration) {
        (isRecording, self.isComplete, leaseEnd) = (continues, isComplete, now + duration)
    }

    /// Records a failure, for example because the lease has expired. Another lease is created after a random pause, so
    /// that many processes do not create theirs at the same time.
    mutating func fail(at now: Duration) {
        (lease, isRecording) = (nil, false)
        renewalTime = now + Duration.seconds(Double.random(in: 1...5))
    }
}

extension EventHub {
    /// Renews the lease of this process in the shared log, and records the members that joined and left.
    func recordPresence() async {
        guard let shared = log as? any SharedEventLog, let presence = state.withLock({ $0.sharedPresence }) else {
            return
        }
        let lease = presence.lease ?? UUID().uuidString.lowercased()
        do {
            if presence.lease == nil {
                try await shared.beginPresence(under: lease, for: presence.duration)
                state.withLock { state in
                    state.presence?.rejoin()
                    state.sharedPresence?.begin(lease, at: clock.now)
                }
            }
            var continues = true
            while continues {
                let (changes, leaveCount) = state.withLock { state in
                    (state.nextRecordedChanges(at: clock.now), state.nextLeaveCount)
                }
                let (count, isComplete) = try await shared.renewPresence(
                    under: lease, for: presence.duration, changes, leaving: leaveCount)
                continues = state.withLock {
                    $0.continueRecording(publishing: count, isComplete: isComplete, at: clock.now)
                }
                wake()
            }
        } catch {
            state.withLock { $0.sharedPresence?.fail(at: clock.now) }
        }
    }
}

extension EventHub.State {
    /// Returns whether the caller must call `recordPresence()`.
    mutating func beginRecording(at now: Duration) -> Bool {
        let hasMore = mayContinue(isComplete: sharedPresence?.isComplete ?? true, at: now)
        return sharedPresence?.beginRecording(hasMore: hasMore, at: now) ?? false
    }

    /// Removes and returns the changes of the next step. Their number may exceed the rate limit, since the log
    /// publishes few of them if most members are also present under another lease.
    fileprivate mutating func nextRecordedChanges(at now: Duration) -> [PresenceChange] {
        guard presence?.hasChanges(at: now) == true else { return [] }
        return presence?.nextChanges(at: now, upTo: EventHub.maximumBatchCount) ?? []
    }

    /// The number of members of expired leases that may leave in the next step; 0 while the rate limit is exceeded.
    fileprivate var nextLeaveCount: Int { max(0, min(presence?.allowance ?? 0, EventHub.maximumBatchCount)) }

    /// Records that a step of a recording has published `count` changes. Returns whether another step follows.
    fileprivate mutating func continueRecording(publishing count: Int, isComplete: Bool, at now: Duration) -> Bool {
        // A step counts as at least one change, which limits the number of steps per second.
        presence?.didPublish(max(1, count))
        let continues = mayContinue(isComplete: isComplete, at: now)
        sharedPresence?.endStep(continues: continues, isComplete: isComplete, at: now)
        return continues
    }

    /// Returns whether there is more to record and the rate limit permits it.
    private func mayContinue(isComplete: Bool, at now: Duration) -> Bool {
        guard let presence, presence.allowance > 0 else { return false }
        return !isComplete || presence.hasChanges(at: now)
    }
}
