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
/// The delegate receives one event after the other. The cursor is stored, and the next event is delivered, only after
/// the delegate has returned. When a stream is released, its connection is closed. The stream is `Observable`, so that
/// a SwiftUI view can show its state.
///
/// For code whose next step depends on the events, use the sequence of
/// ``Runway/NetworkLayer/events(of:options:cursors:key:randomness:)`` instead.
@MainActor @Observable
public final class EventStream<E: EventStreamEndpoint>: EventStreaming {
    /// The stream and its parameters.
    public let endpoint: E
    /// The layer over which the stream is opened.
    public let network: NetworkLayer
    /// The delegate that is notified of events. Held weakly.
    public weak var delegate: (any EventStreamDelegate)?
    /// The current state of the stream.
    public private(set) var state = StreamState.idle
    /// The error that ended the stream; `nil` if it has not ended, or ended without an error.
    public private(set) var error: NetworkError?
    /// How the current connection continues the last one; `nil` before the first connection.
    public private(set) var continuity: StreamContinuity?
    /// Whether the stream is connected and the delegate has received all missed events. Always `false` if the server is
    /// not a Runway server, since other servers do not report it.
    ///
    /// If it is `true`, the app has all earlier events of the server, and can send changes that waited for them.
    public private(set) var isCaughtUp = false
    /// The wanted topics, even while the stream is not open; `nil` if the server chooses the topics. They are initially
    /// the endpoint's topics. ``subscribe(to:)`` and ``unsubscribe(from:)`` change them.
    public var topics: Set<String>? { events?.topics ?? wanted }
    /// The wanted topics that the server refused on the last connection. Their events are not delivered. The next
    /// connection requests them again. If the server then allows one of them, the connection starts with
    /// ``StreamReset/topics``.
    public private(set) var refusedTopics: Set<String> = []
    /// The type of the stream's endpoint.
    public var endpointType: any Endpoint.Type { E.self }

    private let options: StreamOptions
    private let cursors: any StreamCursorStore
    private let key: String?
    private var events: EventSequence?
    private var reading: StreamTask?
    /// The wanted topics while there is no event sequence.
    private var wanted: Set<String>?
    /// The number of starts. A late notification of an earlier start has a smaller number, and is ignored.
    private var startCount = 0
    /// Whether the app has stopped the stream. The delegate is not notified until the next start.
    private var isStopped = false

    /// Creates a stream for a controller. Call ``start()`` to open it.
    ///
    /// - Parameters:
    ///   - endpoint: The stream and its parameters.
    ///   - network: The layer over which the stream is opened.
    ///   - delegate: Notified of events; held weakly.
    ///   - options: The rules of reconnection, and the limits; see ``StreamOptions`` for the defaults.
    ///   - cursors: Stores the position in the stream. The default, `nil`, stores it as long as this object exists.
    ///   - key: The key under which `cursors` stores the position. The default, `nil`, derives it from service,
    ///     endpoint and account.
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
                // ``end(with:_:)`` reports the end, after which the stream can be started again.
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

    /// Closes the connection until ``resume()``. Call this function when the app goes into the background.
    public func pause() { events?.pause() }

    /// Opens a paused stream, and checks an open one. Call this function when the app comes to the foreground.
    public func resume() { events?.resume() }

    /// Adds topics without a new connection; see ``EventSequence/subscribe(to:)``. If the stream is not started or has
    /// ended, its next start includes them.
    ///
    /// - Throws:
    ///   - The error of the call if the server refused it (400, 403). The topics are not added, unless the stream was
    ///     started again meanwhile, since the server decides about the topics of each start.
    ///   - `NetworkError.Kind.cancelled` if the task was cancelled. The topics are added nevertheless.
    ///   - `NetworkError.Kind.invalidParameters` if the server chooses the topics of the endpoint.
    public func subscribe(to topics: Set<String>) async throws(NetworkError) {
        guard let events else {
            guard let wanted else { throw .topicsOfTheServer }
            self.wanted = wanted.union(topics)
            return
        }
        do throws(NetworkError) {
            try await events.subscribe(to: topics)
        } catch {
            // If the stream ended meanwhile, its stored topics include the ones that were refused. If it was started
            // again, perhaps for another account, its connection has the server's new decision.
            if self.events == nil { wanted?.subtract(topics.subtracting(events.topics ?? [])) }
            throw error
        }
    }

    /// Removes topics without a new connection. If the stream is not started or has ended, its next start omits them.
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

/// An ``EventStream`` of any endpoint, as delegates receive it.
@MainActor
public protocol EventStreaming: AnyObject {
    /// The type of the stream's endpoint.
    var endpointType: any Endpoint.Type { get }
    /// The current state of the stream.
    var state: StreamState { get }
    /// How the current connection continues the last one; `nil` before the first connection.
    var continuity: StreamContinuity? { get }
    /// Whether the stream is connected and the delegate has received all missed events.
    var isCaughtUp: Bool { get }
    /// The error that ended the stream; `nil` if it has not ended, or ended without an error.
    var error: NetworkError? { get }
}

/// Receives the events of streams, on the main actor. One delegate may serve several streams.
@MainActor
public protocol EventStreamDelegate: AnyObject {
    /// Notifies the delegate of an event.
    func eventStream(_ stream: any EventStreaming, didReceive event: StreamEvent)
    /// Notifies the delegate of a new connection. `continuity` states how it continues the last one. Unless it is
    /// ``StreamContinuity/resumed``, reload the data that the app shows.
    func eventStream(_ stream: any EventStreaming, didConnect continuity: StreamContinuity)
    /// Notifies the delegate that all missed events were received: later ones are new. The default does nothing.
    func eventStreamDidCatchUp(_ stream: any EventStreaming)
    /// Notifies the delegate that the server refuses other wanted topics than before. `topics` is empty if it refuses
    /// none. The default does nothing.
    func eventStream(_ stream: any EventStreaming, didChangeRefusedTopics topics: Set<String>)
    /// Notifies the delegate that the stream ended by itself and does not reconnect. `error` is `nil` if the server
    /// reported that there are no more events.
    func eventStream(_ stream: any EventStreaming, didEndWith error: NetworkError?)
}

extension EventStreamDelegate {
    /// The default, which does nothing.
    public func eventStreamDidCatchUp(_ stream: any EventStreaming) {}
    /// The default, which does nothing.
    public func eventStream(_ stream: any EventStreaming, didChangeRefusedTopics topics: Set<String>) {}
}
