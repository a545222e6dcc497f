import RunwayJSON

/// The present members of a conversation, as one run of the server knows them.
struct ChatPresence: Sendable, Hashable, Codable {
    /// A member has come, or left.
    struct Change: Sendable, Hashable {
        var member: String
        var isPresent: Bool
        /// Identifies the run of the server.
        var run: String

        /// Reads an event; `nil` if it is malformed.
        init?(_ json: JSONValue) {
            guard let member = json["member"].string, let isPresent = json["isPresent"].bool,
                let run = json["run"].string
            else { return nil }
            (self.member, self.isPresent, self.run) = (member, isPresent, run)
        }
    }

    private(set) var members: Set<MemberName> = []
    private var run = ""

    init() {}

    /// Reads the presence of a page; `nil` if it has none.
    init?(page json: JSONValue) {
        guard let run = json["run"].string, json["present"].kind == .array else { return nil }
        self.run = run
        members = Set(json["present"].elements.compactMap { $0.string.map { MemberName($0) } })
    }

    /// Returns at most so many members, the first ones by their names.
    func limited(to maximumCount: Int) -> ChatPresence {
        guard members.count > maximumCount else { return self }
        var limited = self
        limited.members = Set(members.sorted().prefix(maximumCount))
        return limited
    }

    /// Takes a change. A server that has started again does not know who left before: all others are forgotten.
    mutating func take(_ change: Change, upTo maximumCount: Int) {
        if change.run != run { (run, members) = (change.run, []) }
        if !change.isPresent {
            members.remove(MemberName(change.member))
        } else if members.count < maximumCount {
            members.insert(MemberName(change.member))
        }
    }

    /// Takes the changes of the same run again, which came while this presence was fetched.
    mutating func take(_ changes: [Change], upTo maximumCount: Int) {
        for change in changes where change.run == run { take(change, upTo: maximumCount) }
    }
}
