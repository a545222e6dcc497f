public import Observation
public import Runway
public import RunwayStreams

/// Follows the stream of events of a member's conversations, and stores the states of the conversations.
///
/// ```swift
/// let chat = ChatClient(
///     member: account.id, on: network, stream: ChatEvents(), store: FileChatStateStore(folder: folder),
///     cursors: cursors)
/// let conversation = chat.conversation("harbour-7")
/// chat.start()
/// ```
///
/// The server is `ChatService` of `RunwayServer`. The position in the stream is stored after the states of the
/// conversations. If the app is killed in between, it receives the events again whose effects were not stored. A call
/// that was in flight at a stop is made again after the next start.
///
/// A client is for one account. If that account signs out, or another one signs in, the client ends and makes no
/// further call. To remove the stored conversations at the sign-out, call ``stop()``, await ``flush()``, and then
/// remove the folder.
@MainActor @Observable
public final class ChatClient<Stream: EventStreamEndpoint> {
    /// The name of the member at the server.
    public let member: String
    /// The layer over which the client opens its stream and makes its calls.
    public let network: NetworkLayer
    /// The state of the event stream.
    public private(set) var state = StreamState.idle
    /// The error with which the stream ended; `nil` if the stream has not ended, or ended without an error.
    public private(set) var error: NetworkError?
    /// The error with which storing the conversations failed; `nil` if they are stored. The client tries again at the
    /// next change.
    public private(set) var storageError: (any Error)?

    @ObservationIgnored private let endpoint: Stream
    @ObservationIgnored private let options: ChatOptions
    @ObservationIgnored private let streamOptions: StreamOptions
    @ObservationIgnored private let store: any ChatStateStore
    @ObservationIgnored private let cursors: any StreamCursorStore
    @ObservationIgnored private let key: String
    @ObservationIgnored private let calls: NetworkChatCalls<Stream.Service>
    @ObservationIgnored private var conversations: [String: ChatConversation] = [:]
    @ObservationIgnored private var events: EventSequence?
    @ObservationIgnored private var reading: StreamTask?
    @ObservationIgnored private var watching: StreamTask?
    @ObservationIgnored private var startCount = 0
    /// Whether the client is paused. The client stores this itself, since its event sequence may not exist yet.
    @ObservationIgnored private var isPaused = false
    /// The stream position of the last event that was processed since the start; `nil` before the first event.
    @ObservationIgnored private var taken: StreamCursor?
    @ObservationIgnored private var stored: [String: ChatState] = [:]
    /// The states of conversations that the client has left, until they are stored.
    @ObservationIgnored private var left: [String: ChatState] = [:]
    /// The tasks that unsubscribe from the topics of conversations that the client has left.
    @ObservationIgnored private var leaving: [String: Task<Void, Never>] = [:]
    @ObservationIgnored private var storedCursor: StreamCursor?
    /// The names of the conversations whose states may have changed since they were stored.
    @ObservationIgnored private var changed: Set<String> = []
    @ObservationIgnored private var writing: Task<Void, Never>?
    @ObservationIgnored private let delay: ChatQueueDelay<Stream.Service>

    /// Creates a client. Call ``start()`` to open its stream.
    ///
    /// - Parameters:
    ///   - member: The name of the member at the server.
    ///   - network: The layer over which the client opens its stream and makes its calls.
    ///   - stream: The stream of the service. If it names topics, the client adds the topics of its conversations.
    ///   - path: The path of the server's chat routes, relative to the service's base URL. The default is `chat`.
    ///   - options: The limits of a conversation; see ``ChatOptions`` for the defaults.
    ///   - streamOptions: The rules by which the stream reconnects; see `StreamOptions` for the defaults.
    ///   - store: Stores the conversations. The default, `nil`, stores them as long as the client exists.
    ///   - cursors: Stores the position in the stream. The default, `nil`, stores it as long as the client exists.
    ///   - key: The key under which `cursors` stores the position. The default is made from `chat` and the member.
    public init(
        member: String, on network: NetworkLayer, stream: Stream, path: EndpointPath = "chat",
        options: ChatOptions = ChatOptions(), streamOptions: StreamOptions = StreamOptions(),
        store: (any ChatStateStore)? = nil, cursors: (any StreamCursorStore)? = nil, key: String? = nil
    ) {
        (self.member, self.network, endpoint) = (member, network, stream)
        (self.options, self.streamOptions) = (options, streamOptions)
        self.store = store ?? MemoryChatStateStore()
        self.cursors = cursors ?? MemoryStreamCursorStore()
        self.key = key ?? "chat/\(member)"
        calls = NetworkChatCalls(network: network, base: path.percentEncoded)
        delay = ChatQueueDelay(of: calls.account, on: network, upTo: options.maximumQueueDelay)
    }

