import Foundation
import Logging
import Runway
import RunwayServer
import RunwayStreams
import RunwayTesting
import ServiceLifecycle
import StreamFixtures
import Testing

@testable import RunwayChat

/// How the two halves of a chat start and end.
@MainActor @Suite(.timeLimit(.minutes(5)))
struct ChatStartTests {
    /// Stores nothing.
    private struct IdleQueue: ChangeQueue {
        private struct Full: Error {}
        let endpoint: (any Endpoint.Type)?

        func start(for network: NetworkLayer) {}
        func accepts(_ endpoint: any Endpoint.Type) -> Bool { endpoint == self.endpoint }
        func hasToWait(_ change: UnsentChange) async throws -> Bool { false }
        func store(_ change: UnsentChange) async throws -> QueuedChange { throw Full() }
        func settle(_ change: UUID, isQueued: Bool) async {}
        func servicesDidChange() {}
    }

    /// Starts a client over a layer whose offline queue can send calls of one endpoint later.
    private func startClient(replaying endpoint: (any Endpoint.Type)?) -> (ChatClient<News>, FakeEvents) {
        let server = FakeEvents()
        let network = NetworkLayer(
            transport: server, pipeline: .tested, offlineQueue: IdleQueue(endpoint: endpoint),
            status: SettableNetworkStatus())
        network.configure(Newsroom.self) { $0.baseURLs = [.release: "https://news.example"] }
        let client = ChatClient(member: "ada", on: network, stream: News([]))
        client.start()
        return (client, server)
    }

    @Test func clientNamesTheEndpointThatTheQueueLacks() async throws {
        let (client, server) = startClient(replaying: nil)
        #expect(client.state == .ended && client.error?.kind == .invalidConfiguration)
        #expect(client.error?.detail.contains("ChatSend<Newsroom>") == true)
        #expect(server.links.isEmpty)
    }

    @Test func clientStartsWithAQueueOfItsSends() async throws {
        let (client, server) = startClient(replaying: ChatSend<Newsroom>.self)
        try await waitUntil("the link") { server.links.count == 1 }
        #expect(client.error == nil)
        client.stop()
    }

    @Test func chatEndsWithItsServiceGroup() async throws {
        let chat = RunwayServer.ChatService(store: MemoryChatStore(), hub: try await EventHub(name: "chat"))
        let group = ServiceGroup(
            services: [chat], logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
        let running = Task { try await group.run() }
        await group.triggerGracefulShutdown()
        try await running.value
    }
}
