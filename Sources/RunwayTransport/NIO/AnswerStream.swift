import NIOCore
import Runway
import Synchronization

/// The parts of an answer's body between the event loop, which puts them in, and the one who reads them.
///
/// It bounds nothing itself: it tells how much was taken, and the connection lets the server send accordingly.
final class AnswerStream: Sendable {
    fileprivate struct State {
        var parts = CircularBuffer<ByteBuffer>()
        /// How the answer ended, once it has.
        var end: Result<Void, any Error>?
        /// What the wire did for the answer, once it ended.
        var wire: WireRecord?
        var reader: CheckedContinuation<Void, Never>?
        /// What was taken since the connection was last told.
        var untoldByteCount = 0
    }

    /// After how many taken bytes the connection is told.
    private let step: Int
    /// Guards the parts and who waits for them.
    private let state = Mutex(State())

    /// Makes a stream.
    ///
    /// - Parameter step: After how many taken bytes ``next()`` says that the connection is to be told.
    init(step: Int) { self.step = max(1, step) }

    /// Puts a part in.
    func append(_ part: ByteBuffer) {
        let reader = state.withLock { state in
            guard state.end == nil else { return nil as CheckedContinuation<Void, Never>? }
            state.parts.append(part)
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
            if case .failure = result { state.parts = CircularBuffer() }
            return state.takeReader()
        }
        reader?.resume()
    }

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
                    state.untoldByteCount += part.readableBytes
                    guard state.untoldByteCount >= step else { return (part, 0) }
                    defer { state.untoldByteCount = 0 }
                    return (part, state.untoldByteCount)
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

extension AnswerStream.State {
    fileprivate mutating func takeReader() -> CheckedContinuation<Void, Never>? {
        defer { reader = nil }
        return reader
    }
}