    deinit { delay.end() }

    /// Returns a conversation, and starts to follow it.
    ///
    /// - Parameters:
    ///   - id: The name of the conversation: 1 to 64 letters, digits and `._-`. A conversation with any other name is
    ///     refused: the client neither follows nor stores it; see ``ChatConversation/isRefused``.
    ///   - delegate: Notified of changes; held weakly. If it is `nil`, the default, the conversation's delegate is not
    ///     changed.
    public func conversation(_ id: String, delegate: (any ChatConversationDelegate)? = nil) -> ChatConversation {
        let conversation =
            conversations[id]
            ?? ChatConversation(id, member: member, options, calls, clock: network.clock) { [weak self] in
                self?.didChange(id)
            }
        if let delegate { conversation.delegate = delegate }
        guard conversation.isNameValid else { return conversation }
        guard conversations.updateValue(conversation, forKey: id) == nil, events != nil else { return conversation }
        Task { [weak self, startCount] in
            await self?.restore(conversation, at: nil)
            await self?.follow(conversation, startCount)
        }
        return conversation
    }

    /// Stops following a conversation. Its stored state is not removed.
    public func leave(_ id: String) {
        guard let conversation = conversations.removeValue(forKey: id) else { return }
        conversation.stop()
        if conversation.isReady { left[id] = conversation.machine.state(at: "") }
        stored[id] = nil
        write()
        guard endpoint.topics != nil, let events else { return }
        leaving[id] = Task { try? await events.unsubscribe(from: [Self.topic(of: id)]) }
    }

    /// Opens the stream at the stored position. Does nothing if the stream is open.
    ///
    /// The client ends with a `NetworkError.Kind.cancelled` error if its account is not signed in. It ends with
    /// `NetworkError.Kind.invalidConfiguration` if the layer has an offline queue to which ``ChatSend`` was not passed,
    /// since no message could be sent.
    public func start() {
        guard reading == nil else { return }
        let canSend = network.canStoreCalls(of: ChatSend<Stream.Service>.self)
        error = canSend ? nil : .sendsAreNotStored(of: Stream.Service.self)
        guard canSend else { return state = .ended }
        startCount += 1
        let start = startCount
        state = .connecting
        delay.begin()
        let places = TakenCursors(base: cursors) { [weak self] in self?.take($0, start) }
        watching = StreamTask(
            Task { [weak self, changes = network.servicesChanges] in
                for await _ in changes { self?.servicesDidChange(start) }
            })
        reading = StreamTask(
            Task { [weak self] in
                guard let opening = self?.open(places, start) else { return }
                await opening.value
                guard let events = self?.events, self?.startCount == start else { return }
                await Self.read(events, start) { self }
            })
    }

    /// Closes the stream, and cancels the calls in flight.
    public func stop() {
        guard reading != nil else { return }
        startCount += 1
        (events, reading, watching, state, leaving) = (nil, nil, nil, .ended, [:])
        delay.end()
        for conversation in conversations.values { conversation.stop() }
    }

    /// Closes the connection until ``resume()``. Call this function when the app goes into the background.
    public func pause() {
        isPaused = true
        events?.pause()
    }

    /// Opens a paused stream, and checks an open one. Call this function when the app comes to the foreground.
    public func resume() {
        isPaused = false
        events?.resume()
    }

    /// Waits until the client has tried to store all conversations. If this failed, ``storageError`` has the error.
    public func flush() async {
        await writing?.value
        await cursors.flush()
    }

    /// Returns the name of the stream topic that carries the events of a conversation.
    public static func topic(of conversation: String) -> String { "\(topicPrefix)\(conversation)" }

    private static var topicPrefix: String { "chat/" }
}

