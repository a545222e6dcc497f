public import Runway
import Synchronization

/// The events of a stream as a sequence, for code whose next step depends on them: scripts, servers, tests.
///
/// ```swift
/// for try await element in network.events(of: RentalEvents()) {
///     switch element {
///     case .event(let event): print(event.type, event.text)
///     case .continuity(let continuity): print(continuity)
///
///     case .caughtUp: print("what follows is new")
///     }
/// }
/// ```
///
/// The stream is opened when an iteration starts. It is closed when the iterator is released or the stream ends. The
/// stream reconnects by itself; every connection begins with ``StreamElement/continuity(_:)``. A slow reader slows the
/// server down, see ``StreamOptions/maximumBufferedByteCount``.
///
/// An event counts as processed when the next one is requested. Only then is the cursor stored. A sequence can be read
/// only once: a second iteration ends at once.
public struct EventSequence: AsyncSequence, Sendable {
    /// The elements of the sequence.
    public typealias Element = StreamElement
    /// The error that ended the stream.
    public typealias Failure = NetworkError

    package let driver: StreamDriver
    private let cursors: any StreamCursorStore
    private let key: String
    private let isRead = ReadMark()

    init(_ driver: StreamDriver, cursors: any StreamCursorStore, key: String) {
        self.driver = driver
        self.cursors = cursors
        self.key = key
    }

    /// The current state of the stream.
    public var state: StreamState { driver.streamState }
    /// Whether the stream is connected and all missed events were returned. Always `false` if the server is not a
    /// Runway server, since other servers do not report it.
    public var isCaughtUp: Bool { driver.isCaughtUp }
    /// The wanted topics; `nil` if the server chooses the topics.
    public var topics: Set<String>? { driver.topics.wanted }
    /// The wanted topics that the server refused on the last connection. Their events are not delivered. The next
    /// connection requests them again. If the server then allows one of them, the connection starts with
    /// ``StreamReset/topics``.
    public var refusedTopics: Set<String> { driver.topics.refused }

    /// Ends the stream. The iteration returns the events received so far, and then `nil`.
    public func stop() { driver.stop() }

    /// Closes the connection until ``resume()``. Call this function when the app goes into the background. Received
    /// events can still be read.
    public func pause() { driver.pause() }

    /// Opens a paused stream, and checks an open one. Call this function when the app comes to the foreground.
    public func resume() { driver.resume() }

    /// Adds topics without a new connection. Each event of these topics that is published after the function returns is
    /// delivered, or is part of a reported gap.
    ///
    /// If the call to the server fails, or the server is not a Runway server, the stream reconnects with all topics.
    /// While no connection is open, the next connection has the topics.
    ///
    /// - Throws: The error of the call if the server refused it (400, 403). The topics are not added then.
    ///   `NetworkError.Kind.cancelled` if the task was cancelled. The topics are added nevertheless.
    public func subscribe(to topics: Set<String>) async throws(NetworkError) {
        try await driver.topics.change(adding: topics, removing: [])
    }

    /// Removes topics without a new connection. Their events are no longer delivered. Changes are sent to the server in
    /// the order of the calls.
    ///
    /// - Throws: The errors of ``subscribe(to:)``. The topics are removed in any case.
    public func unsubscribe(from topics: Set<String>) async throws(NetworkError) {
        try await driver.topics.change(adding: [], removing: topics)
    }

