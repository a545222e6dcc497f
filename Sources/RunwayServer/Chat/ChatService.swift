public import Foundation
public import RunwayFormats
import RunwayJSON
public import ServiceLifecycle
import Synchronization

/// Stores the messages and marks of conversations, and publishes both to the clients that follow them.
///
/// ```swift
/// let hub = try await EventHub(name: "chat", log: SQLiteEventLog(file: events))
/// let chat = ChatService(store: try SQLiteChatStore(at: file), hub: hub)
///
/// ChatRoutes(chat) { request, context, conversation in
///     guard let account = context.account else { throw HTTPError(.unauthorized) }
///     guard account.conversations.contains(conversation) else { throw HTTPError(.notFound) }
///     return account.id
/// }.add(to: router)
/// ```
///
/// A message is stored before its sender receives a response. It is published afterwards, in the order of the message
/// numbers. ``run()`` publishes messages that were stored but not published, for example because a process was killed.
/// Clients may then receive an event twice, and recognise it by its number; no message is lost.
public final class ChatService: Sendable {
    private static let batchSize = 100

    /// The running publication of one conversation's messages. It ends when no message is left to publish.
    private struct Publication {
        /// Publishes the messages that are stored when the publication starts.
        var first: Task<Step, Never>
        /// Publishes the messages that are stored after the publication has started.
        var rest: Task<Void, Never>
        /// Whether messages may have been stored after the current step read the store.
        var isWoken = false
    }

    private struct Step {
        /// The number of the last message found; 0 if no message was found.
        var last: Int64 = 0
        /// Whether another step follows.
        var continues = false
    }

    let limits: ChatLimits
    private let store: any ChatStore
    private let hub: EventHub
    private let now: @Sendable () -> Date
    /// Guards the running publications.
    private let publishing = Mutex<[String: Publication]>([:])

    /// Creates a service that stores messages in `store` and publishes events to `hub`.
    ///
    /// - Parameters:
    ///   - store: Stores the conversations.
    ///   - hub: Sends the events to clients.
    ///   - limits: The limits; see ``ChatLimits`` for the defaults. The event of the longest text must fit in the hub's
    ///     largest event, which is 64 bytes less than 1 MiB.
    ///   - now: Returns the date that is stored with a message. The default is the system's clock.
    public init(
        store: any ChatStore, hub: EventHub, limits: ChatLimits = ChatLimits(),
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        // JSON may encode one byte as six bytes.
        precondition(
            6 * (limits.maximumTextByteCount + ChatLimits.maximumMemberByteCount) + 1024
                <= hub.options.maximumEventByteCount,
            "The event of a message of ChatLimits.maximumTextByteCount exceeds 1 MiB")
        (self.store, self.hub, self.limits, self.now) = (store, hub, limits, now)
    }

    /// Returns the topic by which clients follow a conversation.
    public static func topic(of conversation: String) -> String { "chat/\(conversation)" }