extension ChatClient {
    /// Reads the stored states. Then creates the event sequence, which continues at the stored position.
    private func open(_ places: TakenCursors, _ start: Int) -> Task<Void, Never> {
        Task {
            let cursor = await cursors.cursor(for: key)
            // The app may open another conversation while the store reads this one.
            while let conversation = conversations.values.first(where: { !$0.isReady }) {
                await restore(conversation, at: cursor?.lastEventID)
            }
            guard startCount == start, !endIfSignedOut() else { return }
            (taken, storedCursor) = (cursor, cursor)
            let events = network.events(
                of: endpoint, streamOptions, places, key: key, topics: endpoint.topics, SystemRandomNumberGenerator()
            ) { [weak self, delay] _ in
                delay.update()
                Task { @MainActor [weak self] in self?.stateDidChange(start) }
            }
            self.events = events
            if isPaused { events.pause() }
            delay.follow(events)
            // The first connection is not open yet. It subscribes to these topics when it opens.
            if endpoint.topics != nil { try? await events.subscribe(to: Set(conversations.keys.map(Self.topic))) }
        }
    }

    private func restore(_ conversation: ChatConversation, at place: String?) async {
        guard !conversation.isReady else { return }
        if let state = left.removeValue(forKey: conversation.id) {
            // The store may not have this state yet. The state's position in the stream is earlier than the position of
            // the open stream, so messages may be missing.
            return conversation.restore(state, isCurrent: false)
        }
        let state = await store.state(of: conversation.id)
        // The app may have left the conversation, and opened it again, during the read.
        guard !conversation.isReady, conversations[conversation.id] === conversation else { return }
        if let state { stored[conversation.id] = state }
        conversation.restore(state, isCurrent: place.map { !$0.isEmpty && $0 == state?.place } ?? false)
    }

    /// Follows a conversation that was opened while the stream was already open.
    private func follow(_ conversation: ChatConversation, _ start: Int) async {
        // The server applies changes of topics in the order of arrival, so the pending removal has to arrive first.
        await leaving.removeValue(forKey: conversation.id)?.value
        guard isFollowed(conversation, start) else { return }
        var refusal: String?
        if endpoint.topics != nil {
            do throws(NetworkError) {
                try await events?.subscribe(to: [Self.topic(of: conversation.id)])
            } catch {
                if error.kind != .cancelled { refusal = error.chatReason }
            }
        }
        guard isFollowed(conversation, start), let events else { return }
        let isExcluded = events.refusedTopics.contains(Self.topic(of: conversation.id))
        conversation.setExclusion(refusal ?? (isExcluded ? ChatMachine.exclusion : nil))
        guard isFollowed(conversation, start), !conversation.isRefused else { return }
        // The stream delivers the conversation's events from now on, over the open connection or the next one.
        conversation.take(events.state == .open ? .connected(.reset(.first)) : .followed)
        if events.isCaughtUp, isFollowed(conversation, start) { conversation.take(.caughtUp) }
    }

    /// Asks for the refused conversations again: the server may allow them after a sign-in or another change.
    private func servicesDidChange(_ start: Int) {
        delay.update()
        for one in ready where one.machine.hasRefusal { Task { [weak self] in await self?.follow(one, start) } }
    }

    /// Whether the client is still running and still follows the conversation.
    private func isFollowed(_ conversation: ChatConversation, _ start: Int) -> Bool {
        startCount == start && reading != nil && conversations[conversation.id] === conversation
    }

    private static func read(_ events: EventSequence, _ start: Int, for client: () -> ChatClient?) async {
        var failure: NetworkError?
        do throws(NetworkError) {
            var iterator = events.makeAsyncIterator()
            while let element = try await iterator.next() {
                guard let client = client(), client.startCount == start else { return }
                client.take(element)
            }
        } catch {
            failure = error
        }
        client()?.end(with: failure, start)
    }

