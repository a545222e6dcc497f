import RunwayFormats

/// A change of presence: a member joins or leaves a topic.
public struct PresenceChange: Sendable, Hashable {
    /// The topic that the member joins or leaves.
    public var topic: String
    /// The member, which is the owner of a connection.
    public var member: String
    /// Whether the member joins; `false` if it leaves.
    public var isPresent: Bool

    /// Creates a change of presence.
    public init(topic: String, member: String, isPresent: Bool) {
        (self.topic, self.member, self.isPresent) = (topic, member, isPresent)
    }

    /// Returns the event that announces the change to clients.
    ///
    /// - Parameter runID: The id under which presence is published: random for each process, or the epoch of a
    ///   ``SharedEventLog``. Clients discard members that were published under another id.
    public func event(of runID: String) -> PublishedEvent {
        let event = PresenceEvent(member: member, isPresent: isPresent, run: runID)
        return PublishedEvent(topic: topic, type: PresenceEvent.eventType, json: event.json)
    }

    var opposite: PresenceChange { PresenceChange(topic: topic, member: member, isPresent: !isPresent) }
}

/// Decides which members are present in which topics, and when changes are published. It reads no clock: times are
/// parameters.
///
/// A member joins a topic with the first live connection that follows it. It leaves when the grace period after the end
/// of the last such connection has passed; a member that reconnects within the period does not leave.
///
/// Changes are published at a limited rate. A member with a pending leave stays present, and does not leave if it
/// reconnects; a member with a pending join is not present yet. The number of members therefore limits the number of
/// pending changes, even if publishing is impossible for a long time.
struct Presence: Sendable {
    private struct Entry {
        /// The ids of the member's live connections that follow the topic.
        var connections: Set<String> = []
        /// The time when the member leaves; `nil` while it has a connection.
        var leaveTime: Duration?
    }

    private let grace: Duration
    private let maximumCount: Int
    private let maximumTopicCount: Int
    private let maximumRate: Int
    private var topics: [String: [String: Entry]] = [:]
    /// The member and the followed topics of each live connection.
    private var connections: [String: (member: String, topics: Set<String>)] = [:]
    /// The number of topics in which each member is present.
    private var topicCounts: [String: Int] = [:]
    /// The number of members, counted once per topic.
    private(set) var count = 0
    /// The members without a connection. Since all have the same grace period, they are in the order in which they
    /// leave.
    private var leaving = PresenceQueue()
    /// The members whose join is not published yet.
    private var joining = PresenceQueue()
    /// The number of changes that may still be published in this second. Negative if an earlier second had too many.
    private(set) var allowance: Int

    /// - Parameters:
    ///   - grace: The time between the end of a member's last connection and the moment when the member leaves.
    ///   - maximumCount: The maximum number of members, counted once per topic; further members do not join.
    ///   - maximumTopicCount: The maximum number of topics of one member; the member joins no further topics. The
    ///     default is 1,000.
    ///   - maximumRate: The maximum number of changes that are published in a second, at least 1. The default is 100.
    init(grace: Duration, maximumCount: Int, maximumTopicCount: Int = 1000, maximumRate: Int = 100) {
        (self.grace, self.maximumCount, self.maximumTopicCount) = (grace, maximumCount, maximumTopicCount)
        self.maximumRate = max(1, maximumRate)
        allowance = self.maximumRate
    }

    init(_ options: EventHubOptions) {
        self.init(
            grace: options.presenceGrace ?? .zero, maximumCount: EventHubOptions.maximumPresentCount,
            maximumTopicCount: EventHubOptions.maximumPresentTopicsPerOwner,
            maximumRate: options.maximumPresenceEventsPerSecond)
    }

    /// Returns the present members of a topic in no particular order. A member is present if its join was published and
    /// its leave was not published yet.
    func members(of topic: String) -> [String] {
        (topics[topic] ?? [:]).keys.filter {
            !joining.contains(PresenceChange(topic: topic, member: $0, isPresent: true))
        }
    }

    /// The time when the next member leaves; `nil` if all members have connections.
    var deadline: Duration? { leaving.first.flatMap { topics[$0.topic]?[$0.member]?.leaveTime } }

    /// Records the topics of a connection that has received all missed events. These topics replace the previous topics
    /// of the connection.
    mutating func follow(_ topics: Set<String>, by connection: String, of member: String, at now: Duration) {
        let former = connections[connection]?.topics ?? []
        connections[connection] = (member, topics)
        for topic in former.subtracting(topics) { leave(topic, connection, member, at: now) }
        for topic in topics.subtracting(former).sorted() { join(topic, connection, member) }
    }

