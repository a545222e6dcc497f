import Foundation
import Runway
import RunwayFormats
import RunwayStreams

/// Decides about one conversation of a member: the entries on the screen, the pages to fetch, and the moment at which a
/// message is sent. Pure: times are passed to it.
///
/// ``ChatWindow`` has the messages that are shown, ``ChatOutbox`` those that are on their way to the server, and
/// ``ChatMarks`` the marks of the members. Messages that the window misses are fetched in pages. Nothing is sent before
/// the stream has caught up on its connection. A shell passes the events and results to the machine, performs the
/// returned actions, and calls ``tick(at:)`` at ``deadline``.
struct ChatMachine: Sendable {
    /// An action for the shell.
    enum Action: Sendable, Hashable {
        /// Get a page of messages, and pass the page or the failure. One at a time.
        case fetch(ChatRange)
        /// Send a message, and pass the result. One at a time, so that messages arrive in the order in which they were
        /// written.
        case send(ChatDraft)
        /// Move the mark of the member, and pass the result. One at a time.
        case mark(ChatMark)
    }

    /// The time for which no page is fetched after the server refused one. A replica that does not know yet that the
    /// member has joined refuses pages, too, and so does a server that receives a token from before a sign-in.
    static let refusalPause = Duration.seconds(60)

    /// The reason that is shown if the server refuses the topic of a conversation, since the server states none.
    static let exclusion = "The server does not let this member follow the conversation."

    let member: String
    let options: ChatOptions
    private var random: any RandomNumberGenerator & Sendable

    private(set) var window: ChatWindow
    private(set) var outbox: ChatOutbox
    private(set) var marks: ChatMarks
    private(set) var presence = ChatPresence()

    /// The server's name for the numbering of the messages; `nil` if it named none.
    private var epoch: String?
    private(set) var isConnected = false
    /// Whether the stream has caught up.
    private(set) var isCaughtUp = false
    /// The reason why the member may not follow the conversation; `nil` if the member may. If there is a reason, no
    /// call is made until the client follows the conversation again.
    private var exclusion: String?
    /// The reason why the server refuses the pages; `nil` if it does not. If there is a reason, the only call is for a
    /// page, after ``refusalPause``.
    private var pageRefusal: String?
    private(set) var fetching: ChatRange?
    /// The last changes of presence since ``fetching`` began: the server may have read the page before them.
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

    /// Whether messages are sent.
    var isLive: Bool { isCaughtUp && pageRefusal == nil }

    /// Whether the server refuses the conversation, or its pages.
    var isRefused: Bool { refusal != nil }

    /// The reason why the server refuses the conversation, or its pages; `nil` if it does not.
    var refusal: String? { exclusion ?? pageRefusal }

    /// Whether the server refuses anything that it may allow after a sign-in.
    var hasRefusal: Bool { isRefused || marks.refusal != nil }

    /// The time at which ``tick(at:)`` has to be called next; `nil` if nothing is due.
    var deadline: Duration? {
        var due = [outbox.proofDeadline]
        if isConnected, fetching == nil, wantedRange != nil { due.append(fetchPause.end) }
        if isLive { due += [outbox.sendDeadline, marks.deadline(window.last)] }
        return due.compactMap(\.self).min()
    }

    /// Does what is due at the time that ``deadline`` named.
    mutating func tick(at now: Duration) -> [Action] {
        if outbox.isProofDue(at: now) { window.needsPage = true }
        return next(at: now)
    }
}

// The stream.
extension ChatMachine {
    /// Notes that a connection of the stream began.
    mutating func connected(_ continuity: StreamContinuity, at now: Duration) -> [Action] {
        (isConnected, isCaughtUp) = (true, false)
        marks.connected()
        if continuity != .resumed { window.needsPage = true }
        return next(at: now)
    }

    /// Notes that the stream has caught up: the next events are new.
    mutating func caughtUp(at now: Duration) -> [Action] {
        guard exclusion == nil else { return [] }
        (isConnected, isCaughtUp) = (true, true)
        return next(at: now)
    }

    /// Notes that the stream brings the messages from now on: earlier ones may be missing.
    mutating func followed(at now: Duration) -> [Action] {
        window.needsPage = true
        return next(at: now)
    }

    /// Notes that the connection of the stream ended.
    mutating func disconnected() { (isConnected, isCaughtUp) = (false, false) }

    /// Notes whether the server lets the member follow the conversation (`nil`), or the reason why it does not. Refused
    /// pages are fetched again without a pause.
    mutating func setExclusion(_ reason: String?) {
        if pageRefusal != nil { (pageRefusal, fetchPause) = (nil, .ofChat) }
        exclusion = reason
        if reason != nil { disconnected() }
    }

    /// Notes that the calls in flight were cancelled.
    mutating func stop() {
        disconnected()
        if fetching != nil || outbox.awaitsStored { window.needsPage = true }
        outbox.stop()
        marks.stop()
        (fetching, wantsOlder, fetchPause) = (nil, false, .ofChat)
    }

