import RunwayFormats

/// The members who are present in a conversation, as reported by one run of the server.
struct ChatPresence: Sendable, Hashable, Codable {
    private(set) var members: Set<MemberName> = []
    private var run = ""

    init() {}

    init(_ page: ChatPage.Presence) { (run, members) = (page.run, Set(page.members.map { MemberName($0) })) }

    /// Returns a copy with only the first `maximumCount` members, in the order of their names.
    func limited(to maximumCount: Int) -> ChatPresence {
        guard members.count > maximumCount else { return self }
        var limited = self
        limited.members = Set(members.sorted().prefix(maximumCount))
        return limited
    }

    /// Applies a change. If the server has restarted, all other members are removed, since it does not know which
    /// members left before the restart.
    mutating func take(_ change: PresenceEvent, upTo maximumCount: Int) {
        if change.run != run { (run, members) = (change.run, []) }
        if !change.isPresent {
            members.remove(MemberName(change.member))
        } else if members.count < maximumCount {
            members.insert(MemberName(change.member))
        }
    }

    /// Applies again the changes that arrived while this list of present members was fetched. Skips changes from
    /// another run of the server.
    mutating func take(_ changes: [PresenceEvent], upTo maximumCount: Int) {
        for change in changes where change.run == run { take(change, upTo: maximumCount) }
    }
}
