import Foundation
import Runway
import RunwayFormats
import RunwayStreams

/// Decides about one conversation of a member: which entries are shown, which pages are fetched, and when a message is
/// sent. A pure state machine: callers pass the time.
///
/// ``ChatWindow`` holds the shown messages, ``ChatOutbox`` the messages to be sent, and ``ChatMarks`` the members'
/// marks. The machine fetches missing messages in pages. It sends nothing before the stream has caught up.
///
/// The caller passes in events and results, performs the returned actions, and calls ``tick(at:)`` at ``deadline``.
struct ChatMachine: Sendable {
    enum Action: Sendable, Hashable {
        /// Get a page of messages, and pass the page or the failure to the machine. Only one fetch is in flight at a
        /// time.
        case fetch(ChatRange)
        /// Send a message, and pass the result to the machine. Only one message is in flight at a time, so that
        /// messages arrive in the order in which they were written.
        case send(ChatDraft)
        /// Move the member's mark, which states how far the member has received and read, and pass the result to the
        /// machine. Only one such call is in flight at a time.
        case mark(ChatMark)
    }

    /// The pause after the server refused a page. The refusal may be temporary: a replica may not know yet that the
    /// member joined, or the token may be older than a sign-in.
    static let refusalPause = Duration.seconds(60)

    /// The reason shown if the server refuses the topic of a conversation: a refused topic comes without a reason.
    static let exclusion = "The server does not let this member follow the conversation."

    let member: String
    let options: ChatOptions
    private var random: any RandomNumberGenerator & Sendable

    private(set) var window: ChatWindow
    private(set) var outbox: ChatOutbox
    private(set) var marks: ChatMarks
    private(set) var presence = ChatPresence()

    /// The id of the server's message numbering; `nil` if the server has sent none.
    private var epoch: String?
    private(set) var isConnected = false
    private(set) var isCaughtUp = false
    /// The reason why the member may not follow the conversation; `nil` if the member may. While it is set, no call is
    /// made.
    private var exclusion: String?
    /// The reason why the server refuses the pages; `nil` if it does not. While it is set, the machine only fetches a
    /// page after each ``refusalPause``.
    private var pageRefusal: String?
    private(set) var fetching: ChatRange?
    /// The presence changes since ``fetching`` began. The fetched page may be older than these changes.
    private var presenceChanges: [PresenceEvent] = []
    private var wantsOlder = false
    private var fetchPause: Backoff = .ofChat

    init(
        member: String, options: ChatOptions = ChatOptions(),
        random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
    ) {
        (self.member, self.options, self.random) = (member, options, random)
        (window, outbox, marks) = (ChatWindow(options), ChatOutbox(of: member), ChatMarks(of: member, options))
    }

    var isLive: Bool { isCaughtUp && pageRefusal == nil }

    var isRefused: Bool { refusal != nil }

    /// The reason why the server refuses the conversation or its pages; `nil` if it refuses neither.
    var refusal: String? { exclusion ?? pageRefusal }

    /// Whether the server refuses the conversation, a page or the member's mark. It may allow them after a sign-in.
    var hasRefusal: Bool { isRefused || marks.refusal != nil }

    /// The time at which ``tick(at:)`` has to be called; `nil` if nothing is scheduled.
    var deadline: Duration? {
        var due = [outbox.proofDeadline]
        if isConnected, fetching == nil, wantedRange != nil { due.append(fetchPause.end) }
        if isLive { due += [outbox.sendDeadline, marks.deadline(window.last)] }
        return due.compactMap(\.self).min()
    }

    /// Returns the actions that are due now.
    mutating func tick(at now: Duration) -> [Action] {
        if outbox.isProofDue(at: now) { window.needsPage = true }
        return next(at: now)
    }
}

extension ChatMachine {
    /// Processes a new connection of the stream.
    mutating func connected(_ continuity: StreamContinuity, at now: Duration) -> [Action] {
        (isConnected, isCaughtUp) = (true, false)
        marks.connected()
        if continuity != .resumed { window.needsPage = true }
        return next(at: now)
    }

    /// Records that the stream has caught up: all further events are new.
    mutating func caughtUp(at now: Duration) -> [Action] {
        guard exclusion == nil else { return [] }
        (isConnected, isCaughtUp) = (true, true)
        return next(at: now)
    }