    /// Returns whether a text is a valid conversation name: 1 to 64 letters, digits and `._-`.
    public static func isConversation(_ text: some StringProtocol) -> Bool {
        !text.isEmpty && text.utf8.count <= 64
            && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "._-".contains($0)) }
    }

    /// Stores a message and publishes it.
    ///
    /// - Returns: The message with its number, or the message that the sender has already stored under the same id.
    /// - Throws: ``ChatProblem``, or the error of the store.
    public func send(_ submission: ChatSubmission) async throws -> (message: ChatMessage, isNew: Bool) {
        guard Self.isConversation(submission.conversation) else { throw ChatProblem(.conversation) }
        guard isMember(submission.sender) else { throw ChatProblem(.member) }
        guard !submission.text.isEmpty, !submission.text.utf8.contains(0) else { throw ChatProblem(.text) }
        guard submission.text.utf8.count <= limits.maximumTextByteCount else { throw ChatProblem(.tooLarge) }
        let time = Int64(now().timeIntervalSince1970 * 1000)
        switch try await store.append(submission, at: time, upToMembers: limits.maximumMemberCount) {
        case .stored(let message):
            await publish(submission.conversation)
            return (message, true)
        case .known(let message):
            await publish(submission.conversation)
            return (message, false)
        case .mismatch: throw ChatProblem(.mismatch)
        case .full: throw ChatProblem(.full)
        }
    }

    /// Moves the read mark of a member forward, and publishes the mark if it moved.
    ///
    /// - Throws: ``ChatProblem``, or the error of the store.
    public func mark(_ mark: ChatMark, in conversation: String) async throws -> ChatMark {
        guard Self.isConversation(conversation) else { throw ChatProblem(.conversation) }
        guard isMember(mark.member) else { throw ChatProblem(.member) }
        guard mark.delivered >= 0, mark.read >= 0 else { throw ChatProblem(.malformed, Self.invalidMark) }
        switch try await store.mark(mark, in: conversation, upToMembers: limits.maximumMemberCount) {
        case .moved(let mark):
            // If this event is lost, clients learn the mark from the member's next mark and from every page.
            let event = PublishedEvent(
                topic: Self.topic(of: conversation), type: ChatMark.eventType, json: mark.json(in: conversation))
            _ = try? await hub.publish(event)
            return mark
        case .unchanged(let mark): return mark
        case .full: throw ChatProblem(.full)
        }
    }

    static let invalidMark = "`delivered` and `read` are not both whole numbers from 0."

    /// Removes a member and the member's mark from a conversation, which makes space for another member. The member's
    /// messages stay, and so do the marks that clients have already received. Does nothing if `member` is not a member.
    ///
    /// Withdraw the member's permission first: if the server accepts a later message or mark, the member is added
    /// again.
    ///
    /// - Throws: ``ChatProblem``, or the error of the store.
    public func remove(member: String, from conversation: String) async throws {
        guard Self.isConversation(conversation) else { throw ChatProblem(.conversation) }
        guard isMember(member) else { throw ChatProblem(.member) }
        try await store.remove(member: member, from: conversation)
    }

    /// Returns messages of a conversation, and the marks of at most ``ChatLimits/maximumMemberCount`` members. If the
    /// texts would exceed 256 KiB, the page has fewer messages than `count`.
    ///
    /// - Throws: ``ChatProblem``, or the error of the store.
    public func page(of conversation: String, _ range: ChatRange, upTo count: Int) async throws -> ChatPage {
        guard Self.isConversation(conversation) else { throw ChatProblem(.conversation) }
        let page = try await store.page(
            of: conversation, range, upTo: max(1, min(count, ChatLimits.maximumPageCount)),
            upToMembers: limits.maximumMemberCount)
        return page.limited(toTextByteCount: limits.maximumPageByteCount, range)
    }

    func epoch() async throws -> String? { try await store.epoch() }

    /// Returns the present members of a conversation and ``EventHub/runID``. Returns `nil` if the hub publishes no
    /// presence, or its log cannot be read within 10 s.
    func present(in conversation: String) async -> ChatPage.Presence? {
        let topic = Self.topic(of: conversation)
        guard hub.publishesPresence,
            let members = try? await presentMembers(of: topic)
        else { return nil }
        return ChatPage.Presence(run: hub.runID, members: members)
    }

    /// Returns the present members, or `nil` if reading takes too long or the task is cancelled. It returns even if the
    /// log hangs.
    private func presentMembers(of topic: String) async throws -> [String]? {
        try await withThrowingTaskGroup(of: [String]?.self) { [hub, limits] group in
            defer { group.cancelAll() }
            group.addTask {
                try await withAbandonment { try await hub.present(in: topic, upTo: limits.maximumMemberCount) }
            }
            group.addTask {
                try await hub.clock.sleep(EventHubOptions.logTimeout)
                return nil
            }
            return try await group.next() ?? nil
        }
    }

    /// Publishes unpublished messages. Returns when no more messages are stored or publishing fails.
    public func publishAll() async {
        let publications = await unpublishedConversations().map { beginPublishing($0).publication }
        for publication in publications { await publication.rest.value }
    }

    private func unpublishedConversations() async -> [String] {
        (try? await store.unpublishedConversations(upTo: 1000)) ?? []
    }

    private func isMember(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= ChatLimits.maximumMemberByteCount && !text.utf8.contains(0)
    }

    /// Publishes the messages of a conversation in order. Only one task at a time does so, for all senders.
    ///
    /// The sender that starts the publication waits only for its own message, since other senders may send faster than
    /// messages are published.
    private func publish(_ conversation: String) async {
        let (isNew, publication) = beginPublishing(conversation)
        if isNew { _ = await publication.first.value }
    }

    /// Starts the publication of a conversation, or makes the running one read the store again.
    private func beginPublishing(_ conversation: String) -> (isNew: Bool, publication: Publication) {
        publishing.withLock { publishing in
            if var present = publishing[conversation] {
                present.isWoken = true
                publishing[conversation] = present
                return (false, present)
            }
            // The tasks are unstructured, since cancelling the first sender's request must not stop the publication of
            // other senders' messages.
            let first = Task { await publishNext(in: conversation, after: 0) }
            let rest = Task {
                var step = await first.value
                while step.continues { step = await publishNext(in: conversation, after: step.last) }
            }
            let publication = Publication(first: first, rest: rest)
            publishing[conversation] = publication
            return (true, publication)
        }
    }

    /// Publishes the next messages of a conversation. If this step is the last one, the next message starts a new
    /// publication.
    private func publishNext(in conversation: String, after number: Int64) async -> Step {
        let last = await publishBatch(of: conversation)
        return publishing.withLock { publishing in
            // Stops if the store returns the same messages again, to avoid an endless loop.
            var step = Step(last: last ?? number, continues: (last ?? 0) > number)
            if publishing[conversation]?.isWoken == true { step.continues = true }
            if step.continues { publishing[conversation]?.isWoken = false } else { publishing[conversation] = nil }
            return step
        }
    }

    /// Publishes the next messages of a conversation. Returns the number of the last message if more may follow;
    /// otherwise `nil`.
    private func publishBatch(of conversation: String) async -> Int64? {
        do {
            let messages = try await store.unpublished(in: conversation, upTo: Self.batchSize)
            guard let last = messages.last else { return nil }
            let epoch = try await store.epoch()
            for message in messages {
                let event = PublishedEvent(
                    topic: Self.topic(of: conversation), type: ChatMessage.eventType,
                    json: message.json(epoch: epoch))
                do { try await hub.publish(event) } catch let error as EventHubError where error == .invalidEvent {
                    // A retry would also fail and would block the later messages forever. Clients still get the message
                    // from pages.
                    continue
                }
            }
            try await store.setPublished(through: last.number, in: conversation)
            return messages.count == Self.batchSize ? last.number : nil
        } catch {
            // The messages stay unpublished in the store, where the next message or `run()` finds them.
            return nil
        }
    }
}

/// Runs as a service beside the application and the hub: `ServiceGroup(services: [chat, application, hub], logger:
/// logger)`.
extension ChatService: Service {
    /// Publishes unpublished messages now and every few seconds, until the task is cancelled or a graceful shutdown
    /// begins. Run it beside the server.
    public func run() async {
        await cancelWhenGracefulShutdown { [self] in
            while !Task.isCancelled {
                // Each conversation has its own task, so that neither a busy conversation nor a hanging log delays the
                // other conversations.
                for conversation in await unpublishedConversations() {
                    try? await withAbandonment { await self.publish(conversation) }
                }
                do { try await hub.clock.sleep(ChatLimits.sweepInterval) } catch { return }
            }
        }
    }
}
