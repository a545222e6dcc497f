import RunwayJSON
import Synchronization

extension EventHub {
    /// The present members of a topic, in alphabetical order: the owners of live connections to this process that follow the topic by its name,
    /// and those whose last connection ended a moment ago. Empty without
    /// ``EventHubOptions/presenceGrace``, and over a ``SharedEventLog``.
    ///
    /// Joining and leaving are published in the topic as events of the type `presence`. A member joins when the replay of a
    /// connection has ended, and leaves when the grace period has passed after the end of the last connection.
    public func present(in topic: String) -> [String] { state.withLock { $0.presence?.members(of: topic) ?? [] } }

    /// A connection follows other topics than before.
    func topicsDidChange(_ connection: EventConnection) {
        let starts = state.withLock { state in
            state.live[connection.id] != nil && state.follow(connection, run, at: clock.now)
        }
        if starts { Task { await write() } }
    }
}

extension EventHub.State {
    /// A live connection follows its topics; returns whether the caller has to write what is pending.
    mutating func follow(_ connection: EventConnection, _ run: String, at now: Duration) -> Bool {
        guard !connection.owner.isEmpty, let topics = connection.topics else { return false }
        return announce(
            presence?.follow(topics, by: connection.id, of: connection.owner, at: now) ?? [], run)
    }

    /// Publishes which members have left; returns whether the caller has to write what is pending.
    mutating func tickPresence(_ run: String, at now: Duration) -> Bool {
        guard let deadline = presence?.deadline, now >= deadline else { return false }
        return announce(presence?.tick(at: now) ?? [], run)
    }

    private mutating func announce(_ changes: [Presence.Change], _ run: String) -> Bool {
        guard !changes.isEmpty else { return false }
        for change in changes {
            var writer = JSONWriter()
            writer.beginObject()
            writer.name("member")
            writer.string(change.member)
            writer.name("isPresent")
            writer.bool(change.isPresent)
            // A process that starts again does not know who was present before.
            writer.name("run")
            writer.string(run)
            writer.endObject()
            let data = String(decoding: writer.bytes, as: UTF8.self)
            pending.append(
                EventHub.Pending(
                    event: PublishedEvent(topic: change.topic, type: "presence", data: data), continuation: nil))
        }
        defer { isWriting = true }
        return !isWriting
    }
}
