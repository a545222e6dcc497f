import Foundation
public import Observation
import Runway
@_exported public import RunwayFormats  // users of this target name its types
import RunwayJSON
import RunwayStreams

/// One conversation, for the controller or the view that shows it.
///
/// ```swift
/// @MainActor final class ConversationController: ChatConversationDelegate {
///     lazy var conversation = chat.conversation("harbour-7", delegate: self)
///     func conversationDidChange(_ conversation: ChatConversation) { list.show(conversation.entries) }
///     func sendTapped() { _ = conversation.send(field.text) }
/// }
/// ```
///
/// Each message appears once, in the order of the numbers, even if connections and calls are lost. Messages of this
/// member appear at once, at the end, and are sent when the stream has caught up. The class is `Observable`, so that a
/// SwiftUI view can show the conversation.
@MainActor @Observable
public final class ChatConversation {
    /// The name of the conversation.
    public let id: String
    /// The name of the client's member.
    public let member: String
    /// The delegate that is notified of changes. It is held weakly.
    public weak var delegate: (any ChatConversationDelegate)?
    /// The entries to show: stored messages by number, then messages of this member that the server has not stored yet.
    public private(set) var entries: [ChatEntry] = []
    /// The marks up to which members have received and read messages, sorted by member name.
    public private(set) var marks: [ChatMark] = []
    /// The members who are present now, in alphabetical order; empty if the server publishes no presence.
    public private(set) var present: [String] = []
    /// Whether ``loadOlder()`` can load messages. It is `false` if there are no older messages, or if
    /// ``ChatOptions/maximumMessageCount`` plus 8,000 messages are shown.
    public private(set) var hasOlder = false
    /// The number of shown messages of other members that this member has not read.
    public private(set) var unreadCount = 0
    /// Whether messages are sent at once. It is `true` if the stream has caught up and the server does not refuse the
    /// pages of the conversation.
    public private(set) var isLive = false
    /// Whether the server refuses the conversation or its pages, or can't have a conversation with this name. The
    /// server refuses the conversation, for example, after the member was removed.
    ///
    /// While this property is `true`, messages of this member wait. Messages of other members arrive only over the
    /// stream, or not at all if the member may not follow the conversation. The client asks for the conversation again
    /// when the stream connects and after a sign-in. It asks for refused pages every minute, too.
    public private(set) var isRefused = false
    /// The reason why the conversation is refused, in one sentence; empty if ``isRefused`` is `false`.
    public private(set) var refusalReason = ""
    /// The reason why the server refuses the mark of this member, which states how far the member has received and
    /// read. It is one sentence; empty if the server does not refuse the mark. The server may have no room for the
    /// member, for example. The client sends the mark again when the stream connects and after a sign-in.
    public private(set) var markRefusalReason = ""

    @ObservationIgnored private(set) var machine: ChatMachine
    /// Whether the stored state of the conversation was read and passed to ``ChatMachine``.
    @ObservationIgnored private(set) var isReady = false
    /// Whether the server's rules allow the name of the conversation.
    @ObservationIgnored let isNameValid: Bool
    @ObservationIgnored private let clock: LayerClock
    @ObservationIgnored private let calls: any ChatCalls
    @ObservationIgnored private let onChange: @MainActor () -> Void
    @ObservationIgnored private lazy var timer = StreamTimer(clock) { [weak self] in
        Task { @MainActor [weak self] in self?.tick() }
    }
    @ObservationIgnored private var running: [ChatMachine.Action: StreamTask] = [:]

    init(
        _ id: String, member: String, _ options: ChatOptions, _ calls: any ChatCalls, clock: LayerClock,
        onChange: @escaping @MainActor () -> Void
    ) {
        (self.id, self.member, self.calls, self.clock) = (id, member, calls, clock)
        isNameValid = Self.isName(id)
        self.onChange = onChange
        machine = ChatMachine(member: member, options: options)
        machine.setExclusion(isNameValid ? nil : "A conversation has no such name.")
        (isRefused, refusalReason) = (machine.isRefused, machine.refusal ?? "")
    }

    /// Writes a message. It is shown at once. The client stores it until the server has stored it.
    ///
    /// - Parameter text: The text of the message.
    /// - Returns: The identifier of the entry; `nil` if the text is empty, 1,000 messages are waiting to be sent, or
    ///   the name of the conversation is invalid.
    @discardableResult
    public func send(_ text: String) -> ChatEntry.ID? {
        let draft = ChatDraft(id: UUID(), text: text, date: clock.date)
        guard isNameValid, !text.isEmpty, let actions = machine.write(draft, at: clock.now) else { return nil }
        perform(actions)
        return ChatEntry.ID(sender: member, message: draft.id)
    }

    /// Sends a message again after the server refused it, or while the offline queue has it.
    public func retry(_ entry: ChatEntry.ID) { perform(machine.retry(entry.message, at: clock.now)) }

    /// Removes a message that was not sent, or that the server refused.
    ///
    /// The message stays if a call with it timed out, and while the offline queue has it. If the server refused the
    /// message after an earlier call timed out, it is removed, and appears again if the server has it.
    ///
    /// - Returns: `true` if the server certainly does not have the message; `false` in the cases above.
    @discardableResult
    public func discard(_ entry: ChatEntry.ID) -> Bool {
        defer { perform([]) }
        return machine.discard(entry.message)
    }

    /// Loads messages that precede the shown ones, up to 8,000. The loaded messages stay until the member has read the
    /// last message; see ``markRead(upTo:)``.
    public func loadOlder() { perform(machine.loadOlder(at: clock.now)) }

