import Foundation
public import Metrics
import NIOCore
import Synchronization

/// Delivers published events to all clients that follow the topics of the events. Stores the last events for clients
/// that reconnect.
///
/// ```swift
/// let hub = try await EventHub(name: "listings", log: SQLiteEventLog(file: file))
/// EventStreamRoute(hub) { _, _ in EventPermission() }.add(to: router, path: "events")
/// try await hub.publish(PublishedEvent(topic: "rentals", type: "added", data: #"{"id":7}"#))
/// ```
///
/// The clients in this example have neither an owner nor a source, so they all count as one source: the 65th connection
/// is refused with 429. To allow more, return an owner, pass ``EventStreamRoute`` a `source`, or raise
/// ``EventHubOptions/maximumConnectionsPerSource``.
///
/// An event is stored before any client receives it. All clients receive events in the order of the offsets.
///
/// The metrics are `runway_event_streams` (open), `runway_events_published_total`, `runway_events_delivered_total`,
/// `runway_event_streams_ended_total` by reason and `runway_event_streams_refused_total` by reason.
public final class EventHub: Sendable {
    struct Pending {
        let event: PublishedEvent
        /// The continuation of the task that publishes the event; `nil` if the hub itself publishes it.
        let continuation: CheckedContinuation<Int64, any Error>?
    }

    struct State {
        var range: EventLogRange
        var connections: [String: EventConnection] = [:]
        /// The connections that have received all earlier events and receive new ones immediately.
        var live: [String: EventConnection] = [:]
        var sources: [String: Int] = [:]
        /// The app's events that are not stored yet. Presence events are in ``presence`` and are not counted here.
        var pending: [Pending] = []
        var pendingByteCount = 0
        var isWriting = false
        var isTicking = false
        var isDraining = false
        /// A stream that is finished when the hub is draining and the last connection has ended; `nil` unless the hub's
        /// service waits for it.
        var onEmpty: AsyncStream<Void>.Continuation?
        /// The present members by topic; `nil` if the hub publishes no presence.
        var presence: Presence?
        /// The presence that is recorded in a shared log; `nil` if the log is not shared or the hub publishes no
        /// presence.
        var sharedPresence: SharedPresence?
        /// Whether events of other processes are being read. `isWoken` says whether more may have been stored since.
        var isReading = false
        var isWoken = false
        /// The connections that wait until the events of other processes have been read, by connection id. They receive
        /// whether the read succeeded.
        var readers: [String: CheckedContinuation<Bool, Never>] = [:]
        /// Pending probes of connections in other processes. They receive the offset of the connection.
        var probes: [String: (owner: String, continuation: CheckedContinuation<Int64?, Never>)] = [:]
        /// The number of reads of the log in progress, including those that no connection awaits any longer.
        var readCount = 0
    }

    /// The maximum number of reads in progress that no connection awaits. Beyond it, new connections are refused.
    private static let maximumAbandonedReadCount = 64

    /// The maximum number of events stored, and of presence changes recorded, in one step.
    static let maximumBatchCount = 256
    /// The size limit of the data of one step: 4 MiB. Only the last event of a step may exceed it.
    static let maximumBatchByteCount = 4 << 20

    /// The name of the stream, which is also sent to clients.
    public let name: String
    let log: any EventLog
    let options: EventHubOptions
    let clock: HubClock
    /// The epoch of the event offsets. It changes when the log restarts its offsets.
    public let epoch: String
    let metrics: HubMetrics
    /// The id under which presence is published: random for each process, or the epoch of a shared log. Clients discard
    /// members that were published under another id.
    let runID: String
    /// Guards the range, the connections, the present members and the pending events.
    let state: Mutex<State>
    private let listening: StreamListening

    /// Opens a hub.
    ///
    /// - Parameters:
    ///   - name: The name of the stream: letters, digits and `._-`.
    ///   - log: Stores the last events. The default stores 10,000 in memory.
    ///   - options: The limits; see ``EventHubOptions`` for the defaults.
    ///   - clock: Times heartbeats and lifetimes. The default is the system's clock; tests pass a manual clock.
    ///   - metrics: Creates the metrics. The default is the process-wide factory.
    /// - Throws: The error of the log.
    public init(
        name: String, log: any EventLog = MemoryEventLog(), options: EventHubOptions = EventHubOptions(),
        clock: some Clock<Duration> = ContinuousClock(), metrics: any MetricsFactory = MetricsSystem.factory
    ) async throws {
        precondition(PublishedEvent.isTopic(name), "The name of a stream has letters, digits and ._- alone")
        self.name = name
        self.log = log
        self.options = options
        self.clock = HubClock(clock)
        let range = try await log.range()
        epoch = range.epoch
        self.metrics = HubMetrics(hub: name, metrics)
        let isShared = log is any SharedEventLog
        runID = isShared ? range.epoch : UUID().uuidString.lowercased()
        state = Mutex(
            State(
                range: range, presence: options.presenceGrace.map { _ in Presence(options) },
                sharedPresence: isShared ? options.presenceGrace.map { SharedPresence(grace: $0) } : nil))
        listening = StreamListening()
        if let shared = log as? any SharedEventLog { listening.begin(shared) { [weak self] in self?.take($0) } }
    }