    /// Takes a message of the stream.
    ///
    /// - Parameter epoch: The server's name for the numbering of the messages; `nil` if it names none.
    mutating func received(_ message: ChatMessage, in epoch: String? = nil, at now: Duration) -> [Action] {
        enter(epoch)
        window.insert(ShownMessage(message), &outbox)
        return next(at: now)
    }

    mutating func received(_ mark: ChatMark, at now: Duration) -> [Action] {
        marks.merge(mark)
        return next(at: now)
    }

    /// Notes the server's name for the numbering of its messages. If it is another numbering than before, for example
    /// after the restore of a backup, the same number may belong to another message: the shown messages are not
    /// continued, and the marks are discarded.
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

// Pages.
extension ChatMachine {
    /// Asks for the messages before the shown ones.
    mutating func loadOlder(at now: Duration) -> [Action] {
        if case .before = fetching { return [] }
        wantsOlder = window.hasOlder
        return next(at: now)
    }

    /// Takes a page.
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

    /// Ends the pause if a page brought the missing messages, and lengthens it if the same page would be fetched again
    /// at once.
    private mutating func noteProgress(_ page: ChatPage, _ range: ChatRange, from before: Int64?, at now: Duration) {
        switch range {
        case .latest:
            // Without the last messages it is not known yet whether the next page will bring them.
            if let last = window.last, page.last <= last { fetchPause.reset() }
        case .after:
            guard let last = window.last else {
                let isFirst = fetchPause.failures == 0
                fetchPause.fail(at: now, using: &random)
                // The screen has begun anew: the last messages are fetched at once, unless that failed before.
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

    /// Notes that a page could not be fetched. The failure of a page of older messages, which the member asked for,
    /// says nothing about other pages.
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

// The actions of the member.
extension ChatMachine {
    /// Writes a message, which is shown at once.
    ///
    /// - Returns: The actions; `nil` if too many messages wait.
    mutating func write(_ draft: ChatDraft, at now: Duration) -> [Action]? {
        guard outbox.add(draft, upTo: ChatOptions.maximumDraftCount) else { return nil }
        return next(at: now)
    }

    /// Notes that the server has stored a message.
    mutating func sent(_ id: UUID, number: Int64, date: Date, at now: Duration) -> [Action] {
        guard outbox.endSending(id) else { return [] }
        let message = outbox.sent(
            id, number: number, date: date, after: window.last, at: now, proofTime: ChatOptions.proofTime)
        if let message { window.insert(message, &outbox) }
        return next(at: now)
    }

    /// Notes that a message could not be sent.
    mutating func sendFailed(_ id: UUID, _ failure: Failure, at now: Duration) -> [Action] {
        guard outbox.endSending(id) else { return [] }
        outbox.sendFailed(id, failure, at: now, &random)
        return next(at: now)
    }

    /// Sends a message again that was refused, or that the offline queue has. The server recognises a message that it
    /// has.
    mutating func retry(_ id: UUID, at now: Duration) -> [Action] {
        outbox.retry(id) ? next(at: now) : []
    }

    /// Removes a message that has not been sent; returns `false` if it may have been.
    mutating func discard(_ id: UUID) -> Bool { outbox.discard(id) }

    /// Notes that the member has read all messages up to a number.
    mutating func read(upTo number: Int64, at now: Duration) -> [Action] {
        marks.read(upTo: min(number, window.last ?? 0))
        window.read(upTo: number)
        return next(at: now)
    }

    /// Notes that the server has moved the mark.
    mutating func marked(_ mark: ChatMark, at now: Duration) -> [Action] {
        marks.moved(mark, window.last, at: now, &random) ? next(at: now) : []
    }

    /// Notes that the mark could not be moved.
    mutating func markFailed(_ failure: Failure, at now: Duration) -> [Action] {
        marks.moveFailed(failure, at: now, &random) ? next(at: now) : []
    }
}

// The actions that follow from the state.
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

// The state.
extension ChatMachine {
    /// Continues where an earlier run stopped. Messages that were written since then are sent after the stored ones.
    ///
    /// - Parameters:
    ///   - state: The stored state.
    ///   - isCurrent: Whether the stream continues at the cursor of the state. Otherwise missing messages are fetched.
    mutating func restore(_ state: ChatState, isCurrent: Bool) {
        epoch = state.epoch
        window.restore(state, isCurrent: isCurrent)
        outbox.restore(state.drafts)
        marks.restore(state.marks, readNumber: state.readNumber)
        presence = state.presence
    }

    /// Returns the state that has to be stored.
    ///
    /// - Parameter place: The cursor of the stream up to which the machine has received its events.
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
    /// Delays the calls of a conversation. A part is always waited: a call that fails at once would be made again at
    /// once.
    static let ofChat = Backoff(base: .seconds(1), longest: .seconds(32), certainPart: 0.25)
}
