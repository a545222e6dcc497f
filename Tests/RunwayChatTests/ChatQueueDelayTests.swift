import Foundation
import Runway
import RunwayStreams
import RunwayTesting
import StreamFixtures
import Synchronization
import Testing

@testable import RunwayChat

/// For how long a client delays the offline queue, over a stream that a test plays.
@MainActor @Suite(.timeLimit(.minutes(5)))
struct ChatQueueDelayTests {
    /// Notes who delays its changes, and stores none.
    private final class DelayedQueue: ChangeQueue {
        private struct Full: Error {}
        private struct State {
            var owners: Set<UUID> = []
            var accounts: [String?] = []
            var endCount = 0
        }

        /// Guards who delays changes, the accounts of all delays so far, and how many delays have ended.
        private let state = Mutex(State())
        /// Called when a delay has begun.
        private let onDelay: @Sendable () -> Void

        init(onDelay: @escaping @Sendable () -> Void = {}) { self.onDelay = onDelay }

        var ownerCount: Int { state.withLock { $0.owners.count } }
        var isDelayed: Bool { ownerCount > 0 }
        var accounts: [String?] { state.withLock { $0.accounts } }
        var endCount: Int { state.withLock { $0.endCount } }

        func start(for network: NetworkLayer) {}
        func accepts(_ endpoint: any Endpoint.Type) -> Bool { true }
        func hasToWait(_ change: UnsentChange) async throws -> Bool { false }
        func store(_ change: UnsentChange) async throws -> QueuedChange { throw Full() }
        func settle(_ change: UUID, isQueued: Bool) async {}
        func servicesDidChange() {}
        func delayChanges(
            of service: any APIService.Type, in environment: ServiceEnvironment, for account: String?, owner: UUID,
            upTo limit: Duration?
        ) {
            state.withLock { state in
                let former = state.owners.remove(owner)
                guard limit != nil else {
                    if former != nil { state.endCount += 1 }
                    return
                }
                state.owners.insert(owner)
                state.accounts.append(account)
            }
            if limit != nil { onDelay() }
        }
    }

    private let server = FakeEvents()
    private let clock = ManualClock()
    private let status = SettableNetworkStatus(.wifi)
    /// The end of what a link replays.
    private let live = "id: e-0\nevent: runway.live\ndata: {}\n\n"

    private func makeClient(_ queue: DelayedQueue) -> ChatClient<News> {
        let network = NetworkLayer(
            transport: server, pipeline: .tested, clock: LayerClock(clock), offlineQueue: queue, status: status)
        network.configure(Newsroom.self) { $0.baseURLs = [.release: "https://news.example"] }
        return ChatClient(member: "ada", on: network, stream: News([]), streamOptions: hasty)
    }

    /// Waits for the first link, and opens it.
    private func openLink() async throws -> FakeLink {
        try await waitUntil("the link") { !server.links.isEmpty }
        server.links[0].open("reset", at: 0)
        return server.links[0]
    }

    /// Waits for a link, and advances the clock to the end of the wait for it.
    private func link(_ number: Int) async throws -> FakeLink {
        let limit = clock.now.advanced(by: .seconds(15))
        try await waitUntil("link \(number)") {
            server.links.count >= number
        } meanwhile: {
            clock.advanceToDeadline(upTo: limit)
        }
        return server.links[number - 1]
    }

    @Test func offlineQueueWaitsUntilTheStreamCaughtUp() async throws {
        let queue = DelayedQueue()
        let client = makeClient(queue)
        let harbour = client.conversation("harbour")
        client.start()
        #expect(queue.isDelayed)
        let first = try await openLink()
        first.send(live)
        try await waitUntil("the end of the replay") { harbour.isLive }
        #expect(!queue.isDelayed)
        first.end()
        try await waitUntil("the loss of the link") { queue.isDelayed }
        client.stop()
        try await waitUntil("the end") { !queue.isDelayed }
    }

