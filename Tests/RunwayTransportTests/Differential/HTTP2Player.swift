import NIOHPACK
import Synchronization

/// Responds over HTTP/2 to every complete request as an exchange specifies, within the client's windows; and records the last
/// one.
final class HTTP2Player: Sendable {
    fileprivate struct Stream {
        var window: Int
        var body: [UInt8] = []
        /// What is still to be sent.
        var queue: [RawFrame] = []
    }

    fileprivate struct Connection {
        var window = 65_535
        var initialWindow = 65_535
        var streams: [Int: Stream] = [:]
    }

    private struct State {
        var exchange: GeneratedHTTP2Exchange?
        var connections: [Int: Connection] = [:]
        var lastRequest: SeenRequest?
        var requestCount = 0
    }

    /// Guards what is played and how far it is.
    private let state = Mutex(State())

    /// What came last in full.
    var lastRequest: SeenRequest? { state.withLock(\.lastRequest) }

    /// How many complete requests were received since the response was set.
    var requestCount: Int { state.withLock(\.requestCount) }

    /// Sets the response to later requests.
    func play(_ exchange: GeneratedHTTP2Exchange) {
        state.withLock { state in
            state.exchange = exchange
            state.lastRequest = nil
            state.requestCount = 0
        }
    }

    func act(on connection: RawConnection, _ frame: RawFrame?) {
        guard let frame else { return connection.write(.settings()) }
        let (number, head) = (connection.number, connection.heads[frame.stream])
        let frames = state.withLock { state -> [RawFrame] in
            var played = state.connections[number] ?? Connection()
            let replies = played.receive(frame)
            let isEnd = frame.flags & RawFrame.endStream != 0 && (frame.is(.headers) || frame.is(.data))
            if isEnd, let head, let body = played.streams[frame.stream]?.body {
                state.lastRequest = SeenRequest(head, body)
                state.requestCount += 1
                played.streams[frame.stream]?.queue = state.exchange?.frames(on: frame.stream) ?? []
            }
            let frames = replies + played.send()
            state.connections[number] = played
            return frames
        }
        if !frames.isEmpty { connection.write(frames.flatMap(\.bytes)) }
    }
}

extension HTTP2Player.Connection {
    /// Processes a frame; returns the frames to send.
    fileprivate mutating func receive(_ frame: RawFrame) -> [RawFrame] {
        let isAck = frame.flags & RawFrame.ack != 0
        if frame.is(.settings), !isAck {
            if let window = frame.settings[4] {
                for id in streams.keys { streams[id]?.window += window - initialWindow }
                initialWindow = window
            }
            return [.settingsAck]
        }
        if frame.is(.ping), !isAck { return [RawFrame(.ping, flags: RawFrame.ack, frame.payload)] }
        if frame.is(.windowUpdate), frame.stream == 0 {
            window += frame.number
        } else if frame.is(.windowUpdate) {
            streams[frame.stream]?.window += frame.number
        } else if frame.is(.headers) {
            streams[frame.stream] = HTTP2Player.Stream(window: initialWindow)
        } else if frame.is(.reset) {
            streams[frame.stream] = nil
        } else if frame.is(.data), !frame.payload.isEmpty {
            streams[frame.stream]?.body += frame.payload
            let credit = RawFrame.number(frame.payload.count)
            let isLast = frame.flags & RawFrame.endStream != 0
            return [RawFrame(.windowUpdate, credit)]
                + (isLast ? [] : [RawFrame(.windowUpdate, stream: frame.stream, credit)])
        }
        return []
    }

    /// What can be sent now.
    fileprivate mutating func send() -> [RawFrame] {
        var frames: [RawFrame] = []
        for (id, var stream) in streams where !stream.queue.isEmpty {
            while var frame = stream.queue.first {
                let byteCount = frame.is(.data) ? frame.payload.count : 0
                let count = max(0, min(byteCount, window, stream.window))
                if count < byteCount {
                    guard count > 0 else { break }
                    stream.queue[0].payload.removeFirst(count)
                    frame = RawFrame(.data, stream: id, Array(frame.payload.prefix(count)))
                } else {
                    stream.queue.removeFirst()
                }
                window -= count
                stream.window -= count
                frames.append(frame)
            }
            streams[id] = stream.queue.isEmpty ? nil : stream
        }
        return frames
    }
}
