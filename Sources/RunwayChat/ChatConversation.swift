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
/// A message appears once, in the order of the numbers, even if connections and calls are lost. Messages of this member
/// appear at once, at the end, and are sent when the stream has caught up. The class is `Observable`, so that a SwiftUI
/// view can show it.
@MainActor @Observable
public final class ChatConversation {
    /// The name of the conversation.
    public let id: String
    /// The member of this client.
    public let member: String
    /// Notified of changes. Held weakly: the app holds a reference to it.
    public weak var delegate: (any ChatConversationDelegate)?
    /// The shown entries: stored messages by number, then messages of this member that the server has not stored yet.
    public private(set) var entries: [ChatEntry] = []
    /// The marks of the members, by their names.
    public private(set) var marks: [ChatMark] = []
    /// The members who are present now, in alphabetical order; empty if the server publishes no presence.
    public private(set) var present: [String] = []
    /// Whether ``loadOlder()`` loads messages: there are messages before the shown ones, and fewer are shown than
    /// ``ChatOptions/maximumMessageCount`` and 8,000 more.
    public private(set) var hasOlder = false
    /// The number of shown messages of other members that this member has not read.
    public private(set) var unreadCount = 0
    /// Whether the stream has caught up and no page is refused, so that messages are sent at once.
    public private(set) var isLive = false
    /// Whether the server does not let this member follow the conversation or refuses its pages, for example after the
    /// member was removed, or whether there can be no conversation of that name. Messages of this member wait. Messages
    /// of other members arrive only by the stream, and not at all if the member may not follow the conversation. The
    /// client asks for the conversation again with the next connection of the stream, and after a sign-in; for its
    /// pages also every minute.
    public private(set) var isRefused = false
    /// The reason why the conversation ``isRefused``, in one sentence; empty if it is not.
    public private(set) var refusalReason = ""
    /// The reason why the server refuses the mark of this member, in one sentence, for example because there is no room
    /// for the member; empty if it does not. The mark is sent again with the next connection of the stream, and after a
    /// sign-in.
    public private(set) var markRefusalReason = ""

    @ObservationIgnored private(set) var machine: ChatMachine
    /// Whether the machine has the state of an earlier run.
    @ObservationIgnored private(set) var isReady = false
    /// Whether a server can have a conversation of this name.
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

    /// Writes a message. It is shown at once, and stored with the state of the conversation until the server has it.
    ///
    /// - Parameter text: The text, which is not empty.
    /// - Returns: The identifier of the entry; `nil` if the text is empty, too many messages wait, or there can be no
    ///   conversation of that name.
    @discardableResult
    public func send(_ text: String) -> ChatEntry.ID? {
        let draft = ChatDraft(id: UUID(), text: text, date: clock.date)
        guard isNameValid, !text.isEmpty, let actions = machine.write(draft, at: clock.now) else { return nil }
        perform(actions)
        return ChatEntry.ID(sender: member, message: draft.id)
    }

    /// Sends a message again that was refused or is in the offline queue.
    public func retry(_ entry: ChatEntry.ID) { perform(machine.retry(entry.message, at: clock.now)) }

    /// Removes a message that was not sent, or that the server refused.
    ///
    /// - Returns: Whether the server certainly does not have the message. It is `false`, and the message stays, after a
    ///   call that timed out, and while the offline queue has the message. It is also `false` if the server refused the
    ///   message after such a call: the message is removed here, and shown again if the server has it.
    @discardableResult
    public func discard(_ entry: ChatEntry.ID) -> Bool {
        defer { perform([]) }
        return machine.discard(entry.message)
    }

    /// Loads messages before the shown ones, if there are any, up to 8,000. They stay until the member has read the
    /// last message, see ``markRead(upTo:)``.
    public func loadOlder() { perform(machine.loadOlder(at: clock.now)) }

    /// Records that the member has read the messages up to a number.
    ///
    /// - Parameter number: The number. The default, `nil`, is the number of the last message that is shown.
    public func markRead(upTo number: Int64? = nil) {
        perform(machine.read(upTo: number ?? machine.window.last ?? 0, at: clock.now))
    }
}

/// Notified of a conversation, on the main actor. One delegate may serve several conversations.
@MainActor
public protocol ChatConversationDelegate: AnyObject {
    /// Notifies the delegate that the shown entries or another property of the conversation have changed.
    func conversationDidChange(_ conversation: ChatConversation)
}

// Functions for the client of the conversation.
extension ChatConversation {
    /// Continues where an earlier run stopped. Messages that were written since then are sent after the stored ones.
    func restore(_ state: ChatState?, isCurrent: Bool) {
        guard !isReady else { return }
        isReady = true
        if let state {
            machine.restore(state.isConsistent ? state : state.draftsAlone, isCurrent: isCurrent && state.isConsistent)
        }
        perform([])
    }

    /// Takes an element of the stream that concerns the conversation. A conversation that the member may not follow has
    /// no part in the connection.
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

    /// Returns whether a text can name a conversation, by the rule of the server: 1 to 64 letters, digits and `._-`.
    static func isName(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "._-".contains($0)) }
    }

    /// Notes whether the server lets the member follow the conversation (`nil`), or the reason why it does not.
    func setExclusion(_ reason: String?) {
        machine.setExclusion(reason)
        perform([])
    }

    /// Ends the calls and the waits. Calls that were in flight are made again after the next start.
    func stop() {
        running = [:]
        machine.stop()
        perform([])
    }
}

/// An element that the stream brings to a conversation.
enum ChatElement: Sendable {
    case connected(StreamContinuity), followed, caughtUp, disconnected
    case message(ChatMessage, epoch: String?)
    case mark(ChatMark)
    case presence(PresenceEvent)

    /// Reads an event; `nil` if it has another type, or is malformed.
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
    /// Performs actions, and shows the changed state.
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

    /// Makes a call, and returns how the machine takes its result.
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