    @Test func queueWaitsFromTheLossOfTheNetwork() async throws {
        let queue = DelayedQueue()
        let client = makeClient(queue)
        client.start()
        let link = try await openLink()
        link.send(live)
        try await waitUntil("the end of the replay") { !queue.isDelayed }
        status.set(.none)
        try await waitUntil("the loss of the network") { queue.isDelayed }
        status.set(.wifi)
        try await waitUntil("the probe") { server.changes.count == 1 }
        #expect(queue.isDelayed)
        // A byte that came at the very moment of the probe would prove nothing.
        clock.advance(by: .seconds(1))
        link.send(": alive\n\n")
        try await waitUntil("the received bytes") { !queue.isDelayed }
        #expect(server.links.count == 1)
        client.stop()
    }

    @Test func deadLinkDelaysUntilTheNextReplay() async throws {
        let queue = DelayedQueue()
        let client = makeClient(queue)
        client.start()
        let first = try await openLink()
        first.send(live)
        try await waitUntil("the end of the replay") { !queue.isDelayed }
        let endCount = queue.endCount
        client.resume()
        try await waitUntil("the suspicion") { queue.isDelayed }
        let second = try await link(2)
        #expect(queue.isDelayed && queue.endCount == endCount)
        second.open("resumed", at: 0)
        second.send(live)
        try await waitUntil("the end of the second replay") { !queue.isDelayed }
        client.stop()
    }

    @Test func queueWaitsForTheAccountThatSignsIn() async throws {
        let (gate, queue) = (ScriptedGate(), DelayedQueue())
        server.holdLinks(at: gate)
        let client = makeClient(queue)
        client.start()
        try await waitUntil("the attempt") { gate.arrivalCount == 1 }
        #expect(queue.accounts.allSatisfy { $0 == nil })
        try await client.network.signIn(AccessToken("t1", account: "ada"), to: Newsroom.self)
        try await waitUntil("the delay of the account") { queue.accounts.contains("ada") }
        gate.open()
        let first = try await openLink()
        first.send(live)
        try await waitUntil("the end of the replay") { !queue.isDelayed }
        client.stop()
    }

    @Test func releasedClientDelaysNothing() async throws {
        let queue = DelayedQueue()
        var client: ChatClient<News>? = makeClient(queue)
        client?.start()
        #expect(queue.isDelayed)
        client = nil
        try await waitUntil("the release") { !queue.isDelayed }
    }

    @Test func releasedClientEndsNoOtherDelay() async throws {
        let queue = DelayedQueue()
        var client: ChatClient<News>? = makeClient(queue)
        client?.start()
        let successor = makeClient(queue)
        successor.start()
        #expect(queue.ownerCount == 2)
        client = nil
        try await waitUntil("the release") { queue.ownerCount == 1 }
        successor.stop()
        try await waitUntil("the end") { !queue.isDelayed }
    }

    @Test func signedOutClientDelaysNoOtherAccount() async throws {
        let queue = DelayedQueue()
        let client = makeClient(queue)
        try await client.network.signIn(AccessToken("t1", account: "ada"), to: Newsroom.self)
        client.start()
        _ = try await openLink()
        try await waitUntil("the connection") { client.state == .open }
        client.pause()
        try await waitUntil("the pause") { client.state == .paused }
        try await client.network.signOut(of: Newsroom.self)
        try await client.network.signIn(AccessToken("t2", account: "bob"), to: Newsroom.self)
        client.resume()
        try await waitUntil("the end") { client.state == .ended && !queue.isDelayed }
        #expect(queue.accounts.allSatisfy { $0 == "ada" })
    }

    @Test func queueMayEndTheDelayWhenNotified() {
        let delay = Mutex<ChatQueueDelay<Newsroom>?>(nil)
        let queue = DelayedQueue { delay.withLock { $0 }?.end() }
        let network = makeClient(queue).network
        let made = ChatQueueDelay<Newsroom>(
            of: StreamAccount("conversations", of: Newsroom.self, on: network), on: network, upTo: .seconds(10))
        delay.withLock { $0 = made }
        made.begin()
        #expect(queue.accounts.count == 1 && queue.endCount == 1 && !queue.isDelayed)
    }
}
