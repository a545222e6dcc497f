import RunwayFormats
import Synchronization

extension EventHub {
    /// Returns the present members of a topic in alphabetical order; empty without a grace period.
    ///
    /// A member is present if it owns a live connection that follows the topic by name, or if its last such connection
    /// ended less than ``EventHubOptions/presenceGrace`` ago.
    ///
    /// Joining and leaving are published in the topic as events of type `presence`. A member joins when the replay of a
    /// connection has ended, and leaves when the grace period after the end of its last connection has passed. Events
    /// beyond ``EventHubOptions/maximumPresenceEventsPerSecond`` are delayed. A member counts as present from just
    /// before the join event is stored until just before the leave event is stored.
    ///
    /// With a ``SharedEventLog``, the connections of all processes count, and the members are read from the log. A
    /// member is then returned once its join is stored, which takes up to a second, or longer at the rate limit. The
    /// members of a killed process begin to leave 10 to 20 s after the grace period, unless they connect to another
    /// process.
    ///
    /// - Parameters:
    ///   - topic: The topic.
    ///   - maximumCount: The maximum number of returned members. The default is no limit.
    /// - Throws: Any error of a ``SharedEventLog``; otherwise nothing.
    public func present(in topic: String, upTo maximumCount: Int = .max) async throws -> [String] {
        if publishesPresence, let shared = log as? any SharedEventLog {
            return try await shared.present(in: topic, upTo: maximumCount)
        }
        // The members are sorted outside the lock, since the delivery of events waits for the lock.
        let members = state.withLock { $0.presence?.members(of: topic) ?? [] }
        return Array(members.sorted().prefix(maximumCount))
    }

    /// Updates the presence after a connection changed its topics.
    func topicsDidChange(_ connection: EventConnection) {
        let starts = state.withLock { state in
            state.live[connection.id] != nil && state.follow(connection, at: clock.now)
        }
        if starts { Task { await write() } }
    }
}

extension EventHub.State {
    /// Records that a live connection follows its topics. Returns whether the caller must call `write()`.
    mutating func follow(_ connection: EventConnection, at now: Duration) -> Bool {
        guard !connection.owner.isEmpty, let topics = connection.topics else { return false }
        // The topics of a permission are not validated. No event can be published in an invalid topic.
        let valid = topics.filter { PublishedEvent.isTopic($0) }
        presence?.follow(valid, by: connection.id, of: connection.owner, at: now)
        return beginWritingPresence(at: now)
    }

    /// Resets the rate limit every second. Returns whether the caller must call `write()`.
    mutating func tickPresence(at now: Duration) -> Bool {
        presence?.beginSecond()
        return beginWritingPresence(at: now)
    }

    /// Removes and returns the next presence changes to publish. A shared log publishes changes itself.
    mutating func nextPresence(at now: Duration) -> [PresenceChange] {
        guard sharedPresence == nil, let allowance = presence?.allowance else { return [] }
        let changes = presence?.nextChanges(at: now, upTo: min(allowance, EventHub.maximumBatchCount)) ?? []
        presence?.didPublish(changes.count)
        return changes
    }

    private mutating func beginWritingPresence(at now: Duration) -> Bool {
        guard sharedPresence == nil, !isWriting, presence?.hasChanges(at: now) == true else { return false }
        isWriting = true
        return true
    }
}
