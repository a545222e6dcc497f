import Foundation

// The messages that are shown, which have consecutive numbers.
extension ChatMachine {
    /// Whether there are messages before those that are shown, and room for them.
    var hasOlder: Bool { last != nil && first > serverFirst && messages.count < options.maximumLoadedCount }

    /// Shows a message if all before it are shown; otherwise it waits for them.
    mutating func insert(_ message: ChatMessage) {
        guard let last else { return store(early: message) }
        guard message.number > last else {
            if isOwn(message) { drafts.removeAll { $0.id == message.id } }
            return noteDuplicate()
        }
        guard message.number == last + 1 else { return store(early: message) }
        append(message)
        while let last = self.last, let next = early.removeValue(forKey: last + 1) { append(next) }
    }

    /// Begins what is shown at a number, without messages.
    mutating func begin(at number: Int64) {
        (messages, keys, hasLoadedOlder) = ([], [], false)
        (first, last) = (number, number - 1)
        early = early.filter { $0.key >= number }
        drafts.removeAll { if case .stored(let stored) = $0.state { stored < number } else { false } }
        while let last, let next = early.removeValue(forKey: last + 1) { append(next) }
    }

    /// Shows messages before the first.
    mutating func prepend(_ older: [ChatMessage]) {
        // A message of the page that is not consecutive is not shown.
        var number = first
        var added: [ChatMessage] = []
        for message in older.reversed() {
            guard message.number == number - 1 else { break }
            number -= 1
            if isOwn(message) { drafts.removeAll { $0.id == message.id } }
            if keys.insert(message.key).inserted { added.append(message) }
        }
        messages.insert(contentsOf: added.reversed(), at: 0)
        if !added.isEmpty { hasLoadedOlder = true }
        if number == first { serverFirst = first }
        first = number
    }

    mutating func merge(_ mark: ChatMark) {
        let name = MemberName(mark.member)
        let old = marks[name]
        guard old != nil || marks.count < options.maximumMemberCount || name == MemberName(member) else { return }
        marks[name] = ChatMark(
            member: mark.member, delivered: max(old?.delivered ?? 0, mark.delivered),
            read: max(old?.read ?? 0, mark.read))
        // Another device of the member may have read more.
        if name == MemberName(member) { readNumber = max(readNumber, mark.read) }
    }

    /// Whether this member has sent a message.
    func isOwn(_ message: ChatMessage) -> Bool { MemberName(message.sender) == MemberName(member) }

    private mutating func append(_ message: ChatMessage) {
        last = message.number
        if isOwn(message) { drafts.removeAll { $0.id == message.id } }
        // A server that stored a message twice does not make it appear twice.
        guard keys.insert(message.key).inserted else { return noteDuplicate() }
        messages.append(message)
        // The oldest are removed a tenth at a time, since removing moves the others. The member may be reading what was loaded.
        let maximumCount = hasLoadedOlder ? options.maximumLoadedCount : options.maximumMessageCount
        guard messages.count - maximumCount > maximumCount / 10 else { return }
        let removed = messages.prefix(messages.count - maximumCount)
        for message in removed { keys.remove(message.key) }
        messages.removeFirst(removed.count)
        first = messages.first?.number ?? first
    }

    private mutating func store(early message: ChatMessage) {
        if early[message.number] != nil { return noteDuplicate() }
        early[message.number] = message
        // Those with the greatest numbers are fetched again: a page that is in flight may have been made before they were stored.
        if early.count > options.maximumEarlyCount, let greatest = early.keys.max() {
            early[greatest] = nil
            needsPage = true
        }
    }
}

/// The bounds of a conversation on a client.
public struct ChatOptions: Sendable, Hashable {
    /// The most messages that are shown; the oldest beyond that are removed from memory, and can be loaded again. The default is 2,000.
    public var maximumMessageCount = 2000
    /// The most messages beyond ``maximumMessageCount`` that are shown after ``ChatConversation/loadOlder()``, until the member has read
    /// the last message. The default is 8,000.
    public var maximumOlderCount = 8000
    /// The most messages that are stored between two starts of the app. The default is 200.
    public var maximumStoredCount = 200
    /// The most messages of a page. The default is 100; the server may return fewer.
    public var pageCount = 100
    /// The most messages that are fetched after an interruption. If more are missing, the screen begins anew with the last ones, and those
    /// before them can be loaded as older messages. The default is 1,000.
    public var maximumMissedCount = 1000
    /// The most messages that wait because others before them are missing. The default is 500; further ones are fetched.
    public var maximumEarlyCount = 500
    /// The most messages that wait to be sent. The default is 1,000.
    public var maximumDraftCount = 1000
    /// The most members whose marks are known. The default is 1,000.
    public var maximumMemberCount = 1000
    /// The shortest time between two calls that move the mark of this member. The default is 1 s.
    public var markInterval = Duration.seconds(1)
    /// How long a message that the server has stored may take to come by the stream before it is fetched. The default is 5 s.
    public var proofTime = Duration.seconds(5)
    /// How long messages in the offline queue wait for the stream to catch up, at most, counted from when they could be sent. The default is
    /// 10 s. Other changes of the account in the same queue wait, too.
    public var maximumQueueDelay = Duration.seconds(10)

    /// Creates options with their defaults.
    public init() {}

    /// The most messages that are shown after older ones were loaded.
    var maximumLoadedCount: Int {
        let (count, overflows) = maximumMessageCount.addingReportingOverflow(maximumOlderCount)
        return overflows ? .max : count
    }
}
