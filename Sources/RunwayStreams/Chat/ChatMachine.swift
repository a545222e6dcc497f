import Foundation
import Runway

/// Decides about one conversation of a member: what the screen shows, what is fetched, and when a message is sent. Pure: times are passed to it.
///
/// Messages are shown by their numbers, each once. A number that is missing is fetched in pages, and what follows it waits. Nothing is sent
/// before the stream has caught up on its connection. A shell passes what comes, performs the returned actions, and calls
/// ``tick(at:)`` at ``deadline``.
struct ChatMachine: Sendable {
    /// What the shell has to do.
    enum Action: Sendable, Hashable {
        /// Get a page of messages, and pass it or the failure. One at a time.
        case fetch(ChatPage.Range)
        /// Send a message, and pass what became of it. One at a time, so that messages arrive in the order in which they were written.
        case send(ChatDraft)
        /// Move the mark of the member, and pass what became of it. One at a time.
        case mark(ChatMark)
    }

    /// How long no page is fetched after the server refused one. A replica that does not know yet that the member has
    /// joined refuses pages, too, and so does a server that receives a token from before a sign-in.
    static let refusalPause = Duration.seconds(60)

    let member: String
    let options: ChatOptions
    var random: any RandomNumberGenerator & Sendable

    /// The messages that are shown, by ascending number.
    var messages: [ChatMessage] = []
    /// The number at which what is shown begins.
    var first: Int64 = 1
    /// The number up to which every message has come; `nil` before the first page.
    var last: Int64?
    /// The number of the first message that the server still has.
    var serverFirst: Int64 = 1
    /// Whether older messages were loaded, and the member has not read the last message since.
    var hasLoadedOlder = false
    /// Messages that came before others with smaller numbers.
    var early: [Int64: ChatMessage] = [:]
    /// What identifies the messages that are shown.
    var keys: Set<ChatMessage.Key> = []
    var drafts: [ChatDraft] = []
    var marks: [MemberName: ChatMark] = [:]
    var presence = ChatPresence()
    /// The number up to which the member has read.
    var readNumber: Int64 = 0
    /// How many messages came again.
    private(set) var duplicateCount = 0

    private(set) var isConnected = false
    /// Whether the stream has caught up.
    private(set) var isCaughtUp = false
    /// Whether the member may not follow the conversation: no call is made until the client follows it again.
    private var isExcluded = false
    /// Whether the server refuses the pages: the only call is for a page, after ``refusalPause``.
    private var arePagesRefused = false
    /// Whether the server refuses the mark of the member: none is sent until the next connection.
    private var areMarksRefused = false
    /// Whether messages may be missing, or the marks may have moved, without a word from the stream.
    var needsPage = false
    private(set) var fetching: ChatPage.Range?
    private var wantsOlder = false
    private var sending: UUID?
    private var marking: ChatMark?
    private var fetchPause = ChatPause()
    private var sendPause = ChatPause()
    private var markPause = ChatPause()
    /// When a message that the server stored, and the stream has not brought, is fetched.
    private var proofDeadline: Duration?

    init(
        member: String, options: ChatOptions = ChatOptions(),
        random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
    ) {
        (self.member, self.options, self.random) = (member, options, random)
    }

    /// Whether messages are sent.
    var isLive: Bool { isCaughtUp && !arePagesRefused }

    /// Whether the server refuses the conversation, or its pages.
    var isRefused: Bool { isExcluded || arePagesRefused }

    /// Whether the server refuses anything that it may allow after a sign-in.
    var hasRefusal: Bool { isRefused || areMarksRefused }

    /// When ``tick(at:)`` has to be called next; `nil` if nothing is due.
    var deadline: Duration? {
        var due = [proofDeadline].compactMap { $0 }
        if isConnected, fetching == nil, wantedRange != nil { due.append(fetchPause.end) }
        if isLive, sending == nil, drafts.contains(where: { $0.state == .waiting }) { due.append(sendPause.end) }
        if isLive, marking == nil, wantedMark != nil { due.append(markPause.end) }
        return due.min()
    }

    /// A time that ``deadline`` named has come.
    mutating func tick(at now: Duration) -> [Action] {
        if let proof = proofDeadline, now >= proof {
            proofDeadline = nil
            if awaitsStored { needsPage = true }
        }
        return next(at: now)
    }
}

// The stream.
extension ChatMachine {
    /// A connection of the stream began.
    mutating func connected(_ continuity: StreamContinuity, at now: Duration) -> [Action] {
        (isConnected, isCaughtUp, areMarksRefused) = (true, false, false)
        if continuity != .resumed { needsPage = true }
        return next(at: now)
    }

    /// The stream has brought all that was missed: what follows is new.
    mutating func caughtUp(at now: Duration) -> [Action] {
        guard !isExcluded else { return [] }
        (isConnected, isCaughtUp) = (true, true)
        return next(at: now)
    }

    /// The stream brings the messages from now on: earlier ones may be missing.
    mutating func followed(at now: Duration) -> [Action] {
        needsPage = true
        return next(at: now)
    }

