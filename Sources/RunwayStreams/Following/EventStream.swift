public import Observation
public import Runway

/// Follows a stream of events for a controller, and notifies it as its delegate, on the main actor.
///
/// ```swift
/// @MainActor final class ListController: EventStreamDelegate {
///     lazy var events = EventStream(RentalEvents(), on: network, delegate: self)
///     func appear() { events.start() }
///
///     func eventStream(_ stream: any EventStreaming, didReceive event: StreamEvent) { list.update(event) }
///     func eventStream(_ stream: any EventStreaming, didConnect continuity: StreamContinuity) {
///         if continuity != .resumed { reload() }
///     }
///     func eventStream(_ stream: any EventStreaming, didEndWith error: NetworkError?) {}
/// }
/// ```
///
/// The delegate receives one event after the other; the next event, and storing the cursor, wait until it has returned.
/// A stream that is released closes its link. The stream is `Observable`, so that a SwiftUI view can show its state.
/// For code whose next step depends on the events, use the sequence of
/// ``Runway/NetworkLayer/events(of:options:cursors:key:randomness:)`` instead.
@MainActor @Observable
public final class EventStream<E: EventStreamEndpoint>: EventStreaming {
    /// The stream and its parameters.
    public let endpoint: E
    /// The layer that carries the stream.
    public let network: NetworkLayer
    /// The delegate, which is notified of events. Held weakly: keep a reference to it.
    public weak var delegate: (any EventStreamDelegate)?
    /// The present state of the stream.
    public private(set) var state = StreamState.idle
    /// The error that ended the stream; `nil` if it has not ended, or ended without an error.
    public private(set) var error: NetworkError?
    /// The relation of the present connection to the last one; `nil` before the first connection.
    public private(set) var continuity: StreamContinuity?
    /// Whether the stream is connected and the delegate has received all missed events: later events are new. Always
    /// `false` for servers other than Runway's, which do not report it.
    ///
    /// An app with changes that waited for the connection sends them when this is `true`: it then has the server's
    /// earlier events.
    public private(set) var isCaughtUp = false
    /// The wanted topics, even while the stream is not open; `nil` if the server chooses the topics. At first they are
    /// the endpoint's, until ``subscribe(to:)`` and ``unsubscribe(from:)`` change them.
    public var topics: Set<String>? { events?.topics ?? wanted }
    /// The wanted topics that the server does not allow, as reported on the last connection; their events are not
    /// delivered. The next connection requests them again. If the server then allows one of them, the connection begins
    /// with ``StreamReset/topics``.
    public private(set) var refusedTopics: Set<String> = []
    /// The type of the stream's endpoint.
    public var endpointType: any Endpoint.Type { E.self }

    private let options: StreamOptions
    private let cursors: any StreamCursorStore
    private let key: String?
    private var events: EventSequence?
    private var reading: StreamTask?
    /// The wanted topics while the stream has no event sequence.
    private var wanted: Set<String>?
    /// The number of starts, by which late notifications of an earlier start are recognised and ignored.
    private var startCount = 0
    /// Whether the app has stopped the stream: the delegate is not notified until the next start.
    private var isStopped = false

    /// Creates a stream for a controller. ``start()`` opens it.
    ///
    /// - Parameters:
    ///   - endpoint: The stream and its parameters.
    ///   - network: The layer that carries the stream.
    ///   - delegate: Notified of events; held weakly.
    ///   - options: Reconnection and limits; see ``StreamOptions`` for the defaults.
    ///   - cursors: Stores the position in the stream. By default, `nil`, it is stored for as long as this object
    ///     exists.
    ///   - key: The name of the stream in the store. The default, `nil`, is derived from service, endpoint and account.
    public init(
        _ endpoint: E, on network: NetworkLayer, delegate: (any EventStreamDelegate)? = nil,
        options: StreamOptions = StreamOptions(), cursors: (any StreamCursorStore)? = nil, key: String? = nil
    ) {
        self.endpoint = endpoint
        self.network = network
        self.delegate = delegate
        self.options = options
        self.cursors = cursors ?? MemoryStreamCursorStore()
        self.key = key
        wanted = endpoint.topics
    }

    /// Opens the stream with the wanted topics, at the stored cursor. Does nothing if it is open.
    public func start() {
        guard reading == nil else { return }
        startCount += 1
        let start = startCount
        (error, state, isStopped) = (nil, .connecting, false)
        let generator = SystemRandomNumberGenerator()
        let events = network.events(of: endpoint, options, cursors, key: key, topics: wanted, generator) {
            [weak self] state in
            Task { @MainActor [weak self] in
                guard let self, startCount == start, reading != nil else { return }
                // The end is shown by ``end(with:_:)``; after that the stream can be started again.
                if case let state = self.events?.state ?? state, state != .ended { self.state = state }
                isCaughtUp = self.events?.isCaughtUp ?? false
                note(refused: self.events?.refusedTopics ?? [])
            }
        }
        self.events = events
        reading = StreamTask(Task { [weak self] in await Self.read(events, start) { self } })
    }

    private static func read(
        _ events: EventSequence, _ start: Int, for stream: () -> EventStream<E>?
    ) async {
        var failure: NetworkError?
        do throws(NetworkError) {
            var iterator = events.makeAsyncIterator()
            while let element = try await iterator.next() {
                guard let stream = stream(), stream.startCount == start else { return }
                stream.land(element)
            }
        } catch {
            failure = error
        }
        stream()?.end(with: failure, start)
    }

