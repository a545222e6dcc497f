import RunwayFormats

/// The present members of a conversation, as one run of the server knows them.
struct ChatPresence: Sendable, Hashable, Codable {
    private(set) var members: Set<MemberName> = []
    private var run = ""

    init() {}

    /// Makes the presence of the one on a page.
    init(_ page: ChatPage.Presence) { (run, members) = (page.run, Set(page.members.map { MemberName($0) })) }

    /// Returns the first members by their names, at most `maximumCount`.
    func limited(to maximumCount: Int) -> ChatPresence {
        guard members.count > maximumCount else { return self }
        var limited = self
        limited.members = Set(members.sorted().prefix(maximumCount))
        return limited
    }

    /// Takes a change. A server that has started again does not know which members left before: all others are
    /// forgotten.
    mutating func take(_ change: PresenceEvent, upTo maximumCount: Int) {
        if change.run != run { (run, members) = (change.run, []) }
        if !change.isPresent {
            members.remove(MemberName(change.member))
        } else if members.count < maximumCount {
            members.insert(MemberName(change.member))
        }
    }

    /// Takes the changes of the same run again that arrived while this presence was fetched.
    mutating func take(_ changes: [PresenceEvent], upTo maximumCount: Int) {
        for change in changes where change.run == run { take(change, upTo: maximumCount) }
    }
}