    /// The connection of the stream ended.
    mutating func disconnected() { (isConnected, isCaughtUp) = (false, false) }

    /// The server lets the member follow the conversation, or not. Pages that were refused are fetched without a pause.
    mutating func setRefused(_ isRefused: Bool) {
        if arePagesRefused { (arePagesRefused, fetchPause) = (false, ChatPause()) }
        isExcluded = isRefused
        if isRefused { disconnected() }
    }

    /// The calls in flight were cancelled.
    mutating func stop() {
        disconnected()
        if fetching != nil { needsPage = true }
        for index in drafts.indices where drafts[index].state == .sending { drafts[index].state = .waiting }
        (fetching, wantsOlder, sending, marking, proofDeadline) = (nil, false, nil, nil, nil)
        (fetchPause, sendPause, markPause) = (ChatPause(), ChatPause(), ChatPause())
        if awaitsStored { needsPage = true }
    }

    mutating func received(_ message: ChatMessage, at now: Duration) -> [Action] {
        insert(message)
        return next(at: now)
    }

    mutating func received(_ mark: ChatMark, at now: Duration) -> [Action] {
        merge(mark)
        return next(at: now)
    }

    mutating func received(_ change: ChatPresence.Change) { presence.take(change, upTo: options.maximumMemberCount) }
}

// Pages.
extension ChatMachine {
    /// Asks for the messages before those that are shown.
    mutating func loadOlder(at now: Duration) -> [Action] {
        if case .before = fetching { return [] }
        wantsOlder = hasOlder
        return next(at: now)
    }

    /// A page came.
    mutating func fetched(_ page: ChatPage, at now: Duration) -> [Action] {
        guard let range = fetching else { return [] }
        (fetching, arePagesRefused) = (nil, false)
        let before = last
        take(page, range)
        noteProgress(page, range, from: before, at: now)
        return next(at: now)
    }

    /// Ends the pause if a page brought what was missing, and lengthens it if the same page would be fetched again at once.
    private mutating func noteProgress(_ page: ChatPage, _ range: ChatPage.Range, from before: Int64?, at now: Duration)
    {
        switch range {
        case .latest:
            // Without the last messages it is not known yet whether the next page will bring them.
            if let last, page.last <= last { fetchPause = ChatPause() }
        case .after:
            guard let last else {
                let isFirst = fetchPause.failures == 0
                fetchPause.fail(at: now, &random)
                // The screen has begun anew: the last messages are fetched at once, unless that did not help before.
                if isFirst { fetchPause.end = now }
                return
            }
            if last == before, page.last > last || !early.isEmpty {
                fetchPause.fail(at: now, &random)
            } else {
                fetchPause = ChatPause()
            }
        case .before: fetchPause = ChatPause()
        }
    }

    /// A page could not be fetched. The failure of one that the member asked for says nothing about the others.
    mutating func fetchFailed(_ failure: Failure, at now: Duration) -> [Action] {
        guard let range = fetching else { return [] }
        fetching = nil
        fetchPause.fail(at: now, &random)
        if case .before = range { return next(at: now) }
        needsPage = true
        if case .refused = failure {
            arePagesRefused = true
            fetchPause.end = now + Self.refusalPause
        }
        return next(at: now)
    }

    /// Shows what a page has beyond what is shown.
    private mutating func take(_ page: ChatPage, _ range: ChatPage.Range) {
        serverFirst = page.first
        for mark in page.marks { merge(mark) }
        if let found = page.presence { presence = found.limited(to: options.maximumMemberCount) }
        switch range {
        case .latest:
            guard last == nil else { return }
            begin(at: page.messages.first?.number ?? page.last + 1)
        case .after(let number):
            guard let last, page.last >= number else { return restart(afterLoss: last != nil) }
            // So much is missing that the screen begins anew; what is before it can be loaded as older messages.
            if page.last - last > Int64(options.maximumMissedCount) { return restart(afterLoss: false) }
            if page.first > last + 1 { begin(at: page.first) }
        case .before(let number):
            if number == first { prepend(page.messages) }
            return
        }
        for message in page.messages { insert(message) }
        if let last, page.last > last { needsPage = true }
    }
}

// What the member does.
extension ChatMachine {
    /// Writes a message, which is shown at once.
    ///
    /// - Returns: `nil` if too many wait.
    mutating func write(_ draft: ChatDraft, at now: Duration) -> [Action]? {
        guard drafts.count < options.maximumDraftCount else { return nil }
        drafts.append(draft)
        return next(at: now)
    }

    /// The server has stored a message.
    mutating func sent(_ id: UUID, number: Int64, date: Date, at now: Duration) -> [Action] {
        guard endSending(id) else { return [] }
        sendPause = ChatPause()
        guard let index = drafts.firstIndex(where: { $0.id == id }) else { return next(at: now) }
        if let last, number == last + 1 {
            insert(ChatMessage(number: number, sender: member, id: id, text: drafts[index].text, date: date))
        } else if let last, number <= last {
            drafts.remove(at: index)
        } else {
            drafts[index].state = .stored(number)
            proofDeadline = proofDeadline ?? (now + options.proofTime)
        }
        return next(at: now)
    }