    /// Closes the stream. The delegate receives no further notification.
    public func stop() {
        isStopped = true
        guard reading != nil else { return }
        startCount += 1
        wanted = topics
        (events, reading) = (nil, nil)
        (state, isCaughtUp) = (.ended, false)
    }

    /// Closes the link until ``resume()``: call it when the app goes into the background.
    public func pause() { events?.pause() }

    /// Opens a paused stream, and checks an open one: call it when the app comes to the foreground.
    public func resume() { events?.resume() }

    /// Adds topics without a new connection; see ``EventSequence/subscribe(to:)``. If the stream is not started or has
    /// ended, the next start has the topics.
    ///
    /// - Throws: The error of a call that the server refused (400, 403): the topics are not added, unless the stream
    ///   ended and was started again meanwhile, since the server decides anew about the topics of each start.
    ///   `NetworkError.Kind.cancelled` if the task was cancelled: the topics are added nevertheless.
    ///   `NetworkError.Kind.invalidParameters` if the endpoint leaves the choice to the server.
    public func subscribe(to topics: Set<String>) async throws(NetworkError) {
        guard let events else {
            guard let wanted else { throw .topicsOfTheServer }
            self.wanted = wanted.union(topics)
            return
        }
        do throws(NetworkError) {
            try await events.subscribe(to: topics)
        } catch {
            // If the stream ended meanwhile, the topics that were wanted then include those that are refused now. After
            // another start, perhaps for another account, its own connection has the server's decision.
            if self.events == nil { wanted?.subtract(topics.subtracting(events.topics ?? [])) }
            throw error
        }
    }

    /// Removes topics without a new connection. If the stream is not started or has ended, the next start omits them.
    ///
    /// - Throws: The errors of ``subscribe(to:)``. The topics are removed in any case.
    public func unsubscribe(from topics: Set<String>) async throws(NetworkError) {
        if let events { return try await events.unsubscribe(from: topics) }
        guard let wanted else { throw .topicsOfTheServer }
        self.wanted = wanted.subtracting(topics)
        note(refused: refusedTopics.subtracting(topics))
    }

    private func land(_ element: StreamElement) {
        switch element {
        case .event(let event): delegate?.eventStream(self, didReceive: event)
        case .continuity(let continuity):
            self.continuity = continuity
            let start = startCount
            note(refused: events?.refusedTopics ?? [])
            // The delegate may have stopped the stream.
            guard startCount == start else { return }
            delegate?.eventStream(self, didConnect: continuity)
        case .caughtUp:
            isCaughtUp = events?.isCaughtUp ?? false
            if isCaughtUp { delegate?.eventStreamDidCatchUp(self) }
        }
    }

    private func note(refused: Set<String>) {
        guard refused != refusedTopics else { return }
        refusedTopics = refused
        if !isStopped { delegate?.eventStream(self, didChangeRefusedTopics: refused) }
    }

    private func end(with error: NetworkError?, _ start: Int) {
        guard startCount == start, reading != nil else { return }
        wanted = topics
        (events, reading) = (nil, nil)
        (state, isCaughtUp) = (.ended, false)
        self.error = error
        delegate?.eventStream(self, didEndWith: error)
    }
}

/// A stream of any endpoint, as passed to delegates.
@MainActor
public protocol EventStreaming: AnyObject {
    /// The type of the stream's endpoint.
    var endpointType: any Endpoint.Type { get }
    /// The present state of the stream.
    var state: StreamState { get }
    /// The relation of the present connection to the last one; `nil` before the first connection.
    var continuity: StreamContinuity? { get }
    /// Whether the stream is connected and the delegate has received all missed events.
    var isCaughtUp: Bool { get }
    /// The error that ended the stream; `nil` if it has not ended, or ended without an error.
    var error: NetworkError? { get }
}

/// A delegate that is notified of the events of streams, on the main actor. It may serve several streams.
@MainActor
public protocol EventStreamDelegate: AnyObject {
    /// Called when an event arrived.
    func eventStream(_ stream: any EventStreaming, didReceive event: StreamEvent)
    /// Called when a connection began. `continuity` states its relation to the last one. Unless it is
    /// ``StreamContinuity/resumed``, reload the data that the app shows.
    func eventStream(_ stream: any EventStreaming, didConnect continuity: StreamContinuity)
    /// Called when all missed events have been received: later events are new. Does nothing by default.
    func eventStreamDidCatchUp(_ stream: any EventStreaming)
    /// Called when the wanted topics that the server does not allow have changed. `topics` is empty if it allows all.
    /// Does nothing by default.
    func eventStream(_ stream: any EventStreaming, didChangeRefusedTopics topics: Set<String>)
    /// Called when the stream ended by itself, and does not reconnect. `error` is `nil` if the server stated that there
    /// are no more events.
    func eventStream(_ stream: any EventStreaming, didEndWith error: NetworkError?)
}

extension EventStreamDelegate {
    /// Does nothing.
    public func eventStreamDidCatchUp(_ stream: any EventStreaming) {}
    /// Does nothing.
    public func eventStream(_ stream: any EventStreaming, didChangeRefusedTopics topics: Set<String>) {}
}
