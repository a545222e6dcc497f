import NIOCore
import Runway
import Synchronization

/// The received messages of a WebSocket and the connection's status. The event loop appends messages, and a reader
/// consumes them.
final class WebSocketInbox: Sendable {
    fileprivate struct State {
        var messages = CircularBuffer<WebSocketPayload>()
        /// The total cost of the unread messages, in bytes, including ``costOfMessage`` for each.
        var cost = 0
        /// The end of the connection; `nil` before the end.
        var end: Result<Void, NetworkError>?
        var reader: CheckedContinuation<Void, Never>?
        var status = WebSocketStatus()
        /// The time when the last byte arrived.
        var lastByte = NIODeadline.now()
    }

    /// The cost of a message in addition to its bytes, so that the number of empty messages is limited, too.
    static let costOfMessage = 64

    private let maximumCost: Int
    /// Guards the messages, their waiting reader, and the connection's status.
    private let state = Mutex(State())

    /// Creates an inbox that is full when its messages have `maximumUnreadByteCount` bytes.
    init(maximumUnreadByteCount: Int) { maximumCost = max(1, maximumUnreadByteCount) }

    /// The current status of the connection.
    var status: WebSocketStatus {
        state.withLock { state in
            var status = state.status
            status.silence = Duration(.now() - state.lastByte)
            return status
        }
    }

    /// Records that bytes of frames arrived.
    func received(byteCount: Int) {
        state.withLock { state in
            state.status.receivedByteCount += Int64(byteCount)
            state.lastByte = .now()
        }
    }

    func change(_ change: (inout WebSocketStatus) -> Void) { state.withLock { change(&$0.status) } }

    /// Whether a message may be appended.
    var hasRoom: Bool { state.withLock { $0.cost <= maximumCost } }

    /// Appends a message. Returns `false` if the connection must not be read again until the reader has consumed
    /// messages.
    func append(_ payload: WebSocketPayload) -> Bool {
        let (reader, hasRoom) = state.withLock { state in
            state.status.receivedMessageCount += 1
            if state.end == nil {
                state.messages.append(payload)
                state.cost += payload.byteCount + Self.costOfMessage
            }
            // Only the reader resets `isHeldBack`, when it calls `resume`.
            if state.cost > maximumCost { state.status.isHeldBack = true }
            return (state.reader.take(), !state.status.isHeldBack)
        }
        reader?.resume()
        return hasRoom
    }

    /// Ends the inbox after its last message, unless it has already ended. `error` is `nil` after an orderly end.
    func finish(_ error: NetworkError?) {
        let reader = state.withLock { state in
            if state.end == nil { state.end = error.map { .failure($0) } ?? .success(()) }
            return state.reader.take()
        }
        reader?.resume()
    }

    /// Waits for the next message. Returns `nil` at the end.
    ///
    /// - Parameter resume: Called if the connection may be read again.
    /// - Throws: The error that ended the inbox; ``NetworkError/Kind/cancelled`` if the task is cancelled.
    func next(_ resume: () -> Void) async throws(NetworkError) -> WebSocketPayload? {
        while true {
            if Task.isCancelled {
                throw NetworkError(.cancelled, in: .transporting, "The call was cancelled.", sending: .sent)
            }
            let (payload, end, mayResume) = state.withLock { $0.takeNext(maximumCost) }
            if mayResume { resume() }
            if let payload { return payload }
            if let end {
                try end.get()
                return nil
            }
            await wait()
        }
    }

    private func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isReady = state.withLock { state in
                    if !state.messages.isEmpty || state.end != nil || Task.isCancelled { return true }
                    state.reader = continuation
                    return false
                }
                if isReady { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.reader.take() }?.resume()
        }
    }
}

extension WebSocketInbox.State {
    /// Removes and returns the next message. The connection may be read again when half of the space is free.
    fileprivate mutating func takeNext(
        _ maximumCost: Int
    ) -> (payload: WebSocketPayload?, end: Result<Void, NetworkError>?, mayResume: Bool) {
        guard let payload = messages.popFirst() else { return (nil, end, false) }
        cost -= payload.byteCount + WebSocketInbox.costOfMessage
        let mayResume = status.isHeldBack && cost <= maximumCost / 2
        if mayResume { status.isHeldBack = false }
        return (payload, nil, mayResume)
    }
}
