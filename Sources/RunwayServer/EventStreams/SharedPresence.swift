import Foundation
import Synchronization

/// Decides when a hub records in a shared log which members of its process have joined and left. Pure: times are passed
/// to it.
///
/// The members are recorded under a lease. If recording fails, the recorded state is unknown: the hub begins another
/// lease with all its members, and the members of the former lease are removed when it ends.
struct SharedPresence: Sendable {
    /// The time between two renewals of the lease.
    static let renewalInterval = Duration.seconds(5)

    /// The duration of the lease after a renewal. Even if the next renewals are late, the members of a killed process
    /// have the grace period to connect to another process.
    let duration: Duration
    /// Names the lease; `nil` before it begins, and after a recording that failed.
    private(set) var lease: String?
    private(set) var isRecording = false
    /// Whether no members of ended leases are left.
    private(set) var isComplete = true
    private var renewalTime = Duration.zero
    /// The time at which the lease ends unless it is renewed, by the clock of the process.
    private var leaseEnd = Duration.zero

    init(grace: Duration) { duration = grace + Self.renewalInterval * 3 }

    /// Returns whether a recording has to start, which it then counts as started. There may be more to record, or only
    /// the lease to renew. After one that failed it waits until the pause is over.
    mutating func beginRecording(hasMore: Bool, at now: Duration) -> Bool {
        guard !isRecording, now >= renewalTime || (lease != nil && hasMore) else { return false }
        isRecording = true
        renewalTime = now + Self.renewalInterval
        // While there are no connections, nothing renews the lease. Renewing one that has ended would fail, and be followed by a pause.
        if now >= leaseEnd { lease = nil }
        return true
    }

    /// Notes that a lease has begun, under which no member is recorded yet.
    mutating func begin(_ lease: String, at now: Duration) { (self.lease, leaseEnd) = (lease, now + duration) }

    /// Notes that a step has succeeded, which has renewed the lease.
    ///
    /// - Parameters:
    ///   - continues: Whether another step follows; otherwise the recording has ended.
    ///   - isComplete: Whether no members of ended leases are left.
    ///   - now: The present instant.
    mutating func endStep(continues: Bool, isComplete: Bool, at now: Duration) {
        (isRecording, self.isComplete, leaseEnd) = (continues, isComplete, now + duration)
    }

    /// Notes that the recording has failed, also because the lease had ended. Another lease begins after a random
    /// pause, so that many processes don't begin theirs at once.
    mutating func fail(at now: Duration) {
        (lease, isRecording) = (nil, false)
        renewalTime = now + Duration.seconds(Double.random(in: 1...5))
    }
}

extension EventHub {
    /// Renews the lease of this process in the shared log, and records the members that have joined and left.
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
    /// Returns whether the caller has to record.
    mutating func beginRecording(at now: Duration) -> Bool {
        let hasMore = mayContinue(isComplete: sharedPresence?.isComplete ?? true, at: now)
        return sharedPresence?.beginRecording(hasMore: hasMore, at: now) ?? false
    }

    /// Removes and returns the changes of the next step. The log publishes few of them if it has most members by
    /// another lease, so that a step may have more than may be published.
    fileprivate mutating func nextRecordedChanges(at now: Duration) -> [PresenceChange] {
        guard presence?.hasChanges(at: now) == true else { return [] }
        return presence?.nextChanges(at: now, upTo: EventHub.maximumBatchCount) ?? []
    }

    /// The number of members of ended leases that may leave with the next step: none while the limit is exceeded.
    fileprivate var nextLeaveCount: Int { max(0, min(presence?.allowance ?? 0, EventHub.maximumBatchCount)) }

    /// Notes that a step has published `count` changes; returns whether another one follows.
    fileprivate mutating func continueRecording(publishing count: Int, isComplete: Bool, at now: Duration) -> Bool {
        // A step counts for one change at least, so that a second has a limited number of them.
        presence?.didPublish(max(1, count))
        let continues = mayContinue(isComplete: isComplete, at: now)
        sharedPresence?.endStep(continues: continues, isComplete: isComplete, at: now)
        return continues
    }

    /// Whether there is more to record, and may be published now.
    private func mayContinue(isComplete: Bool, at now: Duration) -> Bool {
        guard let presence, presence.allowance > 0 else { return false }
        return !isComplete || presence.hasChanges(at: now)
    }
}
