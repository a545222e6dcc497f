import NIOCore
import Synchronization

/// One open stream of a client: the bytes that are queued for the client, within a limit, and the offset of the last
/// event that the connection received.
final class EventConnection: Sendable {
    /// The reason why a connection ends.
    enum End: String, Sendable {
        /// The client reads too slowly.
        case slow
        /// The permission has expired, for example with the client's token, or now covers fewer topics.
        case lifetime
        /// The server shuts down.
        case draining
        /// The client disconnected.
        case disconnected
        /// The event log does not respond.
        case log
    }

    fileprivate struct State {
        var topics: Set<String>?
        /// The requested topics that the client may not follow, or may no longer follow.
        var refused: Set<String>
        /// Whether the replay has ended. Before its end, no event is queued.
        var isLive = false
        var frames: [ByteBuffer] = []
        var byteCount = 0
        var reader: CheckedContinuation<Void, Never>?
        /// The offset of the last event that was queued, or that was skipped because the client does not follow its
        /// topic.
        var offset: Int64 = 0
        var lastFrame: Duration
        var writeStart: Duration?
        /// The time when the current read of the log started; `nil` while no read is in progress.
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
    /// the lock is held.
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
    /// The requested topics that the client may not follow, or may no longer follow.
    var refusedTopics: Set<String> { state.withLock { $0.refused } }
    var end: End? { state.withLock { $0.end } }
    var offset: Int64 {
        get { state.withLock { $0.offset } }
        set { state.withLock { $0.offset = newValue } }
    }

    /// Changes the topics, and returns the offset from which the change applies. Returns `nil` and changes nothing if
    /// the connection would have more than `maximumCount` topics, and more than before.
    func change(adding added: Set<String>, removing removed: Set<String>, upTo maximumCount: Int) -> Int64? {
        state.withLock { state in
            // A connection that follows all topics continues to follow all.
            if let topics = state.topics {
                let changed = topics.union(added).subtracting(removed)
                guard changed.count <= max(maximumCount, topics.count) else { return nil }
                state.topics = changed
                state.refused.subtract(added.union(removed))
            }
            return state.offset
        }
    }

    /// Ends the connection if it follows topics that are no longer allowed. These are recorded as refused, up to
    /// `maximumCount` refused topics.
    ///
    /// The client may never receive the response that names the refused topics. If the client had an offset after the
    /// events of these topics, it could later resume without the events; ending the connection prevents this.
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

    /// Ends the replay, so that new events are queued from now on.
    func beginLive() { state.withLock { $0.isLive = true } }

    /// Queues an event. The connection ends if its queue would exceed the limit, or if it has not received the previous
    /// event.
    ///
    /// - Returns: Whether the event was queued.
    func offer(_ frame: ByteBuffer, topic: String, _ offset: Int64) -> Bool {
        let (isQueued, reader, onEnd) = state.withLock {
            state -> (Bool, CheckedContinuation<Void, Never>?, (@Sendable () -> Void)?) in
            // A replay may already have sent the event.
            guard state.end == nil, offset > state.offset else { return (false, nil, nil) }
            // The log removed events that this connection has not received. When the client reconnects, it learns which
            // events.
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

    /// Queues a heartbeat if nothing is queued. Does nothing during a replay, since each page sends bytes to the
    /// client.
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

    /// Performs the work that is due before the next call: sends a heartbeat, and ends the connection if its lifetime,
    /// a write or a read has timed out.
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

    /// Ends the connection. Only the first call has an effect.
    func finish(_ end: End) {
        let (reader, onEnd) = state.withLock { state in (state.finish(end), state.onEnd) }
        reader?.resume()
        onEnd?()
    }

    /// Sets an action that runs when the connection ends, or immediately if the connection has already ended.
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

    /// Waits for queued frames and returns them. Returns `nil` when the connection ends or the task is cancelled.
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
