import Foundation
import Runway
import RunwayFormats
import RunwayStreams

/// Decides about one conversation of a member: what the screen shows, what is fetched, and when a message is sent.
/// Pure: times are passed to it.
///
/// ``ChatWindow`` has the messages that are shown, ``ChatOutbox`` those that are on their way to the server,
/// ``ChatMarks`` how far the members are. What the window misses is fetched in pages. Nothing is sent before the stream
/// has caught up on its connection. A shell passes what comes, performs the returned actions, and calls ``tick(at:)``
/// at ``deadline``.
struct ChatMachine: Sendable {
    /// What the shell has to do.
    enum Action: Sendable, Hashable {
        /// Get a page of messages, and pass it or the failure. One at a time.
        case fetch(ChatRange)
        /// Send a message, and pass what became of it. One at a time, so that messages arrive in the order in which
        /// they were written.
        case send(ChatDraft)
        /// Move the mark of the member, and pass what became of it. One at a time.
        case mark(ChatMark)
    }

    /// How long no page is fetched after the server refused one. A replica that does not know yet that the member has
    /// joined refuses pages, too, and so does a server that receives a token from before a sign-in.
    static let refusalPause = Duration.seconds(60)

    /// Why a member may not follow a conversation whose topic the server refuses: it does not say more.
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
    /// Why the member may not follow the conversation: no call is made until the client follows it again. `nil` if the
    /// member may.
    private var exclusion: String?
    /// Why the server refuses the pages: the only call is for a page, after ``refusalPause``. `nil` if it does not.
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

    /// Why the server refuses the conversation, or its pages; `nil` if it does not.
    var refusal: String? { exclusion ?? pageRefusal }

    /// Whether the server refuses anything that it may allow after a sign-in.
    var hasRefusal: Bool { isRefused || marks.refusal != nil }

    /// When ``tick(at:)`` has to be called next; `nil` if nothing is due.
    var deadline: Duration? {
        var due = [outbox.proofDeadline]
        if isConnected, fetching == nil, wantedRange != nil { due.append(fetchPause.end) }
        if isLive { due += [outbox.sendDeadline, marks.deadline(window.last)] }
        return due.compactMap(\.self).min()
    }

    /// A time that ``deadline`` named has come.
    mutating func tick(at now: Duration) -> [Action] {
        if outbox.isProofDue(at: now) { window.needsPage = true }
        return next(at: now)
    }
}

// The stream.
extension ChatMachine {
    /// A connection of the stream began.
    mutating func connected(_ continuity: StreamContinuity, at now: Duration) -> [Action] {
        (isConnected, isCaughtUp) = (true, false)
        marks.connected()
        if continuity != .resumed { window.needsPage = true }
        return next(at: now)
    }

    /// The stream has brought all that was missed: what follows is new.
    mutating func caughtUp(at now: Duration) -> [Action] {
        guard exclusion == nil else { return [] }
        (isConnected, isCaughtUp) = (true, true)
        return next(at: now)
    }

    /// The stream brings the messages from now on: earlier ones may be missing.
    mutating func followed(at now: Duration) -> [Action] {
        window.needsPage = true
        return next(at: now)
    }

    /// The connection of the stream ended.
    mutating func disconnected() { (isConnected, isCaughtUp) = (false, false) }

    /// The server lets the member follow the conversation (`nil`), or not, for this reason. Pages that were refused are
    /// fetched without a pause.
    mutating func setExclusion(_ reason: String?) {
        if pageRefusal != nil { (pageRefusal, fetchPause) = (nil, .ofChat) }
        exclusion = reason
        if reason != nil { disconnected() }
    }

    /// The calls in flight were cancelled.
    mutating func stop() {
        disconnected()
        if fetching != nil || outbox.awaitsStored { window.needsPage = true }
        outbox.stop()
        marks.stop()
        (fetching, wantsOlder, fetchPause) = (nil, false, .ofChat)
    }

    /// A message came.
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

    /// The server has named the numbering of its messages. If it is another one than before, as after the restore of a
    /// backup, the same number may belong to another message: nothing that is shown is continued, and no mark holds.
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
    /// Asks for the messages before those that are shown.
    mutating func loadOlder(at now: Duration) -> [Action] {
        if case .before = fetching { return [] }
        wantsOlder = window.hasOlder
        return next(at: now)
    }

    /// A page came.
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

    /// Ends the pause if a page brought what was missing, and lengthens it if the same page would be fetched again at
    /// once.
    private mutating func noteProgress(_ page: ChatPage, _ range: ChatRange, from before: Int64?, at now: Duration) {
        switch range {
        case .latest:
            // Without the last messages it is not known yet whether the next page will bring them.
            if let last = window.last, page.last <= last { fetchPause.reset() }
        case .after:
            guard let last = window.last else {
                let isFirst = fetchPause.failures == 0
                fetchPause.fail(at: now, using: &random)
                // The screen has begun anew: the last messages are fetched at once, unless that did not help before.
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

    /// A page could not be fetched. The failure of one that the member asked for says nothing about the others.
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

// What the member does.
extension ChatMachine {
    /// Writes a message, which is shown at once.
    ///
    /// - Returns: `nil` if too many wait.
    mutating func write(_ draft: ChatDraft, at now: Duration) -> [Action]? {
        guard outbox.add(draft, upTo: ChatOptions.maximumDraftCount) else { return nil }
        return next(at: now)
    }

    /// The server has stored a message.
    mutating func sent(_ id: UUID, number: Int64, date: Date, at now: Duration) -> [Action] {
        guard outbox.endSending(id) else { return [] }
        let message = outbox.sent(
            id, number: number, date: date, after: window.last, at: now, proofTime: ChatOptions.proofTime)
        if let message { window.insert(message, &outbox) }
        return next(at: now)
    }

    /// A message could not be sent.
    mutating func sendFailed(_ id: UUID, _ failure: Failure, at now: Duration) -> [Action] {
        guard outbox.endSending(id) else { return [] }
        outbox.sendFailed(id, failure, at: now, &random)
        return next(at: now)
    }

    /// Sends a message again that was refused, or that the offline queue has. The server recognises one that it has.
    mutating func retry(_ id: UUID, at now: Duration) -> [Action] {
        outbox.retry(id) ? next(at: now) : []
    }

    /// Removes a message that has not been sent; returns `false` if it may have been.
    mutating func discard(_ id: UUID) -> Bool { outbox.discard(id) }

    /// The member has read all messages up to a number.
    mutating func read(upTo number: Int64, at now: Duration) -> [Action] {
        marks.read(upTo: min(number, window.last ?? 0))
        window.read(upTo: number)
        return next(at: now)
    }

    /// The server has moved the mark.
    mutating func marked(_ mark: ChatMark, at now: Duration) -> [Action] {
        marks.moved(mark, window.last, at: now, &random) ? next(at: now) : []
    }

    /// The mark could not be moved.
    mutating func markFailed(_ failure: Failure, at now: Duration) -> [Action] {
        marks.moveFailed(failure, at: now, &random) ? next(at: now) : []
    }
}

// What follows from the state.
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
    ///   - state: What was stored.
    ///   - isCurrent: Whether the stream continues at the cursor of the state. Otherwise missing messages are fetched.
    mutating func restore(_ state: ChatState, isCurrent: Bool) {
        epoch = state.epoch
        window.restore(state, isCurrent: isCurrent)
        outbox.restore(state.drafts)
        marks.restore(state.marks, readNumber: state.readNumber)
        presence = state.presence
    }

    /// What has to be stored.
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
