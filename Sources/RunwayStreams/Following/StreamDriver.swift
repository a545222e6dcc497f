import HTTPTypes
import Runway
import Synchronization

/// Performs the decisions of a stream's state machine: opens and closes connections, and wakes at its deadlines.
///
/// All inputs pass through one queue, and one task processes them in order.
package final class StreamDriver: Sendable {
    private enum Input: Sendable {
        case start, stop, pause, resume, tick
        case network(NetworkStatus)
        case opened(LinkFacts, link: Int)
        case continued(link: Int)
        /// Bytes have arrived on the connection after the server was asked for a heartbeat (a probe).
        case probeConfirmed(link: Int)
        case ended(LinkFailure, link: Int)
        case forgotten(link: Int)
        /// The server refuses other topics than before.
        case refused
    }

    private struct State {
        var stream = StreamState.idle
        /// The number of the connection that is open or being opened; otherwise `nil`.
        var link: Int?
        /// The number of the last connection of which the reader has taken all missed events.
        var caughtUpLink: Int?
        var isSuspected = false

        var isCaughtUp: Bool { link != nil && link == caughtUpLink }
    }

    let buffer: StreamBuffer
    let topics: StreamTopics
    private let source: any LinkSource
    private let network: NetworkLayer
    private let options: StreamOptions
    private let random: any RandomNumberGenerator & Sendable
    private let inputs: AsyncStream<Input>
    private let continuation: AsyncStream<Input>.Continuation
    /// Called when one of these has changed: the state of the stream, whether its connection may be dead, or the
    /// refused topics.
    private let onState: @Sendable (StreamState) -> Void
    /// Guards the state that the app sees, and the number of the connection.
    private let state = Mutex(State())

    init(
        _ source: any LinkSource, on network: NetworkLayer, topics: Set<String>?, _ options: StreamOptions,
        random: any RandomNumberGenerator & Sendable, onState: @escaping @Sendable (StreamState) -> Void
    ) {
        self.source = source
        self.network = network
        self.options = options
        self.random = random
        self.onState = onState
        buffer = StreamBuffer(maximumByteCount: options.maximumBufferedByteCount)
        let (inputs, continuation) = AsyncStream.makeStream(of: Input.self)
        (self.inputs, self.continuation) = (inputs, continuation)
        self.topics = StreamTopics(topics) { (connection, added, removed) async throws(NetworkError) in
            try await source.change(connection, adding: added, removing: removed)
        } onLoss: {
            continuation.yield(.forgotten(link: $0))
        } onRefusal: {
            continuation.yield(.refused)
        }
    }

    var streamState: StreamState { state.withLock { $0.stream } }
    var isCaughtUp: Bool { state.withLock { $0.isCaughtUp } }
    /// Whether the stream has caught up, and its connection shows no sign of being dead. A dead connection may miss
    /// events.
    package var isCertainlyCaughtUp: Bool { state.withLock { $0.isCaughtUp && !$0.isSuspected } }

    /// Records that the reader has taken all missed events of a connection.
    func noteCaughtUp(_ link: Int) { state.withLock { $0.caughtUpLink = link } }

    func stop() { continuation.yield(.stop) }
    func pause() { continuation.yield(.pause) }
    func resume() { continuation.yield(.resume) }

    /// Runs the stream until it ends, or the task is cancelled.
    ///
    /// - Parameter cursor: The position at which the stream continues; `nil` requests the stream without a position.
    func run(after cursor: StreamCursor?) async {
        // Requests that the app made earlier come first, so that a paused stream does not open a connection.
        continuation.yield(.start)
        if let cursor { topics.restore(cursor) }
        var run = Run(
            machine: StreamMachine(
                options, network: network.status.learningKey, isReachable: network.isReachable,
                heartbeats: network.heartbeats, random: random),
            track: NetworkTrack(network.status), intake: EventIntake(after: cursor),
            timer: StreamTimer(network.clock) { [continuation] in continuation.yield(.tick) })
        let statuses = Task { [network, continuation] in
            for await status in network.statuses { continuation.yield(.network(status)) }
        }
        await withTaskCancellationHandler {
            for await input in inputs {
                let actions = await actions(after: input, &run)
                for action in actions { await perform(action, &run) }
                publish(run.machine.state, isSuspected: run.machine.isSuspected)
                run.timer.wait(for: run.machine.deadline)
                if run.machine.state == .ended { break }
            }
        } onCancel: {
            continuation.yield(.stop)
        }
        statuses.cancel()
        run.timer.wait(for: nil)
        await close(&run)
        publish(.ended)
        continuation.finish()
        buffer.finish(nil)
    }

    private struct Run {
        var machine: StreamMachine
        var track: NetworkTrack
        /// The position of the stream. While a connection is open, this is the position at which the connection
        /// started.
        var intake: EventIntake
        var linkCount = 0
        /// The open connection. Its task returns the position at the end of the connection.
        var link: (task: Task<EventIntake, Never>, monitor: LinkMonitor)?
        var timer: StreamTimer
    }

    private func actions(after input: Input, _ run: inout Run) async -> [StreamMachine.Action] {
        let now = network.clock.now
        if let retry = run.link?.monitor.takeRetry() { run.machine.askedToWait(retry) }
        switch input {
        case .start: return run.machine.start()
        case .stop: return run.machine.stop()
        case .pause: return run.machine.pause()
        case .resume: return run.machine.resume(at: now)
        case .tick:
            run.timer.expire()
            return run.machine.tick(at: now, activity: run.link?.monitor.take())
        case .network(let status):
            let isElsewhere = run.track.record(status)
            return run.machine.networkDidChange(
                to: status.learningKey, isReachable: status.isReachable, isElsewhere: isElsewhere, at: now)
        case .forgotten(let link):
            guard link == run.linkCount, run.link != nil else { return [] }
            guard case .superseded? = topics.end(of: link) else { return run.machine.forgotten(at: now) }
            await close(&run)
            return run.machine.ended(.superseded, activity: nil, at: now)
        case .refused:
            onState(run.machine.state)
            return []
        case .opened(let facts, let link):
            guard link == run.linkCount, run.link != nil else { return [] }
            return run.machine.opened(facts, at: now)
        case .continued(let link):
            if link == run.linkCount, run.link != nil { run.machine.continued() }
            return []
        case .probeConfirmed(let link):
            guard link == run.linkCount, let monitor = run.link?.monitor else { return [] }
            return run.machine.tick(at: now, activity: monitor.take())
        case .ended(let failure, let link):
            // If the connection was closed by the client, its end was awaited already.
            guard link == run.linkCount, run.link != nil else { return [] }
            let activity = run.link?.monitor.takeIfCut()
            await close(&run)
            return run.machine.ended(failure, activity: activity, at: now)
        }
    }

    private func perform(_ action: StreamMachine.Action, _ run: inout Run) async {
        switch action {
        case .connect: connect(&run)
        case .disconnect(let reason):
            run.link?.monitor.end = reason
            await close(&run)
        case .probe:
            run.link?.monitor.noteProbe(at: network.clock.now)
            guard let connection = topics.connection else { return }
            let link = run.linkCount
            Task { [source, continuation, topics] in
                let count = topics.confirmedCount
                do throws(NetworkError) {
                    let refused = try await source.change(connection, adding: [], removing: [])
                    topics.probed(connection, refused: refused, since: count)
                } catch {
                    // The server no longer knows the connection. After other errors, the connection may still work.
                    guard error.status == .notFound || error.status == .gone else { return }
                    continuation.yield(.forgotten(link: link))
                }
            }
        case .end(let error): buffer.finish(error)
        }
    }

    private func connect(_ run: inout Run) {
        run.linkCount += 1
        let (number, monitor, heartbeat) = (run.linkCount, LinkMonitor(), run.machine.wantedHeartbeat)
        state.withLock { $0.link = number }
        let reader = LinkReader(
            number: number, source: source, buffer: buffer, clock: network.clock, limits: options.limits,
            monitor: monitor,
            topics: topics, asked: topics.wanted
        ) { [continuation] in
            continuation.yield(.opened($0, link: number))
        } continued: { [continuation] in
            continuation.yield(.continued(link: number))
        } probeConfirmed: { [continuation] in
            continuation.yield(.probeConfirmed(link: number))
        }
        let task = Task { [continuation, intake = run.intake] in
            var intake = intake
            let failure = await reader.follow(&intake, heartbeat: heartbeat)
            continuation.yield(.ended(failure, link: number))
            return intake
        }
        run.link = (task, monitor)
    }

    /// Closes the connection if there is one, and waits for its end, since the next connection starts at the position
    /// that this connection reaches.
    private func close(_ run: inout Run) async {
        guard let link = run.link else { return }
        link.task.cancel()
        run.intake = await link.task.value
        run.link = nil
        topics.closed()
        state.withLock { $0.link = nil }
    }

    private func publish(_ new: StreamState, isSuspected: Bool = false) {
        let isNew = state.withLock { state in
            defer { (state.stream, state.isSuspected) = (new, isSuspected) }
            return state.stream != new || state.isSuspected != isSuspected
        }
        if isNew { onState(new) }
    }
}

extension NetworkStatus {
    /// A key for the facts that were learned about this network.
    fileprivate var learningKey: String { identity ?? link.rawValue }
}