    /// Records that the stream delivers this conversation's messages from now on. Earlier ones may be missing.
    mutating func followed(at now: Duration) -> [Action] {
        window.needsPage = true
        return next(at: now)
    }

    mutating func disconnected() { (isConnected, isCaughtUp) = (false, false) }

    /// Stores the reason why the member may not follow the conversation; `nil` if the member may. Refused pages are
    /// fetched again without a pause.
    mutating func setExclusion(_ reason: String?) {
        if pageRefusal != nil { (pageRefusal, fetchPause) = (nil, .ofChat) }
        exclusion = reason
        if reason != nil { disconnected() }
    }

    /// Records that the caller cancelled all calls in flight.
    mutating func stop() {
        disconnected()
        if fetching != nil || outbox.awaitsStored { window.needsPage = true }
        outbox.stop()
        marks.stop()
        (fetching, wantsOlder, fetchPause) = (nil, false, .ofChat)
    }

    /// Processes a message from the stream.
    ///
    /// - Parameter epoch: The id of the server's message numbering; `nil` if the server sends none.
    mutating func received(_ message: ChatMessage, in epoch: String? = nil, at now: Duration) -> [Action] {
        enter(epoch)
        window.insert(ShownMessage(message), &outbox)
        return next(at: now)
    }

    mutating func received(_ mark: ChatMark, at now: Duration) -> [Action] {
        marks.merge(mark)
        return next(at: now)
    }

    /// Compares the id of the server's message numbering with the stored one. After the restore of a backup, for
    /// example, the numbering is new, and the same number may belong to another message. If the ids differ, the screen
    /// starts again, and the marks are discarded.
    private mutating func enter(_ epoch: String?) {
        guard let epoch, epoch != self.epoch else { return }
        let isOther = self.epoch != nil
        self.epoch = epoch
        guard isOther else { return }
        window.restart(afterLoss: true, &outbox)
        marks.restart()
    }

    mutating func received(_ change: PresenceEvent) {
        presence.take(change, upTo: options.maximumMemberCount)
        guard fetching != nil else { return }
        presenceChanges.append(change)
        if presenceChanges.count > options.maximumMemberCount { presenceChanges.removeFirst() }
    }
}

extension ChatMachine {
    mutating func loadOlder(at now: Duration) -> [Action] {
        if case .before = fetching { return [] }
        wantsOlder = window.hasOlder
        return next(at: now)
    }

    mutating func fetched(_ page: ChatPage, at now: Duration) -> [Action] {
        guard let range = fetching else { return [] }
        (fetching, pageRefusal) = (nil, nil)
        enter(page.epoch)
        let before = window.last
        for mark in page.marks { marks.merge(mark) }
        if let found = page.presence {
            presence = ChatPresence(found).limited(to: options.maximumMemberCount)
            presence.take(presenceChanges, upTo: options.maximumMemberCount)
        }
        window.take(page, range, &outbox)
        noteProgress(page, range, from: before, at: now)
        return next(at: now)
    }

    /// Ends the pause between fetches if a page contained the missing messages. Lengthens the pause if the next fetch
    /// would return the same page.
    private mutating func noteProgress(_ page: ChatPage, _ range: ChatRange, from before: Int64?, at now: Duration) {
        switch range {
        case .latest:
            // As long as no message is shown, it is unknown whether the next page contains the missing ones.
            if let last = window.last, page.last <= last { fetchPause.reset() }
        case .after:
            guard let last = window.last else {
                let isFirst = fetchPause.failures == 0
                fetchPause.fail(at: now, using: &random)
                // After the screen has started again, the newest messages are fetched at once. Only a repeated attempt
                // waits.
                if isFirst { fetchPause.end = now }
                return
            }
            if last == before, page.last > last || window.hasEarly {
                fetchPause.fail(at: now, using: &random)
            } else {
                fetchPause.reset()
            }
        case .before: fetchPause.reset()
        }
    }

    /// Processes the failure of a fetch. The failure of a page of older messages does not delay other pages.
    mutating func fetchFailed(_ failure: Failure, at now: Duration) -> [Action] {
        guard let range = fetching else { return [] }
        fetching = nil
        fetchPause.fail(at: now, using: &random)
        if case .before = range { return next(at: now) }
        window.needsPage = true
        if case .refused(let reason) = failure {
            pageRefusal = reason
            fetchPause.end = now + Self.refusalPause
        }
        return next(at: now)
    }
}