    /// Whether the hub publishes which members are present.
    var publishesPresence: Bool { options.presenceGrace != nil }

    /// The number of open connections.
    public var connectionCount: Int { state.withLock { $0.connections.count } }

    /// Stores an event and sends it to the clients that follow its topic.
    ///
    /// - Returns: The offset of the event.
    /// - Throws: ``EventHubError/invalidEvent`` or ``EventHubError/tooManyPending``; no client then receives the event.
    ///   Throws the error of the log otherwise; the event may nevertheless be stored and sent, for example if the
    ///   connection to a database was lost during the commit.
    @discardableResult
    public func publish(_ event: PublishedEvent) async throws -> Int64 {
        let byteCount = event.data.utf8.count
        guard event.isValid, byteCount <= options.maximumEventByteCount else {
            throw EventHubError.invalidEvent
        }
        return try await withCheckedThrowingContinuation { continuation in
            let (isFull, starts) = state.withLock { state in
                guard state.pending.count < options.maximumPendingEvents,
                    state.pending.isEmpty || state.pendingByteCount + byteCount <= options.maximumPendingByteCount
                else { return (true, false) }
                state.pending.append(Pending(event: event, continuation: continuation))
                state.pendingByteCount += byteCount
                defer { state.isWriting = true }
                return (false, !state.isWriting)
            }
            if isFull { return continuation.resume(throwing: EventHubError.tooManyPending) }
            if starts { Task { await write() } }
        }
    }

    /// Stores all pending events, many in one step.
    func write() async {
        while true {
            let (changes, batch) = state.withLock { state in
                let changes = state.nextPresence(at: clock.now)
                let presence = changes.map { Pending(event: $0.event(of: runID), continuation: nil) }
                let batch = presence + state.takePending(upTo: Self.maximumBatchCount - presence.count)
                if batch.isEmpty { state.isWriting = false }
                return (changes, batch)
            }
            if batch.isEmpty { return }
            do {
                let range = try await log.append(batch.map(\.event))
                metrics.published.increment(by: batch.count)
                // Events of other processes may be in between, so all events are read from the log and delivered in the
                // log's order.
                if log is any SharedEventLog { wake() } else { deliver(batch.map(\.event), range) }
                let first = range.last - Int64(batch.count) + 1
                for (index, pending) in batch.enumerated() {
                    pending.continuation?.resume(returning: first + Int64(index))
                }
            } catch {
                state.withLock { $0.presence?.restore(changes, at: clock.now) }
                for pending in batch { pending.continuation?.resume(throwing: error) }
            }
        }
    }

    func deliver(_ events: [PublishedEvent], _ range: EventLogRange) {
        let live = state.withLock { state in
            state.range = range
            return Array(state.live.values)
        }
        var count = 0
        for (index, event) in events.enumerated() {
            let offset = range.last - Int64(events.count - 1 - index)
            let frame = EventFrame.event(event, epoch, offset)
            for connection in live where connection.offer(frame, topic: event.topic, offset) { count += 1 }
        }
        metrics.delivered.increment(by: count)
    }
}

extension EventHub {
    /// The range of events that can be replayed.
    var range: EventLogRange { state.withLock { $0.range } }

    func connection(_ id: String) -> EventConnection? { state.withLock { $0.connections[id] } }