    /// A message could not be sent.
    mutating func sendFailed(_ id: UUID, _ failure: Failure, at now: Duration) -> [Action] {
        guard endSending(id) else { return [] }
        if let index = drafts.firstIndex(where: { $0.id == id }) {
            switch failure {
            case .queued: drafts[index].state = .queued
            case .refused(let reason): drafts[index].state = .failed(reason)
            case .transient: drafts[index].state = .waiting
            }
        }
        if failure == .transient { sendPause.fail(at: now, &random) } else { sendPause = ChatPause() }
        return next(at: now)
    }

    /// Sends a message again that was refused, or that the offline queue has. The server recognises one that it has.
    mutating func retry(_ id: UUID, at now: Duration) -> [Action] {
        guard let index = drafts.firstIndex(where: { $0.id == id }) else { return [] }
        switch drafts[index].state {
        case .failed, .queued: drafts[index].state = .waiting
        case .waiting, .sending, .stored: break
        }
        return next(at: now)
    }

    /// Removes a message that has not been sent; returns `false` if it may have been.
    mutating func discard(_ id: UUID) -> Bool {
        guard let index = drafts.firstIndex(where: { $0.id == id }) else { return false }
        switch drafts[index].state {
        case .failed, .waiting: drafts.remove(at: index)
        case .sending, .queued, .stored: return false
        }
        return true
    }

    /// The member has read all messages up to a number.
    mutating func read(upTo number: Int64, at now: Duration) -> [Action] {
        readNumber = max(readNumber, min(number, last ?? 0))
        if number >= last ?? 0 { hasLoadedOlder = false }
        return next(at: now)
    }

    /// The server has moved the mark.
    mutating func marked(_ mark: ChatMark, at now: Duration) -> [Action] {
        guard marking != nil else { return [] }
        marking = nil
        merge(mark)
        // A server that does not move the mark is not asked at once again.
        if wantedMark == nil {
            markPause = ChatPause(end: now + options.markInterval)
        } else {
            markPause.fail(at: now, &random)
        }
        return next(at: now)
    }

    /// The mark could not be moved.
    mutating func markFailed(_ failure: Failure, at now: Duration) -> [Action] {
        guard marking != nil else { return [] }
        if case .refused = failure { areMarksRefused = true }
        marking = nil
        markPause.fail(at: now, &random)
        return next(at: now)
    }

    private mutating func endSending(_ id: UUID) -> Bool {
        guard sending == id else { return false }
        sending = nil
        return true
    }
}

// What follows from the state.
extension ChatMachine {
    /// Whether the server has stored a message of this member that has not come yet.
    private var awaitsStored: Bool {
        drafts.contains { if case .stored = $0.state { true } else { false } }
    }

    private var wantedRange: ChatPage.Range? {
        guard let last else { return .latest }
        if needsPage || !early.isEmpty { return .after(last) }
        return wantsOlder && hasOlder ? .before(first) : nil
    }

    private var wantedMark: ChatMark? {
        guard let last, !areMarksRefused else { return nil }
        let known = marks[MemberName(member)] ?? ChatMark(member: member, delivered: 0, read: 0)
        guard last > known.delivered || readNumber > known.read else { return nil }
        return ChatMark(
            member: member, delivered: max(last, known.delivered), read: max(readNumber, known.read))
    }

    private mutating func next(at now: Duration) -> [Action] {
        var actions: [Action] = []
        if isConnected, fetching == nil, now >= fetchPause.end, let range = wantedRange {
            fetching = range
            if case .before = range { wantsOlder = false } else { needsPage = false }
            actions.append(.fetch(range))
        }
        if isLive, sending == nil, now >= sendPause.end,
            let index = drafts.firstIndex(where: { $0.state == .waiting })
        {
            drafts[index].state = .sending
            sending = drafts[index].id
            actions.append(.send(drafts[index]))
        }
        if isLive, marking == nil, now >= markPause.end, let mark = wantedMark {
            marking = mark
            actions.append(.mark(mark))
        }
        return actions
    }

    /// The window was left: the screen begins anew with the last messages.
    ///
    /// - Parameter isLoss: Whether the server has lost messages, which may be such that it had stored of this member.
    private mutating func restart(afterLoss isLoss: Bool) {
        (messages, keys, early, last) = ([], [], [:], nil)
        // Messages that were queued may be among those that are passed over. The server recognises what it has when it is sent again.
        for index in drafts.indices {
            switch drafts[index].state {
            case .queued: drafts[index].state = .waiting
            case .stored: if isLoss { drafts[index].state = .waiting }
            case .waiting, .sending, .failed: break
            }
        }
    }

    mutating func noteDuplicate() { duplicateCount += 1 }
}
