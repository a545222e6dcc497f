import NIOCore
import Runway
import Synchronization

/// The parts of a response's body. The event loop appends them, and a reader consumes them.
///
/// The stream has no limit: it reports the number of consumed bytes, and the connection performs flow control.
final class ResponseStream: Sendable {
    fileprivate struct State {
        var parts = CircularBuffer<ByteBuffer>()
        /// The end of the response; `nil` before the end.
        var end: Result<Void, any Error>?
        /// The transport's measurements for the request; `nil` before the end of the response.
        var wire: WireRecord?
        var reader: CheckedContinuation<Void, Never>?
        /// The number of bytes consumed since the last report to the connection.
        var unreportedByteCount = 0
        /// The size of the unread parts in bytes.
        var byteCount = 0

        /// A part of at most this size is joined with the previous part, up to ``joinedByteCount``: each part costs
        /// some hundred bytes, and retains all bytes of its read.
        static let smallByteCount = 4 << 10
        static let joinedByteCount = 16 << 10
    }

    /// The number of consumed bytes after which a report to the connection is due.
    private let step: Int
    /// The connection's counter of unread bytes; `nil` if the connection does not count them.
    private let unread: UnreadBytes?
    /// Guards the parts and their waiting reader.
    private let state = Mutex(State())

    /// - Parameters:
    ///   - step: The number of consumed bytes after which ``next()`` returns their number.
    ///   - unread: The connection's counter of unread bytes. The default is `nil`, no counter.
    init(step: Int, unread: UnreadBytes? = nil) {
        self.step = max(1, step)
        self.unread = unread
    }

    deinit { unread?.subtract(state.withLock(\.byteCount)) }

    /// Appends a part. A small part may be joined with the previous one, see ``State/smallByteCount``.
    func append(_ part: ByteBuffer) {
        let reader = state.withLock { state in
            guard state.end == nil else { return nil as CheckedContinuation<Void, Never>? }
            state.put(part)
            unread?.add(part.readableBytes)
            return state.takeReader()
        }
        reader?.resume()
    }

    /// Ends the stream, unless it has already ended. If it ends with an error, the reader still receives the earlier
    /// parts first.
    func finish(_ result: Result<Void, any Error>, _ wire: WireRecord) {
        let reader = state.withLock { state in
            guard state.end == nil else { return nil as CheckedContinuation<Void, Never>? }
            state.end = result
            state.wire = wire
            return state.takeReader()
        }
        reader?.resume()
    }

    /// Discards the unread parts. A later read throws the error that ended the stream, or else `CancellationError`.
    func drop() {
        state.withLock { state in
            switch state.end {
            case .failure?: break
            case .success?, nil: state.end = .failure(CancellationError())
            }
            unread?.subtract(state.byteCount)
            state.byteCount = 0
            state.parts = CircularBuffer()
        }
    }

    var hasUnread: Bool { state.withLock { $0.byteCount > 0 } }

    /// The transport's measurements for the request; `nil` before the end of the response.
    var wire: WireRecord? { state.withLock(\.wire) }

    /// Returns the next part, or `nil` at the end, and the number of consumed bytes to report to the connection.
    ///
    /// Cancelling the task does not end the wait: whoever cancels must also end the stream. Only one reader may wait at
    /// a time.
    func next() async throws -> (part: ByteBuffer?, consumed: Int) {
        while true {
            let step = step
            let found: (part: ByteBuffer?, consumed: Int)? = try state.withLock { state in
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
