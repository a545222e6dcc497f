import NIOCore
import Runway
import Synchronization

/// The messages of a WebSocket between the event loop, which appends them, and their reader, and the connection's
/// status.
final class WebSocketInbox: Sendable {
    fileprivate struct State {
        var messages = CircularBuffer<WebSocketPayload>()
        /// The sum of the costs of the waiting messages.
        var cost = 0
        /// The end of the connection; `nil` before.
        var end: Result<Void, NetworkError>?
        var reader: CheckedContinuation<Void, Never>?
        var status = WebSocketStatus()
        /// The time at which the last byte arrived.
        var lastByte = NIODeadline.now()
    }

    /// The cost of a message in addition to its bytes, so that the number of empty messages is limited, too.
    static let costOfMessage = 64

    private let maximumCost: Int
    /// Guards the messages, their waiting reader, and the connection's status.
    private let state = Mutex(State())

    /// Creates an inbox that is full when messages of `maximumUnreadByteCount` bytes wait.
    init(maximumUnreadByteCount: Int) { maximumCost = max(1, maximumUnreadByteCount) }

    /// The connection's status so far.
    var status: WebSocketStatus {
        state.withLock { state in
            var status = state.status
            status.silence = Duration(.now() - state.lastByte)
            return status
        }
    }

    /// Notes that bytes of frames arrived.
    func received(byteCount: Int) {
        state.withLock { state in
            state.status.receivedByteCount += Int64(byteCount)
            state.lastByte = .now()
        }
    }

    /// Changes the connection's status.
    func change(_ change: (inout WebSocketStatus) -> Void) { state.withLock { change(&$0.status) } }

    /// Whether a message may be appended.
    var hasRoom: Bool { state.withLock { $0.cost <= maximumCost } }

    /// Appends a message. Returns `false` if the connection must not be read again until the reader has consumed some
    /// messages.
    func append(_ payload: WebSocketPayload) -> Bool {
        let (reader, hasRoom) = state.withLock { state in
            state.status.receivedMessageCount += 1
            if state.end == nil {
                state.messages.append(payload)
                state.cost += payload.byteCount + Self.costOfMessage
            }
            // Only the reader lifts it, together with the call that resumes reading.
            if state.cost > maximumCost { state.status.isHeldBack = true }
            return (state.reader.take(), !state.status.isHeldBack)
        }
        reader?.resume()
        return hasRoom
    }

    /// Ends the inbox after its last message, unless it has ended. `error` is `nil` after an orderly end.
    func finish(_ error: NetworkError?) {
        let reader = state.withLock { state in
            if state.end == nil { state.end = error.map { .failure($0) } ?? .success(()) }
            return state.reader.take()
        }
        reader?.resume()
    }

    /// Waits for the next message; returns `nil` at the end.
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
    /// Takes the next message. The connection may be read again when half of the room is free.
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