    private func take(_ element: StreamElement) {
        switch element {
        case .continuity(let continuity):
            let refused = events?.refusedTopics ?? []
            for one in ready where events != nil {
                let (topic, wasRefused) = (Self.topic(of: one.id), one.isRefused)
                if events?.topics?.contains(topic) ?? true {
                    one.setExclusion(refused.contains(topic) ? ChatMachine.exclusion : nil)
                }
                if one.isRefused {
                    // The connection does not include a topic that the server refused when the conversation was opened.
                    if events?.topics?.contains(topic) == false {
                        Task { [weak self, startCount] in await self?.follow(one, startCount) }
                    }
                    continue
                }
                // The stream skipped the messages that were published while the member could not follow.
                if events != nil { one.take(.connected(wasRefused ? .reset(.topics) : continuity)) }
            }
        case .caughtUp:
            guard events?.isCaughtUp == true else { return }
            delay.update()
            for one in ready where events != nil { one.take(.caughtUp) }
        case .event(let event):
            guard let topic = event.topic, topic.hasPrefix(Self.topicPrefix), let element = ChatElement(event),
                let conversation = conversations[String(topic.dropFirst(Self.topicPrefix.count))], conversation.isReady
            else { return }
            conversation.take(element)
        }
    }

    private var ready: [ChatConversation] { conversations.values.filter(\.isReady) }

    private func stateDidChange(_ start: Int) {
        guard startCount == start, reading != nil, let events else { return }
        // The client reports that the stream has ended only when the client can be started again.
        if events.state != .ended { state = events.state }
        // The next connection includes a refused topic if the server allows the topic by then.
        let refused = events.refusedTopics
        for one in ready where refused.contains(Self.topic(of: one.id)) { one.setExclusion(ChatMachine.exclusion) }
        // `state` may be reported late. Only the event sequence has the current state.
        let isLive = events.isCaughtUp
        for one in ready where self.events != nil && one.machine.isCaughtUp != isLive {
            one.take(isLive ? .caughtUp : .disconnected)
        }
    }

    /// Ends the client if its account is not signed in, and returns whether it ended the client.
    @discardableResult
    private func endIfSignedOut() -> Bool {
        do throws(NetworkError) {
            try calls.account.check()
            return false
        } catch {
            end(with: error, startCount)
            return true
        }
    }

    private func end(with error: NetworkError?, _ start: Int) {
        guard startCount == start, reading != nil else { return }
        (events, reading, watching, state, leaving) = (nil, nil, nil, .ended, [:])
        delay.end()
        self.error = error
        for one in ready { one.take(.disconnected) }
    }
}

extension ChatClient {
    private func take(_ cursor: StreamCursor?, _ start: Int) {
        // Events after the end are not stored. They arrive again after the next start.
        guard startCount == start else { return }
        taken = cursor
        write()
    }

    private func didChange(_ conversation: String) {
        changed.insert(conversation)
        write()
        if events != nil { endIfSignedOut() }
    }

    /// Stores the changed states, one write at a time. Each write stores all changes since the previous one began.
    private func write() {
        guard writing == nil else { return }
        writing = Task { [weak self] in
            var isChanged = true
            while isChanged, let client = self { isChanged = await client.writeOnce() }
            self?.writing = nil
        }
    }

    /// Stores the changed states, and then the stream position. Returns `false` if there was nothing to store.
    private func writeOnce() async -> Bool {
        let (cursor, ids) = (taken, changed)
        changed = []
        var states = left
        for id in ids {
            guard let conversation = conversations[id], conversation.isReady else { continue }
            var state = conversation.machine.state(at: stored[id]?.place ?? "")
            guard state != stored[id] else { continue }
            // A refused conversation is stored without a position, since the stream does not deliver its messages.
            state.place = conversation.isRefused ? "" : cursor?.lastEventID ?? ""
            states[id] = state
        }
        guard !states.isEmpty || cursor != storedCursor else { return false }
        let failed = await storeAll(states)
        for (id, state) in states where left[id] == state && !failed.contains(id) { left[id] = nil }
        for (id, state) in states where conversations[id] != nil && !failed.contains(id) { stored[id] = state }
        // If a state could not be stored, the store still has an older state with an earlier position. After the next
        // start, its conversation fetches the missed messages.
        if cursor != storedCursor {
            await cursors.store(cursor, for: key)
            storedCursor = cursor
        }
        let isChanged = !changed.isEmpty || taken != storedCursor
        changed.formUnion(failed)
        return isChanged
    }

    /// Stores states. Returns the ones that could not be stored; the next change also stores these.
    private func storeAll(_ states: [String: ChatState]) async -> Set<String> {
        guard !states.isEmpty else { return [] }
        let (failed, problem) = await store.storeEach(states)
        if problem != nil || storageError != nil { storageError = problem }
        return failed
    }
}
