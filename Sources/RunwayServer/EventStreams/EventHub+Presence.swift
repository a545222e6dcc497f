import RunwayFormats
import Synchronization

extension EventHub {
    /// Returns the present members of a topic, in alphabetical order: the owners of live connections that follow the
    /// topic by its name, and those whose last connection ended within ``EventHubOptions/presenceGrace``. Empty without
    /// a grace period.
    ///
    /// Joining and leaving are published in the topic as events of the type `presence`. A member joins when the replay
    /// of a connection has ended, and leaves when the grace period has passed after the end of the last connection. If
    /// members join and leave faster than ``EventHubOptions/maximumPresenceEventsPerSecond``, the events are delayed: a
    /// member counts as present from just before the event of joining is stored, until just before the event of leaving
    /// is stored.
    ///
    /// With a ``SharedEventLog`` the connections of all processes count, and the members are read from the log. A
    /// member is then returned once its join is stored, which takes up to a second, or longer at the rate limit. The
    /// members of a killed process begin to leave 10 to 20 s after the grace period, unless they connect to another
    /// process.
    ///
    /// - Parameters:
    ///   - topic: The topic.
    ///   - maximumCount: The most members that are returned. The default is no bound.
    /// - Throws: Any error of a ``SharedEventLog``; nothing otherwise.
    public func present(in topic: String, upTo maximumCount: Int = .max) async throws -> [String] {
        if publishesPresence, let shared = log as? any SharedEventLog {
            return try await shared.present(in: topic, upTo: maximumCount)
        }
        // Sorted after the lock, which events wait for, was released.
        let members = state.withLock { $0.presence?.members(of: topic) ?? [] }
        return Array(members.sorted().prefix(maximumCount))
    }

    /// Notes that a connection follows other topics than before.
    func topicsDidChange(_ connection: EventConnection) {
        let starts = state.withLock { state in
            state.live[connection.id] != nil && state.follow(connection, at: clock.now)
        }
        if starts { Task { await write() } }
    }
}

extension EventHub.State {
    /// Notes that a live connection follows its topics; returns whether the caller has to write.
    mutating func follow(_ connection: EventConnection, at now: Duration) -> Bool {
        guard !connection.owner.isEmpty, let topics = connection.topics else { return false }
        // Nobody has verified the topics of a permission. No event can be published in one that is invalid.
        let valid = topics.filter { PublishedEvent.isTopic($0) }
        presence?.follow(valid, by: connection.id, of: connection.owner, at: now)
        return beginWritingPresence(at: now)
    }

    /// Begins another second; returns whether the caller has to write.
    mutating func tickPresence(at now: Duration) -> Bool {
        presence?.beginSecond()
        return beginWritingPresence(at: now)
    }

    /// Removes and returns the next changes of present members. A shared log publishes them itself.
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
