import Runway
import RunwayStreams
import RunwayTesting
import StreamFixtures
import Synchronization

/// A layer over streams that a test plays, and the stream that one reader follows.
final class FollowedStream: Sendable {
    let clock = ManualClock()
    let server = FakeEvents()
    let records = RecordCollector()
    let reception = Reception()
    let network: NetworkLayer
    let events: EventSequence
    private let task: Task<NetworkError?, Never>

    init(
        _ topics: Set<String>? = ["a"], grace: ScriptedGrace? = nil, after cursor: String = "",
        of followed: Set<String>? = nil, without refused: Set<String> = [], wakingEarly: Bool = false,
        prepare: (FakeEvents) -> Void = { _ in }
    ) {
        prepare(server)
        network = NetworkLayer(
            transport: server, pipeline: .tested,
            clock: wakingEarly ? LayerClock(EarlyClock(clock)) : LayerClock(clock), sinks: [records],
            status: SettableNetworkStatus(), grace: grace)
        network.configure(Newsroom.self) { $0.baseURLs = [.release: "https://news.example"] }
        let cursors = MemoryStreamCursorStore()
        if !cursor.isEmpty {
            let place = StreamCursor(
                stream: "news", lastEventID: cursor, topics: followed, refusedTopics: refused)
            cursors.store(place, for: "news")
        }
        events = network.events(of: News(topics), cursors: cursors, key: "news", randomness: SeededGenerator(seed: 1))
        task = reception.follow(events)
    }

    deinit { task.cancel() }

    /// The link of a number, from 1. The clock is advanced to the end of the wait for it.
    func link(_ number: Int) async throws -> FakeLink {
        let limit = waitLimit
        try await waitUntil("link \(number)") {
            server.links.count >= number
        } meanwhile: {
            clock.advanceToDeadline(upTo: limit)
        }
        return server.links[number - 1]
    }

    /// The first link, which begins at a place and has been followed by the reader.
    func openedLink(at offset: Int = 7) async throws -> FakeLink {
        let link = try await link(1)
        link.open("reset", at: offset)
        try await reception.wait(forConnections: 1)
        return link
    }

    /// After the end of any wait of these tests between two links, and before a link that was just opened is suspected.
    var waitLimit: ManualClock.Instant { clock.now.advanced(by: .seconds(5)) }

    /// Waits for the end, and returns the error.
    func end() async -> NetworkError? { await task.value }
}

/// What one client received, in order.
final class Reception: Sendable {
    private let received = Mutex<(events: [String], continuities: [StreamContinuity], log: [String])>(([], [], []))
    private let count = AwaitedValue(0)
    private let connections = AwaitedValue(0)
    private let catchUps = AwaitedValue(0)

    var events: [String] { received.withLock { $0.events } }
    var continuities: [StreamContinuity] { received.withLock { $0.continuities } }
    /// Everything that was received, in words.
    var log: [String] { received.withLock { $0.log } }

    func take(_ element: StreamElement) {
        switch element {
        case .event(let event):
            let total = received.withLock { received in
                received.events.append(event.text)
                received.log.append(event.text)
                return received.events.count
            }
            count.update { $0 = total }
        case .continuity(let continuity):
            let total = received.withLock { received in
                received.continuities.append(continuity)
                received.log.append("\(continuity)")
                return received.continuities.count
            }
            connections.update { $0 = total }
        case .caughtUp:
            received.withLock { $0.log.append("caught up") }
            catchUps.update { $0 += 1 }
        }
    }

    func wait(forEvents count: Int) async throws {
        try await self.count.wait(atLeast: count, within: .seconds(120), subject: "events")
    }

    func wait(forCatchUps count: Int) async throws {
        try await catchUps.wait(atLeast: count, within: .seconds(120), subject: "times that the reader caught up")
    }

    func wait(forConnections count: Int) async throws {
        try await connections.wait(atLeast: count, within: .seconds(120), subject: "connections")
    }

    /// Follows a stream until it ends or the task is cancelled.
    func follow(_ events: EventSequence) -> Task<NetworkError?, Never> {
        Task {
            do throws(NetworkError) {
                for try await element in events { take(element) }
                return nil
            } catch {
                return error
            }
        }
    }
}
