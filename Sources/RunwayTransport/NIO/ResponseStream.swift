import NIOCore
import Runway
import Synchronization

/// The parts of an answer's body between the event loop, which puts them in, and the one who reads them.
///
/// It bounds nothing itself: it tells how much was taken, and the connection lets the server send accordingly.
final class ResponseStream: Sendable {
    fileprivate struct State {
        var parts = CircularBuffer<ByteBuffer>()
        /// How the answer ended, once it has.
        var end: Result<Void, any Error>?
        /// What the wire did for the answer, once it ended.
        var wire: WireRecord?
        var reader: CheckedContinuation<Void, Never>?
        /// What was taken since the connection was last told.
        var unreportedByteCount = 0
        /// How many bytes the parts have.
        var byteCount = 0

        /// Parts of at most this size are copied to the end of the one before them, up to ``joinedByteCount``: what waits by itself takes
        /// some hundred bytes beside its own, and keeps all that was read together with it.
        static let smallByteCount = 4 << 10
        static let joinedByteCount = 16 << 10
    }

    /// After how many taken bytes the connection is told.
    private let step: Int
    /// What its connection knows of the bytes that wait; `nil` where it counts none.
    private let unread: UnreadBytes?
    /// Guards the parts and who waits for them.
    private let state = Mutex(State())

    /// Makes a stream.
    ///
    /// - Parameters:
    ///   - step: After how many taken bytes ``next()`` says that the connection is to be told.
    ///   - unread: Where the connection counts what waits.
    init(step: Int, unread: UnreadBytes? = nil) {
        self.step = max(1, step)
        self.unread = unread
    }

    deinit { unread?.subtract(state.withLock(\.byteCount)) }

    /// Puts a part in. One that is small joins what waits, see ``State/smallByteCount``.
    func append(_ part: ByteBuffer) {
        let reader = state.withLock { state in
            guard state.end == nil else { return nil as CheckedContinuation<Void, Never>? }
            state.put(part)
            unread?.add(part.readableBytes)
            return state.takeReader()
        }
        reader?.resume()
    }

    /// Ends the stream; the first end counts. After an error nothing that was not read yet is given any more.
    func finish(_ result: Result<Void, any Error>, _ wire: WireRecord) {
        let reader = state.withLock { state in
            guard state.end == nil else { return nil as CheckedContinuation<Void, Never>? }
            state.end = result
            state.wire = wire
            if case .failure = result { dropParts(&state) }
            return state.takeReader()
        }
        reader?.resume()
    }

    /// Nobody reads any more: lets go of what waits. Who reads all the same is told that it is not there.
    func drop() {
        state.withLock { state in
            state.end = .failure(CancellationError())
            dropParts(&state)
        }
    }

    private func dropParts(_ state: inout State) {
        unread?.subtract(state.byteCount)
        state.byteCount = 0
        state.parts = CircularBuffer()
    }

    /// Whether anything waits for the reader.
    var hasUnread: Bool { state.withLock { $0.byteCount > 0 } }

    /// What the wire did for the answer; `nil` while it has not ended.
    var wire: WireRecord? { state.withLock(\.wire) }

    /// The next part, or `nil` at the end, and how many taken bytes the connection is to be told of.
    ///
    /// It does not see that its task is cancelled: that has to end the stream. Only one may read at a time.
    func next() async throws -> (part: ByteBuffer?, taken: Int) {
        while true {
            let step = step
            let found: (part: ByteBuffer?, taken: Int)? = try state.withLock { state in
                if let part = state.parts.popFirst() {
                    state.unreportedByteCount += part.readableBytes
                    state.byteCount -= part.readableBytes
                    unread?.subtract(part.readableBytes)
                    guard state.unreportedByteCount >= step || unread?.isHeld == true else { return (part, 0) }
                    defer { state.unreportedByteCount = 0 }
                    return (part, state.unreportedByteCount)
                }
                guard let end = state.end else { return nil }
                try end.get()
                return (nil, 0)
            }
            if let found { return found }
            await withCheckedContinuation { continuation in
                let isReady = state.withLock { state in
                    if !state.parts.isEmpty || state.end != nil { return true }
                    state.reader = continuation
                    return false
                }
                if isReady { continuation.resume() }
            }
        }
    }
}

extension ResponseStream.State {
    fileprivate mutating func put(_ part: ByteBuffer) {
        byteCount += part.readableBytes
        guard let lastByteCount = parts.last?.readableBytes, part.readableBytes <= Self.smallByteCount,
            lastByteCount + part.readableBytes <= Self.joinedByteCount
        else { return parts.append(part) }
        parts.modify(parts.index(before: parts.endIndex)) { _ = $0.writeImmutableBuffer(part) }
    }

    fileprivate mutating func takeReader() -> CheckedContinuation<Void, Never>? {
        defer { reader = nil }
        return reader
    }
}