extension ChatMachine {
    /// Adds a message of the member, and shows it at once.
    ///
    /// - Returns: The actions; `nil` if too many messages are waiting.
    mutating func write(_ draft: ChatDraft, at now: Duration) -> [Action]? {
        guard outbox.add(draft, upTo: ChatOptions.maximumDraftCount) else { return nil }
        return next(at: now)
    }

    mutating func sent(_ id: UUID, number: Int64, date: Date, at now: Duration) -> [Action] {
        guard outbox.endSending(id) else { return [] }
        let message = outbox.sent(
            id, number: number, date: date, after: window.last, at: now, proofTime: ChatOptions.proofTime)
        if let message { window.insert(message, &outbox) }
        return next(at: now)
    }

    mutating func sendFailed(_ id: UUID, _ failure: Failure, at now: Duration) -> [Action] {
        guard outbox.endSending(id) else { return [] }
        outbox.sendFailed(id, failure, at: now, &random)
        return next(at: now)
    }

    /// Sends a refused message again, or a message that the offline queue has. The server recognises a message that it
    /// has stored already.
    mutating func retry(_ id: UUID, at now: Duration) -> [Action] {
        outbox.retry(id) ? next(at: now) : []
    }

    /// Removes a message that was not sent; returns `false` if it may have been sent.
    mutating func discard(_ id: UUID) -> Bool { outbox.discard(id) }

    mutating func read(upTo number: Int64, at now: Duration) -> [Action] {
        marks.read(upTo: min(number, window.last ?? 0))
        window.read(upTo: number)
        return next(at: now)
    }

    mutating func marked(_ mark: ChatMark, at now: Duration) -> [Action] {
        marks.moved(mark, window.last, at: now, &random) ? next(at: now) : []
    }

    mutating func markFailed(_ failure: Failure, at now: Duration) -> [Action] {
        marks.moveFailed(failure, at: now, &random) ? next(at: now) : []
    }
}

extension ChatMachine {
    private var wantedRange: ChatRange? { window.missingRange(wantsOlder: wantsOlder) }

    private mutating func next(at now: Duration) -> [Action] {
        var actions: [Action] = []
        if isConnected, fetching == nil, now >= fetchPause.end, let range = wantedRange {
            (fetching, presenceChanges) = (range, [])
            if case .before = range { wantsOlder = false } else { window.needsPage = false }
            actions.append(.fetch(range))
        }
        if isLive, let draft = outbox.next(at: now) { actions.append(.send(draft)) }
        if isLive, let mark = marks.next(window.last, at: now) { actions.append(.mark(mark)) }
        return actions
    }
}

extension ChatMachine {
    /// Restores the state of an earlier run. Messages that were written since the client started are sent after the
    /// stored ones.
    ///
    /// - Parameters:
    ///   - state: The stored state.
    ///   - isCurrent: Whether the stream continues at the cursor of the state. If not, the machine fetches the missing
    ///     messages.
    mutating func restore(_ state: ChatState, isCurrent: Bool) {
        epoch = state.epoch
        window.restore(state, isCurrent: isCurrent)
        outbox.restore(state.drafts)
        marks.restore(state.marks, readNumber: state.readNumber)
        presence = state.presence
    }

    /// Returns the state to store.
    ///
    /// - Parameter place: The stream cursor of the last event that the machine has received.
    func state(at place: String) -> ChatState {
        var state = ChatState()
        window.store(in: &state)
        state.drafts = outbox.drafts
        state.marks = marks.all.values.sorted { MemberName($0.member) < MemberName($1.member) }
        (state.readNumber, state.presence) = (marks.readNumber, presence)
        if fetching != nil { state.needsPage = true }
        (state.epoch, state.place) = (epoch, place)
        return state
    }
}

extension Backoff {
    /// The backoff of a conversation's calls. A quarter of each delay is not random, so that a call that fails at once
    /// is not repeated at once.
    static let ofChat = Backoff(base: .seconds(1), longest: .seconds(32), certainPart: 0.25)
}