    /// Marks the messages as read up to a number.
    ///
    /// - Parameter number: The number of the last read message. The default, `nil`, is the last message that is shown.
    public func markRead(upTo number: Int64? = nil) {
        perform(machine.read(upTo: number ?? machine.window.last ?? 0, at: clock.now))
    }
}

/// Receives the changes of conversations, on the main actor. One delegate may serve several conversations.
@MainActor
public protocol ChatConversationDelegate: AnyObject {
    /// Notifies the delegate that ``ChatConversation/entries`` or another property of the conversation has changed.
    func conversationDidChange(_ conversation: ChatConversation)
}

// The functions that `ChatClient` calls.
extension ChatConversation {
    /// Restores the state of an earlier run. Messages that were written since the client started are sent after the
    /// stored ones.
    func restore(_ state: ChatState?, isCurrent: Bool) {
        guard !isReady else { return }
        isReady = true
        if let state {
            machine.restore(state.isConsistent ? state : state.draftsAlone, isCurrent: isCurrent && state.isConsistent)
        }
        perform([])
    }

    /// Processes a stream element that concerns the conversation. Ignores a new connection if the member may not follow
    /// the conversation.
    func take(_ element: ChatElement) {
        let now = clock.now
        switch element {
        case .connected(let continuity): perform(machine.connected(continuity, at: now))
        case .followed: perform(machine.followed(at: now))
        case .caughtUp: perform(machine.caughtUp(at: now))
        case .disconnected:
            machine.disconnected()
            perform([])
        case .message(let message, let epoch): perform(machine.received(message, in: epoch, at: now))
        case .mark(let mark): perform(machine.received(mark, at: now))
        case .presence(let change):
            machine.received(change)
            perform([])
        }
    }

    /// Returns whether the server's rules allow a name: 1 to 64 letters, digits and `._-`.
    static func isName(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "._-".contains($0)) }
    }

    /// Stores the reason why the member may not follow the conversation; `nil` if the member may.
    func setExclusion(_ reason: String?) {
        machine.setExclusion(reason)
        perform([])
    }

    /// Cancels the calls and timers. The next start repeats calls that were in flight.
    func stop() {
        running = [:]
        machine.stop()
        perform([])
    }
}

/// A stream element that concerns one conversation.
enum ChatElement: Sendable {
    case connected(StreamContinuity), followed, caughtUp, disconnected
    case message(ChatMessage, epoch: String?)
    case mark(ChatMark)
    case presence(PresenceEvent)

    /// Decodes an event. Returns `nil` if the event has another type or is malformed.
    init?(_ event: StreamEvent) {
        let json = event.rawData.json
        let element: ChatElement? =
            switch event.type {
            case ChatMessage.eventType: ChatMessage(json).map { .message($0, epoch: json["epoch"].string) }
            case ChatMark.eventType: ChatMark(json).map { .mark($0) }
            case PresenceEvent.eventType: PresenceEvent(json).map { .presence($0) }
            default: nil
            }
        guard let element else { return nil }
        self = element
    }
}

extension ChatConversation {
    /// Performs the machine's actions, and updates the public properties.
    private func perform(_ actions: [ChatMachine.Action]) {
        for action in actions {
            running[action] = StreamTask(
                Task { [weak self, calls, id] in
                    let result = await Self.result(of: action, id, calls, upTo: self?.machine.options.pageCount ?? 1)
                    guard !Task.isCancelled, let self else { return }
                    running[action] = nil
                    perform(result(&machine, clock.now))
                })
        }
        timer.wait(for: machine.deadline)
        show()
    }

    private func tick() {
        timer.expire()
        perform(machine.tick(at: clock.now))
    }

    /// Makes a call, and returns a closure that passes its result to the machine.
    private static func result(
        of action: ChatMachine.Action, _ id: String, _ calls: any ChatCalls, upTo count: Int
    ) async -> (inout ChatMachine, Duration) -> [ChatMachine.Action] {
        do throws(NetworkError) {
            switch action {
            case .fetch(let range):
                let page = try await calls.page(id, range, upTo: count)
                return { $0.fetched(page, at: $1) }
            case .send(let draft):
                let message = try await calls.send(id, draft)
                return { $0.sent(draft.id, number: message.number, date: message.date, at: $1) }
            case .mark(let mark):
                let moved = try await calls.mark(id, mark)
                return { $0.marked(moved, at: $1) }
            }
        } catch {
            switch action {
            case .fetch: return { $0.fetchFailed(ChatMachine.Failure(ofPage: error), at: $1) }
            case .send(let draft): return { $0.sendFailed(draft.id, ChatMachine.Failure(error), at: $1) }
            case .mark: return { $0.markFailed(ChatMachine.Failure(error), at: $1) }
            }
        }
    }

    private func show() {
        onChange()
        let shown = machine.entries
        let marks = machine.marks.all.sorted { $0.key < $1.key }.map(\.value)
        let unread = machine.window.messages.count { $0.number > machine.marks.readNumber && !$0.isFrom(member) }
        let isNew =
            shown != entries || marks != self.marks || isLive != machine.isLive || isRefused != machine.isRefused
            || hasOlder != machine.window.hasOlder || refusalReason != machine.refusal ?? ""
            || markRefusalReason != machine.marks.refusal ?? ""
        let present = machine.presence.members.sorted().map(\.text)
        guard isNew || unread != unreadCount || present != self.present else { return }
        (entries, self.marks, unreadCount, self.present) = (shown, marks, unread, present)
        (isLive, isRefused, hasOlder) = (machine.isLive, machine.isRefused, machine.window.hasOlder)
        (refusalReason, markRefusalReason) = (machine.refusal ?? "", machine.marks.refusal ?? "")
        delegate?.conversationDidChange(self)
    }
}
