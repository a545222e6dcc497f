import NIOCore
import Synchronization

/// One open stream of a client: the bytes that wait to be written to it, within a limit, and the position up to which
/// it has received events.
final class EventConnection: Sendable {
    /// The reason why a connection ends.
    enum End: String, Sendable {
        /// The client reads too slowly.
        case slow
        /// The permission has ended, such as with the client's token, or allows fewer topics than before.
        case lifetime
        /// The server shuts down.
        case draining
        /// The client disconnected.
        case disconnected
        /// The log of events does not respond.
        case log
    }

    fileprivate struct State {
        var topics: Set<String>?
        /// The topics that the client asked for, and that it may not follow (any longer).
        var refused: Set<String>
        /// Whether the replay has ended. Before that nothing is queued.
        var isLive = false
        var frames: [ByteBuffer] = []
        var byteCount = 0
        var reader: CheckedContinuation<Void, Never>?
        /// The offset of the last event that was queued, or left out because its topic is not wanted.
        var offset: Int64 = 0
        var lastFrame: Duration
        var writeStart: Duration?
        /// The time at which the log was asked for events that the client needs; `nil` while no read is in progress.
        var readStart: Duration?
        var endTime: Duration?
        var end: End?
        var onEnd: (@Sendable () -> Void)?
    }

    let id: String
    let source: String
    let owner: String
    let heartbeat: Duration
    private let epoch: String
    private let maximumByteCount: Int
    /// Guards the topics, the queued frames, and the end of the connection. No continuation or closure is called while
    /// it is held.
    private let state: Mutex<State>

    init(
        id: String, source: String, owner: String, topics: Set<String>?, refused: Set<String> = [],
        heartbeat: Duration, endTime: Duration?, epoch: String, maximumByteCount: Int, at now: Duration
    ) {
        (self.id, self.source, self.owner, self.heartbeat) = (id, source, owner, heartbeat)
        (self.epoch, self.maximumByteCount) = (epoch, maximumByteCount)
        state = Mutex(State(topics: topics, refused: refused, lastFrame: now, endTime: endTime))
    }

    var topics: Set<String>? { state.withLock { $0.topics } }
    /// The topics that the client asked for, and that it may not follow (any longer).
    var refusedTopics: Set<String> { state.withLock { $0.refused } }
    var end: End? { state.withLock { $0.end } }
    var offset: Int64 {
        get { state.withLock { $0.offset } }
        set { state.withLock { $0.offset = newValue } }
    }

    /// Changes the topics, and returns the place from which the change holds; `nil`, without a change, if there would
    /// be more topics than a number, and more than before.
    func change(adding added: Set<String>, removing removed: Set<String>, upTo maximumCount: Int) -> Int64? {
        state.withLock { state in
            // A connection of all topics keeps them all.
            if let topics = state.topics {
                let changed = topics.union(added).subtracting(removed)
                guard changed.count <= max(maximumCount, topics.count) else { return nil }
                state.topics = changed
                state.refused.subtract(added.union(removed))
            }
            return state.offset
        }
    }

    /// Ends the connection if it has topics that are not allowed; they count as refused, up to a number of all that
    /// are.
    ///
    /// The client may never receive the response that names them. Places behind their events would then let it resume
    /// without these events.
    func narrow(to allowed: Set<String>, upTo maximumCount: Int) {
        let (reader, onEnd) = state.withLock { state -> (CheckedContinuation<Void, Never>?, (@Sendable () -> Void)?) in
            let lost = state.topics?.subtracting(allowed)
            guard lost != [] else { return (nil, nil) }
            let refused = state.refused.union(lost ?? [])
            state.refused = refused.count > maximumCount ? Set(refused.sorted().prefix(maximumCount)) : refused
            state.topics = state.topics?.intersection(allowed) ?? allowed
            return (state.finish(.lifetime), state.onEnd)
        }
        reader?.resume()
        onEnd?()
    }

    /// Ends the replay: new events are queued from now on.
    func beginLive() { state.withLock { $0.isLive = true } }

