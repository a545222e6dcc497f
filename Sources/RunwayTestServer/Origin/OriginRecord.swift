import NIOCore
import RunwayTesting
import Synchronization

/// Records the requests and connections of an origin, within its limits.
final class OriginRecord: Sendable {
    private struct State {
        var requests: [ReceivedRequest] = []
        var malformed: [MalformedRequest] = []
        var handshakeFailures: [String] = []
        var requestCount = 0
        var connectionCount = 0
        var recordedBodyBytes = 0
        var channels: [Int: any Channel] = [:]
        var isShutDown = false
    }

    let limits: ScriptedOrigin.Limits
    let requestCount = AwaitedValue(0)
    let connectionCount = AwaitedValue(0)
    let disconnectCount = AwaitedValue(0)

    /// Guards the received requests.
    ///
    /// The counters for which tests wait are changed after the lock is released, so that a woken test finds the
    /// requests.
    private let state = Mutex(State())

    init(limits: ScriptedOrigin.Limits) { self.limits = limits }

    var requests: [ReceivedRequest] { state.withLock { $0.requests } }
    var malformed: [MalformedRequest] { state.withLock { $0.malformed } }
    var handshakeFailures: [String] { state.withLock { $0.handshakeFailures } }
    var openConnectionCount: Int { state.withLock { $0.channels.count } }

    // MARK: Connections

    /// Counts a connection, and returns its number. Returns `nil` if the origin is shut down.
    func connectionOpened(_ channel: any Channel) -> Int? {
        let number: Int? = state.withLock { state in
            if state.isShutDown { return nil }
            state.connectionCount += 1
            state.channels[state.connectionCount] = channel
            return state.connectionCount
        }
        guard let number else { return nil }
        connectionCount.update { $0 += 1 }
        // The channel's handlers process its end before this future completes, so their records are complete here.
        channel.closeFuture.whenComplete { _ in self.connectionClosed(number) }
        return number
    }

    private func connectionClosed(_ number: Int) {
        state.withLock { _ = $0.channels.removeValue(forKey: number) }
        disconnectCount.update { $0 += 1 }
    }

    /// Refuses new connections from now on, and returns the open ones.
    func shutDown() -> [any Channel] {
        state.withLock { state in
            state.isShutDown = true
            return Array(state.channels.values)
        }
    }

    /// Ends all waits, since no further requests or connections can arrive.
    func endWaits() {
        for count in [requestCount, connectionCount, disconnectCount] {
            count.fail(with: ScriptedOrigin.ShutDownError())
        }
    }

    // MARK: Requests

    /// Reserves up to `count` bytes for stored bodies. Returns the number of reserved bytes.
    func reserve(bodyBytes count: Int) -> Int {
        state.withLock { state in
            let granted = min(count, max(0, limits.bodyBytes - state.recordedBodyBytes))
            state.recordedBodyBytes += granted
            return granted
        }
    }

    /// Records a request, and returns its position. The record at this position can be updated when more of the request
    /// has arrived.
    func received(_ request: ReceivedRequest) -> Int {
        let place = state.withLock { state in
            if state.requests.count < limits.requests { state.requests.append(request) }
            state.requestCount += 1
            return state.requestCount - 1
        }
        requestCount.update { $0 += 1 }
        return place
    }

    func update(_ request: ReceivedRequest, at place: Int) {
        state.withLock { state in
            if place < state.requests.count { state.requests[place] = request }
        }
    }

    func received(_ malformed: MalformedRequest) {
        state.withLock { state in
            if state.malformed.count < limits.requests { state.malformed.append(malformed) }
        }
    }

    func handshakeFailed(_ reason: String) {
        state.withLock { state in
            if state.handshakeFailures.count < limits.requests { state.handshakeFailures.append(reason) }
        }
    }
}
