import Runway
import Synchronization

/// Performs the decisions of a stream's state machine for a WebSocket: opens and closes connections, one at a time, and
/// wakes at its deadlines.
///
/// All inputs pass through one queue, and one task processes them in order.
final class WebSocketDriver: Sendable {
    typealias Open = @Sendable () async throws(NetworkError) -> WebSocketFlight

    private enum Input: Sendable {
        case start, stop, pause, resume, tick
        case network(NetworkStatus)
        case opened(link: Int)
        case ended(LinkFailure, link: Int)
    }

    private struct State {
        var connection: WebSocketFlight?
        var stream = StreamState.idle
        var openCount = 0
        /// The server's close frame of the last connection that ended; `nil` if the server did not close it.
        var closeFrame: WebSocketCloseFrame?
        /// The number of received bytes at the last check, and the time of the last byte; `nil` before the first check.
        var lastLook: (receivedByteCount: Int64, lastByte: Duration)?
        /// The close frame of the app; `nil` if the app released the WebSocket without closing it.
        var close: WebSocketClose?

        /// The last frame that the client sends.
        var lastClose: WebSocketClose { close ?? WebSocketClose(WebSocketCloseCode.goingAway.number) }
    }

    let handoff = WebSocketHandoff()
    private let open: Open
    private let account: StreamAccount
    private let network: NetworkLayer
    private let options: WebSocketOptions
    private let random: any RandomNumberGenerator & Sendable
    private let inputs: AsyncStream<Input>
    private let continuation: AsyncStream<Input>.Continuation
    private let onState: @Sendable (StreamState) -> Void
    /// Guards the open connection and the state that the app sees.
    private let state = Mutex(State())

    init(
        of account: StreamAccount, on network: NetworkLayer, _ options: WebSocketOptions,
        random: any RandomNumberGenerator & Sendable, onState: @escaping @Sendable (StreamState) -> Void,
        open: @escaping Open
    ) {
        self.account = account
        self.network = network
        self.options = options
        self.random = random
        self.onState = onState
        self.open = open
        (inputs, continuation) = AsyncStream.makeStream(of: Input.self)
    }

    var streamState: StreamState { state.withLock { $0.stream } }
    var closeFrame: WebSocketCloseFrame? { state.withLock { $0.closeFrame } }

    func stop(_ close: WebSocketClose) {
        state.withLock { $0.close = $0.close ?? close }
        continuation.yield(.stop)
    }
    func pause() { continuation.yield(.pause) }
    func resume() { continuation.yield(.resume) }

    func send(_ message: WebSocketMessage) async throws(NetworkError) {
        guard let connection = state.withLock({ $0.connection }) else {
            throw NetworkError(
                .noNetwork, in: .transporting, "The WebSocket is not open; the message was not sent.", sending: .notSent
            )
        }
        try await connection.connection.send(message.payload)
    }

    func run() async {
        // Requests that the app made earlier come first, so that a paused WebSocket opens no connection.
        continuation.yield(.start)
        var run = Run(
            machine: StreamMachine(
                options.reconnection, network: network.status.identity ?? network.status.link.rawValue,
                isReachable: network.isReachable, heartbeats: network.heartbeats, random: random),
            track: NetworkTrack(network.status),
            timer: StreamTimer(network.clock) { [continuation] in continuation.yield(.tick) })
        let statuses = Task { [network, continuation] in
            for await status in network.statuses { continuation.yield(.network(status)) }
        }
        await withTaskCancellationHandler {
            for await input in inputs {
                let actions = actions(after: input, &run)
                for action in actions { await perform(action, &run) }
                publish(run.machine.state)
                run.timer.wait(for: run.machine.deadline)
                if run.machine.state == .ended { break }
            }
        } onCancel: {
            continuation.yield(.stop)
        }
        statuses.cancel()
        run.timer.wait(for: nil)
        let (connection, lastClose) = state.withLock { ($0.connection, $0.lastClose) }
        connection?.close(lastClose)
        await close(&run)
        publish(.ended)
        continuation.finish()
        handoff.finish(nil)
    }

    private struct Run {
        var machine: StreamMachine
        var track: NetworkTrack
        var linkCount = 0
        /// The task that opens and reads a connection.
        var link: Task<Void, Never>?
        var timer: StreamTimer
    }

    private func actions(after input: Input, _ run: inout Run) -> [StreamMachine.Action] {
        let now = network.clock.now
        switch input {
        case .start: return run.machine.start()
        case .stop: return run.machine.stop()
        case .pause: return run.machine.pause()
        case .resume: return run.machine.resume(at: now)
        case .tick:
            run.timer.expire()
            return run.machine.tick(at: now, activity: activity(at: now))
        case .network(let status):
            let isElsewhere = run.track.record(status)
            return run.machine.networkDidChange(
                to: status.identity ?? status.link.rawValue, isReachable: status.isReachable, isElsewhere: isElsewhere,
                at: now)
        case .opened(let link):
            guard link == run.linkCount, run.link != nil else { return [] }
            // The server's pongs to the client's pings serve as heartbeats, at the interval learned for the network.
            // The server does not limit the interval.
            let limit = options.reconnection.maximumHeartbeat
            return run.machine.opened(
                LinkFacts(heartbeat: run.machine.wantedHeartbeat, heartbeatLimit: limit), at: now)
        case .ended(let failure, let link):
            // If the client closed the connection, its end was awaited already.
            guard link == run.linkCount, run.link != nil else { return [] }
            run.link = nil
            let close = state.withLock { $0.connection }?.connection.status.received
            // The silence matters only if the connection ended without a close frame of the server.
            let activity = close == nil ? activity(at: now) : nil
            state.withLock { ($0.connection, $0.closeFrame) = (nil, close.map { WebSocketCloseFrame($0) }) }
            return run.machine.ended(failure, activity: activity, at: now)
        }
    }