    /// Queues an event; a connection whose queue would exceed the bound, or that has not received the event before,
    /// ends.
    ///
    /// - Returns: Whether the event is on its way to the client.
    func offer(_ frame: ByteBuffer, topic: String, _ offset: Int64) -> Bool {
        let (isQueued, reader, onEnd) = state.withLock {
            state -> (Bool, CheckedContinuation<Void, Never>?, (@Sendable () -> Void)?) in
            // A replay may have been ahead of the delivery.
            guard state.end == nil, offset > state.offset else { return (false, nil, nil) }
            // The log removed events that this connection has not received: its next connection says which.
            guard offset == state.offset + 1 else { return (false, state.finish(.slow), state.onEnd) }
            state.offset = offset
            guard state.topics?.contains(topic) ?? true else { return (false, nil, nil) }
            guard state.frames.isEmpty || state.byteCount + frame.readableBytes <= maximumByteCount else {
                return (false, state.finish(.slow), state.onEnd)
            }
            state.frames.append(frame)
            state.byteCount += frame.readableBytes
            defer { state.reader = nil }
            return (true, state.reader, nil)
        }
        reader?.resume()
        onEnd?()
        return isQueued
    }

    /// Queues a heartbeat if nothing is queued. Does nothing during a replay, since each of its pages sends the client
    /// something.
    func queueHeartbeat() {
        let reader = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard state.isLive, state.end == nil, state.frames.isEmpty else { return nil }
            let frame = EventFrame.heartbeat(epoch, state.offset)
            state.frames.append(frame)
            state.byteCount += frame.readableBytes
            defer { state.reader = nil }
            return state.reader
        }
        reader?.resume()
    }

    /// The time between two calls of ``tick(at:_:)``.
    static let tickTime = Duration.seconds(1)

    /// Performs the work that is due before the next call: a heartbeat, the end of a lifetime, and the end of a write
    /// or read that takes too long.
    func tick(at now: Duration, _ options: EventHubOptions) {
        let (isQuiet, end) = state.withLock { state -> (Bool, End?) in
            if let start = state.writeStart, now - start >= options.writeTimeout { return (false, .slow) }
            if let start = state.readStart, now - start >= EventHubOptions.logTimeout { return (false, .log) }
            if let endTime = state.endTime, now >= endTime { return (false, .lifetime) }
            return (state.writeStart == nil && now + Self.tickTime >= state.lastFrame + heartbeat, nil)
        }
        if let end { finish(end) } else if isQuiet { queueHeartbeat() }
    }

    /// Ends the connection no later than at an instant.
    func endBy(_ instant: Duration) { state.withLock { $0.endTime = min($0.endTime ?? instant, instant) } }

    /// Ends the connection. Only the first end counts.
    func finish(_ end: End) {
        let (reader, onEnd) = state.withLock { state in (state.finish(end), state.onEnd) }
        reader?.resume()
        onEnd?()
    }

    /// Sets the action for the end of the connection. It runs at once if the connection has ended.
    func onEnd(_ action: @escaping @Sendable () -> Void) {
        let hasEnded = state.withLock { state in
            state.onEnd = action
            return state.end != nil
        }
        if hasEnded { action() }
    }

    func beginWrite(at now: Duration) { state.withLock { $0.writeStart = now } }

    func endWrite(at now: Duration) {
        state.withLock { state in
            state.writeStart = nil
            state.lastFrame = now
        }
    }

    func beginRead(at now: Duration) { state.withLock { $0.readStart = now } }

    func endRead() { state.withLock { $0.readStart = nil } }

    /// Waits for queued frames and returns them; `nil` at the end, and when the task is cancelled.
    func next() async -> [ByteBuffer]? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isDue = state.withLock { state in
                    if Task.isCancelled || state.end != nil || !state.frames.isEmpty { return true }
                    state.reader = continuation
                    return false
                }
                if isDue { continuation.resume() }
            }
        } onCancel: {
            finish(.disconnected)
        }
        return state.withLock { state in
            guard state.end == nil else { return nil }
            defer {
                state.frames = []
                state.byteCount = 0
            }
            return state.frames
        }
    }
}

extension EventConnection.State {
    fileprivate mutating func finish(_ end: EventConnection.End) -> CheckedContinuation<Void, Never>? {
        guard self.end == nil else { return nil }
        self.end = end
        frames = []
        byteCount = 0
        defer { reader = nil }
        return reader
    }
}