    /// Starts the iteration. Only the first iterator receives events.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(driver: driver, cursors: cursors, key: key, isFirst: isRead.set())
    }

    /// The iterator of an event sequence.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let driver: StreamDriver
        private let cursors: any StreamCursorStore
        private let key: String
        private let isFirst: Bool
        private var running: StreamTask?
        /// The position after the last returned element; `nil` if it is stored already.
        private var taken: StreamCursor?

        fileprivate init(driver: StreamDriver, cursors: any StreamCursorStore, key: String, isFirst: Bool) {
            (self.driver, self.cursors, self.key, self.isFirst) = (driver, cursors, key, isFirst)
        }

        /// Waits for the next element. Returns `nil` at the end of the stream, and when the task is cancelled.
        ///
        /// - Throws: The error that ended the stream, such as a refusal by the server.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(NetworkError) -> StreamElement? {
            guard isFirst else { return nil }
            if let taken {
                await cursors.store(taken, for: key)
                self.taken = nil
            }
            if running == nil {
                let cursor = await cursors.cursor(for: key)
                running = StreamTask(Task { [driver] in await driver.run(after: cursor) })
            }
            while let entry = try await driver.buffer.next() {
                if let element = entry.element {
                    taken = entry.cursor
                    if case .caughtUp = element { driver.noteCaughtUp(entry.link) }
                    return element
                }
                await cursors.store(entry.cursor, for: key)
            }
            return nil
        }
    }
}

/// Lets only the first iteration of a sequence read.
final class ReadMark: Sendable {
    private let isSet = Atomic(false)

    /// Sets the flag. Returns `false` if it was set before.
    func set() -> Bool { !isSet.exchange(true, ordering: .relaxed) }
}

/// A task that is cancelled when this object is released.
package final class StreamTask: Sendable {
    private let task: Task<Void, Never>

    package init(_ task: Task<Void, Never>) { self.task = task }

    deinit { task.cancel() }
}

extension NetworkLayer {
    /// Returns the events of a stream; see ``EventSequence``.
    ///
    /// - Parameters:
    ///   - endpoint: The stream and its parameters.
    ///   - options: The rules of reconnection, and the limits; see ``StreamOptions`` for the defaults.
    ///   - cursors: Stores the position in the stream. With the default, `nil`, the stream starts again with each start
    ///     of the app.
    ///   - key: The key under which `cursors` stores the position. The default, `nil`, derives it from the service, its
    ///     environment, the endpoint with its path, parameters and topics, and the account.
    ///   - randomness: Randomises delays. The default is the system's generator; a test passes a seeded one.
    public func events<E: EventStreamEndpoint>(
        of endpoint: E, options: StreamOptions = StreamOptions(), cursors: (any StreamCursorStore)? = nil,
        key: String? = nil, randomness: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
    ) -> EventSequence {
        events(of: endpoint, options, cursors, key: key, topics: endpoint.topics, randomness) { _ in }
    }

    /// - Parameter onState: Called when one of these has changed: the stream's state, whether its connection may be
    ///   dead, or the refused topics.
    package func events<E: EventStreamEndpoint>(
        of endpoint: E, _ options: StreamOptions, _ cursors: (any StreamCursorStore)?, key: String?,
        topics: Set<String>?, _ randomness: any RandomNumberGenerator & Sendable,
        onState: @escaping @Sendable (StreamState) -> Void
    ) -> EventSequence {
        let driver = StreamDriver(
            EndpointLinks(
                network: self, stream: endpoint, account: StreamAccount("stream", of: E.service, on: self),
                paddingByteCount: StreamOptions.paddingByteCount),
            on: self, topics: topics, options, random: randomness, onState: onState)
        return EventSequence(driver, cursors: cursors ?? MemoryStreamCursorStore(), key: key ?? cursorKey(of: endpoint))
    }

    /// Returns a storage key that is unique to the endpoint, its parameters and topics, the environment and the
    /// account.
    private func cursorKey<E: EventStreamEndpoint>(of endpoint: E) -> String {
        let settings = settings(of: E.service)
        let parameters = ((try? endpoint.parameters) ?? [:]).map { "\($0.name)=\($0.value)" }.sorted()
        let topics = endpoint.topics.map { $0.sorted().joined(separator: ",") } ?? "*"
        return [
            E.service.name, "\(settings.environment)", E.name, endpoint.path.percentEncoded,
            parameters.joined(separator: "&"), topics, settings.account ?? "",
        ].joined(separator: "/")
    }
}
