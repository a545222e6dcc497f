import HTTPTypes
import Runway
import Synchronization

/// Performs what the machine of a stream decides: opens and closes links, one at a time, and wakes at its deadlines.
///
/// All inputs pass through one queue, and one task acts on them in order.
final class StreamDriver: Sendable {
    private enum Input: Sendable {
        case start, stop, pause, resume, tick
        case network(NetworkStatus)
        case report(LinkReader.Report, link: Int)
        case ended(LinkFailure, link: Int)
        case forgotten(String)
    }

    private struct State {
        var topics: Set<String>?
        /// The id of the open connection; `nil` while no connection is open, and for servers other than Runway's.
        var connection: String?
        var stream = StreamState.idle
        /// The number of the link that is open or being opened; `nil` while there is no such link.
        var link: Int?
        /// The last link of which the reader has taken everything that was replayed.
        var caughtUpLink: Int?
    }

    let buffer: StreamBuffer
    private let source: any LinkSource
    private let network: NetworkLayer
    private let options: StreamOptions
    private let random: any RandomNumberGenerator & Sendable
    private let inputs: AsyncStream<Input>
    private let continuation: AsyncStream<Input>.Continuation
    private let onState: @Sendable (StreamState) -> Void
    /// Guards the wanted topics, the open connection and the state that the app sees.
    private let state: Mutex<State>

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
        state = Mutex(State(topics: topics))
        (inputs, continuation) = AsyncStream.makeStream(of: Input.self)
        continuation.yield(.start)
    }

    var streamState: StreamState { state.withLock { $0.stream } }
    var topics: Set<String>? { state.withLock { $0.topics } }
    var isCaughtUp: Bool { state.withLock { $0.link != nil && $0.link == $0.caughtUpLink } }

    /// The reader has taken everything that was replayed on a link.
    func noteCaughtUp(_ link: Int) { state.withLock { $0.caughtUpLink = link } }

    func stop() { continuation.yield(.stop) }
    func pause() { continuation.yield(.pause) }
    func resume() { continuation.yield(.resume) }

    /// Changes the topics, on the open connection if there is one.
    func change(adding added: Set<String>, removing removed: Set<String>) async throws(NetworkError) {
        let change = state.withLock { state -> (isPossible: Bool, connection: String?) in
            guard let topics = state.topics else { return (false, nil) }
            state.topics = topics.union(added).subtracting(removed)
            return (true, state.connection)
        }
        guard change.isPossible else {
            throw NetworkError(
                .invalidParameters, in: .validating,
                "The server chooses the topics of this stream: an endpoint that names its topics can change them.",
                sending: .notSent)
        }
        guard let connection = change.connection else { return }
        try await send(connection, adding: added, removing: removed)
    }

    private func send(
        _ connection: String, adding added: Set<String>, removing removed: Set<String>
    ) async throws(NetworkError) {
        do throws(NetworkError) {
            try await source.change(connection, adding: added, removing: removed)
        } catch {
            // The server has no such connection any more. The next one is asked for with the topics as they are then.
            guard error.status == .notFound || error.status == .gone else { throw error }
            continuation.yield(.forgotten(connection))
        }
    }

    /// Runs the stream until it ends, or the task is cancelled.
    ///
    /// - Parameter cursor: Where it continues; `nil` if it begins anew.
    func run(after cursor: StreamCursor?) async {
        var run = Run(
            machine: StreamMachine(
                options, network: network.status.learningKey, isReachable: network.isReachable,
                heartbeats: network.heartbeats, random: random),
            track: NetworkTrack(network.status), intake: EventIntake(after: cursor))
        let statuses = Task { [network, continuation] in
            for await status in network.statuses { continuation.yield(.network(status)) }
        }
        await withTaskCancellationHandler {
            for await input in inputs {
                let actions = await actions(after: input, &run)
                for action in actions { await perform(action, &run) }
                publish(run.machine.state)
                arm(&run)
                if run.machine.state == .ended { break }
            }
        } onCancel: {
            continuation.yield(.stop)
        }
        statuses.cancel()
        run.timer?.task.cancel()
        await close(&run)
        publish(.ended)
        continuation.finish()
        buffer.finish(nil)
    }

    /// What belongs to the task that runs the stream.
    private struct Run {
        var machine: StreamMachine
        var track: NetworkTrack
        /// The place of the stream; while a link is open, the one at which it began.
        var intake: EventIntake
        var linkCount = 0
        /// The link, whose task returns the place at its end.
        var link: (task: Task<EventIntake, Never>, life: LinkLife)?
        var timer: (task: Task<Void, Never>, deadline: Duration)?
    }

    private func actions(after input: Input, _ run: inout Run) async -> [StreamMachine.Action] {
        let now = network.clock.now
        switch input {
        case .start: return run.machine.start()
        case .stop: return run.machine.stop()
        case .pause: return run.machine.pause()
        case .resume: return run.machine.resume(at: now)
        case .tick: return run.machine.tick(at: now, life: run.link?.life.take())
        case .network(let status):
            let isElsewhere = run.track.leadsElsewhere(status)
            return run.machine.networkDidChange(
                to: status.learningKey, isReachable: status.isReachable, isElsewhere: isElsewhere, at: now)
        case .forgotten(let connection):
            guard state.withLock({ $0.connection }) == connection else { return [] }
            return run.machine.forgotten(at: now)
        case .report(let report, let link):
            guard link == run.linkCount, run.link != nil else { return [] }
            return actions(after: report, &run, at: now)
        case .ended(let failure, let link):
            // A link that was closed has been waited for already.
            guard link == run.linkCount, run.link != nil else { return [] }
            await close(&run)
            return run.machine.ended(failure, at: now)
        }
    }

    private func actions(
        after report: LinkReader.Report, _ run: inout Run, at now: Duration
    ) -> [StreamMachine.Action] {
        switch report {
        case .opened(let facts): return run.machine.opened(facts, at: now)
        case .retry(let time):
            run.machine.askedToWait(time)
            return []
        case .connection(let connection, let sent):
            let wanted = state.withLock { state in
                state.connection = connection
                return state.topics
            }
            // Topics may have changed while the link was being opened.
            if let wanted, wanted != sent {
                let known = sent ?? []
                Task {
                    try? await send(connection, adding: wanted.subtracting(known), removing: known.subtracting(wanted))
                }
            }
            return []
        }
    }

    private func perform(_ action: StreamMachine.Action, _ run: inout Run) async {
        switch action {
        case .connect: connect(&run)
        case .disconnect(let reason):
            run.link?.life.end = reason
            await close(&run)
        case .probe:
            guard let connection = state.withLock({ $0.connection }) else { return }
            Task { try? await send(connection, adding: [], removing: []) }
        case .end(let error): buffer.finish(error)
        }
    }

    private func connect(_ run: inout Run) {
        run.linkCount += 1
        let (number, life, heartbeat) = (run.linkCount, LinkLife(), run.machine.wantedHeartbeat)
        state.withLock { $0.link = number }
        let reader = LinkReader(
            number: number, source: source, buffer: buffer, clock: network.clock, limits: options.limits, life: life,
            topics: topics,
            report: { [continuation] in continuation.yield(.report($0, link: number)) },
            wants: { [weak self] topic in self?.topics?.contains(topic) ?? true })
        let task = Task { [continuation, intake = run.intake] in
            var intake = intake
            let failure = await reader.follow(&intake, heartbeat: heartbeat)
            continuation.yield(.ended(failure, link: number))
            return intake
        }
        run.link = (task, life)
    }

    /// Closes the link, if there is one, and waits until it has ended: the next one begins at its place.
    private func close(_ run: inout Run) async {
        guard let link = run.link else { return }
        link.task.cancel()
        run.intake = await link.task.value
        run.link = nil
        state.withLock { ($0.connection, $0.link) = (nil, nil) }
    }

    private func publish(_ new: StreamState) {
        let isNew = state.withLock { state in
            defer { state.stream = new }
            return state.stream != new
        }
        if isNew { onState(new) }
    }

    private func arm(_ run: inout Run) {
        let deadline = run.machine.deadline
        if run.timer?.deadline == deadline { return }
        run.timer?.task.cancel()
        run.timer = deadline.map { deadline in
            let task = Task { [network, continuation] in
                do { try await network.clock.sleep(until: deadline) } catch { return }
                continuation.yield(.tick)
            }
            return (task, deadline)
        }
    }
}

extension NetworkStatus {
    /// What distinguishes this network from others, for what is learned of it.
    fileprivate var learningKey: String { identity ?? link.rawValue }
}
