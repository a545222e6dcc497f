/// Decides which members are present in which topics. Pure: times are passed to it.
///
/// A member joins a topic with the first live connection that follows it, and leaves when the grace period has passed after the last one
/// has ended: a member that reconnects within the period does not leave.
struct Presence: Sendable {
    /// A member has come to a topic, or left it.
    struct Change: Sendable, Hashable {
        let topic: String
        let member: String
        let isPresent: Bool
    }

    private struct Entry {
        /// The live connections of the member that follow the topic.
        var connections: Set<String> = []
        /// When the member leaves; `nil` while there is a connection.
        var leaveTime: Duration?
    }

    private let grace: Duration
    private let maximumCount: Int
    private let maximumTopicCount: Int
    private var topics: [String: [String: Entry]] = [:]
    /// The member of a live connection, and the topics that it follows.
    private var connections: [String: (member: String, topics: Set<String>)] = [:]
    /// In how many topics each member is.
    private var topicCounts: [String: Int] = [:]
    /// How many members there are in all topics.
    private(set) var count = 0

    /// - Parameters:
    ///   - grace: How long after the end of the last connection a member leaves.
    ///   - maximumCount: The most members in all topics; others do not join.
    ///   - maximumTopicCount: The most topics of one member; it does not join others. The default is 1,000.
    init(grace: Duration, maximumCount: Int, maximumTopicCount: Int = 1000) {
        (self.grace, self.maximumCount, self.maximumTopicCount) = (grace, maximumCount, maximumTopicCount)
    }

    init(_ options: EventHubOptions) {
        self.init(
            grace: options.presenceGrace ?? .zero, maximumCount: options.maximumPresentCount,
            maximumTopicCount: options.maximumPresentTopicsPerOwner)
    }

    /// The present members of a topic, in alphabetical order.
    func members(of topic: String) -> [String] { (topics[topic] ?? [:]).keys.sorted() }

    /// When ``tick(at:)`` has to be called next; `nil` if no member is about to leave.
    var deadline: Duration? { topics.values.lazy.flatMap(\.values).compactMap(\.leaveTime).min() }

    /// A connection follows topics from now on, and has received what it had missed. It may have followed others before.
    mutating func follow(_ topics: Set<String>, by connection: String, of member: String, at now: Duration) -> [Change]
    {
        let former = connections[connection]?.topics ?? []
        connections[connection] = (member, topics)
        for topic in former.subtracting(topics) { leave(topic, connection, member, at: now) }
        return topics.subtracting(former).sorted().compactMap { join($0, connection, member) }
    }

    /// A connection has ended.
    mutating func end(_ connection: String, at now: Duration) {
        guard let (member, topics) = connections.removeValue(forKey: connection) else { return }
        for topic in topics { leave(topic, connection, member, at: now) }
    }

    /// A time that ``deadline`` named has come.
    mutating func tick(at now: Duration) -> [Change] {
        var changes: [Change] = []
        for (topic, members) in topics {
            for (member, entry) in members {
                guard let leaveTime = entry.leaveTime, now >= leaveTime else { continue }
                topics[topic]?[member] = nil
                count -= 1
                let topicCount = (topicCounts[member] ?? 1) - 1
                topicCounts[member] = topicCount > 0 ? topicCount : nil
                changes.append(Change(topic: topic, member: member, isPresent: false))
            }
            if topics[topic]?.isEmpty == true { topics[topic] = nil }
        }
        return changes.sorted { ($0.topic, $0.member) < ($1.topic, $1.member) }
    }

    private mutating func join(_ topic: String, _ connection: String, _ member: String) -> Change? {
        if var entry = topics[topic]?[member] {
            entry.connections.insert(connection)
            entry.leaveTime = nil
            topics[topic]?[member] = entry
            return nil
        }
        guard count < maximumCount, topicCounts[member] ?? 0 < maximumTopicCount else { return nil }
        topics[topic, default: [:]][member] = Entry(connections: [connection])
        count += 1
        topicCounts[member, default: 0] += 1
        return Change(topic: topic, member: member, isPresent: true)
    }

    private mutating func leave(_ topic: String, _ connection: String, _ member: String, at now: Duration) {
        guard var entry = topics[topic]?[member] else { return }
        entry.connections.remove(connection)
        if entry.connections.isEmpty { entry.leaveTime = now + grace }
        topics[topic]?[member] = entry
    }
}