    mutating func end(_ connection: String, at now: Duration) {
        guard let (member, topics) = connections.removeValue(forKey: connection) else { return }
        for topic in topics { leave(topic, connection, member, at: now) }
    }

    /// Enqueues the joins of all present members again. Called for a new lease in a ``SharedEventLog``, under which no
    /// member is recorded yet.
    mutating func rejoin() {
        joining = PresenceQueue()
        for (topic, members) in topics {
            for member in members.keys {
                joining.append(PresenceChange(topic: topic, member: member, isPresent: true))
            }
        }
    }

    /// Whether there are pending changes and the rate limit permits publishing one.
    func hasChanges(at now: Duration) -> Bool { allowance > 0 && (joining.first != nil || isLeaveDue(at: now)) }

    /// Removes and returns the next changes to publish: leaves first, then joins; at most one change for each member
    /// and topic.
    mutating func nextChanges(at now: Duration, upTo maximumCount: Int) -> [PresenceChange] {
        var changes: [PresenceChange] = []
        while changes.count < maximumCount {
            if isLeaveDue(at: now), let leave = leaving.first {
                remove(leave)
                // If a member leaves before its join is published, neither change is published.
                if !joining.remove(leave.opposite) { changes.append(leave) }
            } else if let join = joining.first {
                joining.remove(join)
                changes.append(join)
            } else {
                break
            }
        }
        return changes
    }

    /// Restores changes that could not be published. Joins become pending again. A member that left and has not
    /// returned leaves after another grace period.
    mutating func restore(_ changes: [PresenceChange], at now: Duration) {
        for change in changes {
            if change.isPresent {
                joining.append(change)
            } else if !joining.remove(change.opposite) {
                add(change.member, Entry(leaveTime: now + grace), to: change.topic)
                leaving.append(change)
            }
        }
    }

    /// Subtracts `count` published changes from the allowance. If the allowance becomes negative, fewer changes are
    /// published in the next seconds.
    mutating func didPublish(_ count: Int) { allowance -= count }

    mutating func beginSecond() { allowance = allowance > 0 ? maximumRate : allowance + maximumRate }

    private func isLeaveDue(at now: Duration) -> Bool { deadline.map { now >= $0 } ?? false }

    private mutating func join(_ topic: String, _ connection: String, _ member: String) {
        if var entry = topics[topic]?[member] {
            entry.connections.insert(connection)
            entry.leaveTime = nil
            topics[topic]?[member] = entry
            leaving.remove(PresenceChange(topic: topic, member: member, isPresent: false))
            return
        }
        guard count < maximumCount, topicCounts[member] ?? 0 < maximumTopicCount else { return }
        add(member, Entry(connections: [connection]), to: topic)
        joining.append(PresenceChange(topic: topic, member: member, isPresent: true))
    }

    private mutating func leave(_ topic: String, _ connection: String, _ member: String, at now: Duration) {
        // A connection that exceeded the limit on members is not counted.
        guard var entry = topics[topic]?[member], entry.connections.remove(connection) != nil else { return }
        if entry.connections.isEmpty {
            entry.leaveTime = now + grace
            leaving.append(PresenceChange(topic: topic, member: member, isPresent: false))
        }
        topics[topic]?[member] = entry
    }

    private mutating func add(_ member: String, _ entry: Entry, to topic: String) {
        topics[topic, default: [:]][member] = entry
        count += 1
        topicCounts[member, default: 0] += 1
    }

    private mutating func remove(_ leave: PresenceChange) {
        leaving.remove(leave)
        topics[leave.topic]?[leave.member] = nil
        if topics[leave.topic]?.isEmpty == true { topics[leave.topic] = nil }
        count -= 1
        let topicCount = (topicCounts[leave.member] ?? 1) - 1
        topicCounts[leave.member] = topicCount > 0 ? topicCount : nil
    }
}

/// A queue of distinct changes. Any change can be removed; all functions take constant time on average.
private struct PresenceQueue: Sendable {
    private var changes: [Int: PresenceChange] = [:]
    private var numbers: [PresenceChange: Int] = [:]
    private var firstNumber = 0
    private var nextNumber = 0

    var first: PresenceChange? { changes[firstNumber] }

    func contains(_ change: PresenceChange) -> Bool { numbers[change] != nil }

    mutating func append(_ change: PresenceChange) {
        numbers[change] = nextNumber
        changes[nextNumber] = change
        nextNumber += 1
    }

    /// Returns whether the queue contained the change.
    @discardableResult
    mutating func remove(_ change: PresenceChange) -> Bool {
        guard let number = numbers.removeValue(forKey: change) else { return false }
        changes[number] = nil
        while firstNumber < nextNumber, changes[firstNumber] == nil { firstNumber += 1 }
        return true
    }
}