    /// Registers a connection.
    ///
    /// - Throws: ``EventHubError`` if there are too many connections or the server is shutting down.
    func open(_ connection: EventConnection) throws(EventHubError) {
        let (refusal, starts) = state.withLock { state -> (EventHubError?, Bool) in
            if state.isDraining { return (.draining, false) }
            // Each abandoned read occupies the log until it returns, even if its connection has ended.
            if state.readCount > state.connections.count + Self.maximumAbandonedReadCount { return (.log, false) }
            if state.connections.count >= options.maximumConnections { return (.tooManyConnections, false) }
            let count = state.sources[connection.source] ?? 0
            if count >= options.maximumConnectionsPerSource { return (.tooManyOfSource, false) }
            state.sources[connection.source] = count + 1
            state.connections[connection.id] = connection
            defer { state.isTicking = true }
            return (nil, !state.isTicking)
        }
        if let refusal {
            metrics.refused(refusal.description)
            throw refusal
        }
        metrics.open.record(connectionCount)
        if starts { Task { await tick() } }
    }

    /// Marks a connection as live if it has received all earlier events, so that it receives new events at once.
    /// Returns whether it is live.
    func goLive(_ connection: EventConnection) -> Bool {
        let (isLive, starts) = state.withLock { state in
            guard connection.offset >= state.range.last else { return (false, false) }
            state.live[connection.id] = connection
            connection.beginLive()
            return (true, state.follow(connection, at: clock.now))
        }
        if starts { Task { await write() } }
        return isLive
    }

    func close(_ connection: EventConnection) {
        let (count, onEmpty) = state.withLock { state -> (Int?, AsyncStream<Void>.Continuation?) in
            guard state.connections.removeValue(forKey: connection.id) != nil else { return (nil, nil) }
            state.live[connection.id] = nil
            state.presence?.end(connection.id, at: clock.now)
            let count = (state.sources[connection.source] ?? 1) - 1
            state.sources[connection.source] = count > 0 ? count : nil
            return (state.connections.count, state.connections.isEmpty ? state.onEmpty : nil)
        }
        onEmpty?.finish()
        guard let count else { return }
        metrics.open.record(count)
        metrics.ended((connection.end ?? .disconnected).rawValue)
    }

    /// Checks the connections every second, as long as there are connections or members that have yet to leave.
    private func tick() async {
        while true {
            try? await clock.sleep(EventConnection.tickTime)
            let now = clock.now
            let (connections, starts, records, isOver) = state.withLock { state in
                let starts = state.tickPresence(at: now)
                let records = state.beginRecording(at: now)
                let isOver = state.connections.isEmpty && state.presence?.deadline == nil
                if isOver { state.isTicking = false }
                return (Array(state.connections.values), starts, records, isOver)
            }
            if starts { Task { await write() } }
            if records { Task { await recordPresence() } }
            if isOver { return }
            for connection in connections { connection.tick(at: now, options) }
        }
    }
}

extension EventHub.State {
    /// Removes and returns the app's events for the next step.
    fileprivate mutating func takePending(upTo maximumCount: Int) -> [EventHub.Pending] {
        var (count, byteCount) = (0, 0)
        while count < min(maximumCount, pending.count), byteCount < EventHub.maximumBatchByteCount {
            byteCount += pending[count].event.data.utf8.count
            count += 1
        }
        let taken = Array(pending.prefix(count))
        pending.removeFirst(count)
        pendingByteCount -= byteCount
        return taken
    }
}

/// A type-erased monotonic clock.
struct HubClock: Sendable {
    private let read: @Sendable () -> Duration
    private let wait: @Sendable (Duration) async throws -> Void

    init<C: Clock>(_ clock: C) where C.Duration == Duration {
        let origin = clock.now
        read = { origin.duration(to: clock.now) }
        wait = { try await clock.sleep(until: clock.now.advanced(by: $0), tolerance: nil) }
    }

    var now: Duration { read() }
    func sleep(_ duration: Duration) async throws { try await wait(duration) }
}

struct HubMetrics: Sendable {
    private let hub: String
    private let factory: any MetricsFactory
    let open: Gauge
    let published: Counter
    let delivered: Counter

    init(hub: String, _ factory: any MetricsFactory) {
        self.hub = hub
        self.factory = factory
        let dimensions = [("hub", hub)]
        open = Gauge(label: "runway_event_streams", dimensions: dimensions, factory: factory)
        published = Counter(label: "runway_events_published_total", dimensions: dimensions, factory: factory)
        delivered = Counter(label: "runway_events_delivered_total", dimensions: dimensions, factory: factory)
    }

    func ended(_ reason: String) { count("runway_event_streams_ended_total", reason) }
    func refused(_ reason: String) { count("runway_event_streams_refused_total", reason) }

    private func count(_ label: String, _ reason: String) {
        Counter(label: label, dimensions: [("hub", hub), ("reason", reason)], factory: factory).increment()
    }
}
