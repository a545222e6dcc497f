import HTTPTypes
import Runway
import RunwayTesting
import StreamFixtures
import Synchronization
import Testing

@testable import RunwayServer
@testable import RunwayStreams

/// Several hubs over one log, each with a server and clients on real sockets.
@Suite(.timeLimit(.minutes(10)))
struct SharedHubTests {
    /// A log that hubs of several processes would share, in memory.
    private final class SharedMemoryLog: SharedEventLog {
        private let log = MemoryEventLog()
        /// Guards who listens, what was sent, and whether everything that is sent is lost.
        private let state = Mutex(State())

        private struct State {
            var listeners: [AsyncStream<String>.Continuation] = []
            var sent: [String] = []
            var isLossy = false
        }

        init(isLossy: Bool = false) { state.withLock { $0.isLossy = isLossy } }

        var sent: [String] { state.withLock { $0.sent } }

        func range() -> EventLogRange { log.range() }
        func append(_ events: [PublishedEvent]) async -> EventLogRange {
            let range = log.append(events)
            // The others may read and deliver before this hub does.
            signal("")
            await Task.yield()
            return range
        }
        func events(after offset: Int64, upTo maximumCount: Int) -> (first: Int64, events: [PublishedEvent]) {
            log.events(after: offset, upTo: maximumCount)
        }
        func signal(_ text: String) {
            let listeners = state.withLock { state in
                state.sent.append(text)
                return state.isLossy ? [] : state.listeners
            }
            for listener in listeners { listener.yield(text) }
        }
        func signals() -> AsyncStream<String> {
            let (stream, continuation) = AsyncStream.makeStream(of: String.self)
            state.withLock { $0.listeners.append(continuation) }
            return stream
        }
        // The hubs of these tests publish no presence.
        func beginPresence(under lease: String, for duration: Duration) {}
        func renewPresence(
            under lease: String, for duration: Duration, _ changes: [PresenceChange], leaving maximumCount: Int
        ) -> (publishedCount: Int, isComplete: Bool) { (0, true) }
        func present(in topic: String, upTo maximumCount: Int) -> [String] { [] }
    }

    @Test func eventsOfAllProcessesComeInOneOrder() async throws {
        let log = SharedMemoryLog()
        let hubs = [try await EventHub(name: "news", log: log), try await EventHub(name: "news", log: log)]
        var receptions: [Reception] = []
        var servers: [StreamServer] = []
        var tasks: [Task<NetworkError?, Never>] = []
        for hub in hubs {
            let server = try await StreamServer.start(hub)
            let reception = Reception()
            let network = try makeNetwork(port: server.port).network
            tasks.append(reception.follow(network.events(of: News(), options: hasty)))
            try await reception.wait(forConnections: 1)
            servers.append(server)
            receptions.append(reception)
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<300 {
                group.addTask { try await hubs[number % 2].publish(PublishedEvent(topic: "all", data: "\(number)")) }
            }
            try await group.waitForAll()
        }
        for reception in receptions { try await reception.wait(forEvents: 300) }
        #expect(receptions[0].events == receptions[1].events)
        #expect(Set(receptions[0].events).count == 300)
        for task in tasks { task.cancel() }
        for server in servers { await server.kill() }
    }

    @Test func clientContinuesAtAnotherProcess() async throws {
        // The other process has heard of no event: it reads the log when the client comes.
        let log = SharedMemoryLog(isLossy: true)
        let hubs = [try await EventHub(name: "news", log: log), try await EventHub(name: "news", log: log)]
        let cursors = MemoryStreamCursorStore()
        var servers: [StreamServer] = []
        for (index, hub) in hubs.enumerated() {
            let server = try await StreamServer.start(hub)
            servers.append(server)
            let reception = Reception()
            let (network, _) = try makeNetwork(port: server.port)
            let task = reception.follow(network.events(of: News(), options: hasty, cursors: cursors, key: "news"))
            try await reception.wait(forConnections: 1)
            #expect(reception.continuities == [index == 0 ? .reset(.first) : .resumed])
            try await hubs[0].publish(PublishedEvent(topic: "all", data: "\(index)"))
            hub.wake()
            try await reception.wait(forEvents: 1)
            #expect(reception.events == ["\(index)"])
            // The cursor is stored when the next element is asked for.
            try await waitUntil("the place is stored") {
                cursors.cursor(for: "news")?.place?.offset == Int64(index + 1)
            }
            task.cancel()
            _ = await task.value
        }
        for server in servers { await server.kill() }
    }

    @Test func probeReachesTheProcessThatHasTheConnection() async throws {
        let log = SharedMemoryLog()
        let hubs = [try await EventHub(name: "news", log: log), try await EventHub(name: "news", log: log)]
        let servers = [try await StreamServer.start(hubs[0]), try await StreamServer.start(hubs[1])]
        let reception = Reception()
        let task = reception.follow(
            try makeNetwork(port: servers[0].port).network.events(of: News(), options: hasty))
        try await reception.wait(forConnections: 1)
        let id = try #require(hubs[0].state.withLock { $0.connections.keys.first })
        let (other, _) = try makeNetwork(port: servers[1].port)
        _ = try await other.call(TopicsCall(endpoint: News(), connection: id))
        #expect(log.sent.contains { $0.hasPrefix("probe \(id) ") })
        // A change of topics is refused, so that the client connects with the topics that it wants.
        await #expect {
            try await other.call(TopicsCall(endpoint: News(), connection: id, add: ["sport"]))
        } throws: {
            ($0 as? NetworkError)?.status == .notFound
        }
        #expect(reception.continuities.count == 1, "the link stays")
        task.cancel()
        for server in servers { await server.kill() }
    }
}
