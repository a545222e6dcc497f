import RunwayFormats

/// The shown messages of a conversation, and the range of missing messages. Shown messages have consecutive numbers.
///
/// A pure state machine. It shows each message once. If a message is missing, the messages after it are not shown until
/// it arrives.
struct ChatWindow: Sendable {
    private let options: ChatOptions

    private(set) var messages: [ShownMessage] = []
    private(set) var first: Int64 = 1
    /// The number up to which every message has arrived; `nil` before the first page.
    private(set) var last: Int64?
    /// Whether a page of messages has to be fetched, since the stream may have skipped messages or changes of the
    /// members' marks.
    var needsPage = false
    /// The number of the first message that the server still has.
    private var serverFirst: Int64 = 1
    /// Whether older messages were loaded, and the member has not read the last message since then.
    private var hasLoadedOlder = false
    /// The received messages that wait for messages with smaller numbers.
    private var early: [Int64: ShownMessage] = [:]
    private var keys: Set<ShownMessage.Key> = []

    init(_ options: ChatOptions) { self.options = options }

    /// Whether older messages exist, and fewer messages than the maximum are shown.
    var hasOlder: Bool { last != nil && first > serverFirst && messages.count < options.maximumLoadedCount }

    var hasEarly: Bool { !early.isEmpty }

    /// Returns the range of messages to fetch; `nil` if no message is missing.
    ///
    /// - Parameter wantsOlder: Whether the member asked for older messages.
    func missingRange(wantsOlder: Bool) -> ChatRange? {
        guard let last else { return .latest }
        if needsPage || hasEarly { return .after(last) }
        return wantsOlder && hasOlder ? .before(first) : nil
    }

    mutating func read(upTo number: Int64) {
        if number >= last ?? 0 { hasLoadedOlder = false }
    }
}

// The functions that process received messages. They notify `outbox`, which holds the messages to be sent, of every
// message that arrives or is skipped.
extension ChatWindow {
    /// Adds the messages of a page that are not shown yet.
    mutating func take(_ page: ChatPage, _ range: ChatRange, _ outbox: inout ChatOutbox) {
        serverFirst = page.first
        switch range {
        case .latest:
            guard last == nil else { return }
            begin(at: page.messages.first?.number ?? page.last + 1, &outbox)
        case .after(let number):
            guard let last, page.last >= number else { return restart(afterLoss: last != nil, &outbox) }
            // So many messages are missing that the screen starts again. The member can load the missing ones later.
            if page.last - last > Int64(options.maximumMissedCount) { return restart(afterLoss: false, &outbox) }
            if page.first > last + 1 { begin(at: page.first, &outbox) }
        case .before(let number):
            if last != nil, number == first { prepend(page.messages.map { ShownMessage($0) }, &outbox) }
            return
        }
        for message in page.messages { insert(ShownMessage(message), &outbox) }
        if let last, page.last > last { needsPage = true }
    }

    /// Shows a message if all messages before it are shown. Otherwise the message waits for them.
    mutating func insert(_ message: ShownMessage, _ outbox: inout ChatOutbox) {
        guard let last else { return store(early: message) }
        guard message.number > last else { return outbox.received(message) }
        guard message.number == last + 1 else { return store(early: message) }
        append(message, &outbox)
        appendEarly(&outbox)
    }

    /// Removes all shown messages. The next message to show is `number`.
    private mutating func begin(at number: Int64, _ outbox: inout ChatOutbox) {
        (messages, keys, hasLoadedOlder) = ([], [], false)
        (first, last) = (number, number - 1)
        early = early.filter { $0.key >= number }
        outbox.passedOver(before: number)
        appendEarly(&outbox)
    }

    /// Starts the screen again with the newest messages, since they do not follow the shown ones.
    ///
    /// - Parameter isLoss: Whether the server has lost messages.
    mutating func restart(afterLoss isLoss: Bool, _ outbox: inout ChatOutbox) {
        (messages, keys, early, last) = ([], [], [:], nil)
        outbox.restart(afterLoss: isLoss)
    }

    private mutating func prepend(_ older: [ShownMessage], _ outbox: inout ChatOutbox) {
        // Only consecutive messages are shown: a page may have gaps.
        var number = first
        var added: [ShownMessage] = []
        for message in older.reversed() {
            guard message.number == number - 1 else { break }
            number -= 1
            outbox.received(message)
            if keys.insert(message.key).inserted { added.append(message) }
        }
        messages.insert(contentsOf: added.reversed(), at: 0)
        if !added.isEmpty { hasLoadedOlder = true }
        if number == first { serverFirst = first }
        first = number
    }

    private mutating func append(_ message: ShownMessage, _ outbox: inout ChatOutbox) {
        last = message.number
        outbox.received(message)
        // A message that the server stored twice is shown once.
        guard keys.insert(message.key).inserted else { return }
        messages.append(message)
        // If too many messages are shown, the oldest tenth is removed at once, since each removal moves all other
        // elements. Older messages that were loaded stay while the member may be reading them.
        let maximumCount = hasLoadedOlder ? options.maximumLoadedCount : options.maximumMessageCount
        guard messages.count - maximumCount > maximumCount / 10 else { return }
        let removed = messages.prefix(messages.count - maximumCount)
        for message in removed { keys.remove(message.key) }
        messages.removeFirst(removed.count)
        first = messages.first?.number ?? first
    }

    /// Shows the messages that waited, up to the next gap.
    private mutating func appendEarly(_ outbox: inout ChatOutbox) {
        while let last, let next = early.removeValue(forKey: last + 1) { append(next, &outbox) }
    }

    private mutating func store(early message: ShownMessage) {
        if early[message.number] != nil { return }
        early[message.number] = message
        // Discards the message with the greatest number. A page that is requested later has to contain it again, since
        // a page in flight may be older than the message.
        if early.count > options.maximumEarlyCount, let greatest = early.keys.max() {
            early[greatest] = nil
            needsPage = true
        }
    }
}

extension ChatWindow {
    /// Restores the messages of an earlier run.
    ///
    /// - Parameters:
    ///   - state: The stored state.
    ///   - isCurrent: Whether the stream continues at the cursor of the state. If not, missing messages are fetched.
    mutating func restore(_ state: ChatState, isCurrent: Bool) {
        (messages, first, last, serverFirst) = (state.messages, state.first, state.last, state.serverFirst)
        keys = Set(messages.map(\.key))
        needsPage = state.needsPage || !isCurrent
    }

    /// Adds the shown messages to a state that will be stored. Messages that wait for a missing one are left out, since
    /// they are fetched together with it.
    func store(in state: inout ChatState) {
        state.messages = Array(messages.suffix(options.maximumStoredCount))
        state.first = state.messages.count < messages.count ? state.messages.first?.number ?? first : first
        (state.last, state.serverFirst) = (last, serverFirst)
        state.needsPage = needsPage || hasEarly
    }
}