    /// Returns the times at which bytes arrived on the open connection. A silence that a ping ended counts as survived.
    private func activity(at now: Duration) -> StreamMachine.Activity? {
        guard let status = state.withLock({ $0.connection })?.connection.status else { return nil }
        // The silence was measured after `now`. Subtracting it from `now` would put the last byte too early, and a pong
        // could precede its ping.
        let lastByte = min(now, network.clock.now - status.silence)
        let last = state.withLock { state in
            // The connection's own clock may stop while the device sleeps. So it is used only if bytes have arrived
            // since the last check.
            if let look = state.lastLook, look.receivedByteCount == status.receivedByteCount { return look.lastByte }
            let latest = max(state.lastLook?.lastByte ?? .zero, lastByte)
            state.lastLook = (status.receivedByteCount, latest)
            return latest
        }
        return StreamMachine.Activity(last: last, isHeld: status.isHeldBack)
    }

    private func perform(_ action: StreamMachine.Action, _ run: inout Run) async {
        switch action {
        case .connect: connect(&run)
        case .disconnect(let reason):
            let (connection, lastClose) = state.withLock { ($0.connection, $0.lastClose) }
            if reason == .silent {
                connection?.end(
                    failing: NetworkError(
                        .noNetwork, in: .transporting, "The server was silent, and nothing was received after a ping.",
                        sending: .sent))
            } else {
                connection?.close(lastClose)
            }
            await close(&run)
        case .probe: state.withLock { $0.connection }?.connection.ping()
        case .end(let error): handoff.finish(error)
        }
    }

    private func connect(_ run: inout Run) {
        run.linkCount += 1
        let number = run.linkCount
        run.link = Task { [self] in
            let failure = await follow { connection in
                // This input is enqueued before the reader receives the connection and can send messages. The driver
                // removes the task only after the task has ended.
                defer { continuation.yield(.opened(link: number)) }
                let (now, agreement) = (network.clock.now, connection.connection.agreement)
                return state.withLock { state in
                    state.connection = connection
                    state.lastLook = (connection.connection.status.receivedByteCount, now)
                    state.openCount += 1
                    return WebSocketLink(
                        number: state.openCount, subprotocol: agreement.subprotocol, extensions: agreement.extensions,
                        previousClose: state.closeFrame)
                }
            }
            continuation.yield(.ended(failure, link: number))
        }
    }

    /// Opens a connection, and passes its messages on until it ends.
    ///
    /// - Parameter opened: Receives the open connection, and returns its properties.
    private func follow(opened: (WebSocketFlight) -> WebSocketLink) async -> LinkFailure {
        let session = account.makeSessionFlight()
        guard account.isPresent else { return .final(account.absence) }
        let flight: WebSocketFlight
        do throws(NetworkError) {
            flight = try await open()
        } catch {
            return failure(error, isSignedOut: session.isSignedOut)
        }
        if session.isSignedOut {
            flight.close(WebSocketClose(WebSocketCloseCode.goingAway.number))
            return .final(account.absence)
        }
        guard await handoff.add(.connected(opened(flight))) else { return .transient(retryAfter: nil) }
        do throws(NetworkError) {
            while let payload = try await flight.next() {
                guard await handoff.add(.message(WebSocketMessage(payload))) else { return .transient(retryAfter: nil) }
            }
        } catch {
            return failure(error, isSignedOut: flight.flight.isSignedOut)
        }
        return options.failure(after: flight.connection.status.received)
    }

    /// Converts the error of a connection. A cancellation without a sign-out means that the background time was over.
    private func failure(_ error: NetworkError, isSignedOut: Bool) -> LinkFailure {
        error.kind == .cancelled && !isSignedOut ? .suspended : LinkFailure(error)
    }

    /// Cancels the task of a connection if there is one, and waits for its end.
    private func close(_ run: inout Run) async {
        guard let link = run.link else { return }
        link.cancel()
        await link.value
        run.link = nil
        state.withLock { ($0.connection, $0.closeFrame) = (nil, nil) }
    }

    private func publish(_ new: StreamState) {
        let isNew = state.withLock { state in
            defer { state.stream = new }
            return state.stream != new
        }
        if isNew { onState(new) }
    }
}

extension WebSocketOptions {
    func failure(after close: WebSocketClose?) -> LinkFailure {
        guard let frame = close.map({ WebSocketCloseFrame($0) }), let code = frame.code,
            !reconnectingCodes.contains(code)
        else { return .transient(retryAfter: nil) }
        if code == .normal { return .final(nil) }
        return .final(
            NetworkError(
                .refused, in: .transporting, "The server closed the WebSocket with \(frame).", sending: .sent,
                underlying: frame))
    }
}
