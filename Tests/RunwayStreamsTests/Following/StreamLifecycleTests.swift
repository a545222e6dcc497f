import HTTPTypes
import Hummingbird
import NIOCore
import Runway
import RunwayServer
import RunwayStreams
import RunwayTesting
import RunwayTransport
import StreamFixtures
import Synchronization
import Testing

/// How streams end, pause and wait, over real sockets.
@Suite(.timeLimit(.minutes(10)))
struct StreamLifecycleTests {
    /// A hub that notices soon that a client left: at the next heartbeat.
    private static func attentiveHub() async throws -> EventHub {
        var options = EventHubOptions()
        options.maximumHeartbeat = .seconds(1)
        return try await EventHub(name: "news", options: options)
    }

    @Test func pausesUnderTrafficLoseNothing() async throws {
        let hub = try await EventHub(name: "news")
        let server = try await StreamServer.start(hub)
        let (network, transport) = try makeNetwork(port: server.port)
        let reception = Reception()
        var options = hasty
        // A small bound, so that a link is closed while it waits for room.
        options.maximumBufferedByteCount = 1 << 10
        let events = network.events(of: News(), options: options)
        let task = reception.follow(events)
        try await reception.wait(forConnections: 1)
        let publishing = Task {
            for number in 0..<4000 { try await hub.publish(PublishedEvent(topic: "all", data: "\(number)")) }
        }
        for count in 1...20 {
            try await reception.wait(forEvents: count * 100)
            events.pause()
            try await waitUntil("the pause") { events.state == .paused }
            events.resume()
        }
        try await publishing.value
        try await reception.wait(forEvents: 4000)
        #expect(reception.events == (0..<4000).map(String.init))
        #expect(reception.continuities.dropFirst().allSatisfy { $0 == .resumed })
        task.cancel()
        await server.kill()
        await transport.shutdown(waitingAtMost: .zero)
    }

    @MainActor @Test func aReleasedStreamClosesItsLink() async throws {
        let hub = try await Self.attentiveHub()
        let server = try await StreamServer.start(hub)
        let (network, transport) = try makeNetwork(port: server.port)
        var stream: EventStream? = EventStream(News(), on: network, options: hasty)
        weak let released = stream
        stream?.start()
        try await waitUntil("the connection") { stream?.isCaughtUp == true }
        #expect(hub.connectionCount == 1)
        stream = nil
        try await waitUntil("the end of the link") { hub.connectionCount == 0 }
        #expect(released == nil)
        await server.kill()
        await transport.shutdown(waitingAtMost: .zero)
    }

    @Test func aSignOutEndsTheStream() async throws {
        let hub = try await Self.attentiveHub()
        let server = try await StreamServer.start(hub)
        let (network, transport) = try makeNetwork(port: server.port)
        try await network.signIn(AccessToken("t1", account: "anna"), to: Newsroom.self)
        let reception = Reception()
        let events = network.events(of: News(), options: hasty)
        let task = reception.follow(events)
        try await reception.wait(forConnections: 1)
        try await network.signOut(of: Newsroom.self)
        let error = await task.value
        #expect(error?.kind == .cancelled)
        try await waitUntil("the end of the stream") { events.state == .ended }
        try await waitUntil("the end of the link") { hub.connectionCount == 0 }
        await server.kill()
        await transport.shutdown(waitingAtMost: .zero)
    }

    @Test func anotherAccountDoesNotContinueTheStream() async throws {
        let hub = try await EventHub(name: "news")
        let server = try await StreamServer.start(hub)
        let (network, transport) = try makeNetwork(port: server.port)
        try await network.signIn(AccessToken("t1", account: "anna"), to: Newsroom.self)
        let reception = Reception()
        let events = network.events(of: News(), options: hasty)
        let task = reception.follow(events)
        try await reception.wait(forConnections: 1)
        events.pause()
        try await waitUntil("the pause") { events.state == .paused }
        try await network.signOut(of: Newsroom.self)
        try await network.signIn(AccessToken("t2", account: "ben"), to: Newsroom.self)
        events.resume()
        #expect(await task.value?.kind == .cancelled)
        #expect(reception.continuities.count == 1)
        await server.kill()
        await transport.shutdown(waitingAtMost: .zero)
    }

    @Test func captivePortalIsRetriedOnAnotherNetwork() async throws {
        let hub = try await EventHub(name: "news")
        let router = Router()
        EventStreamRoute(hub) { _, _ in EventPermission() }.add(to: router, path: "real")
        let portal = Portal()
        router.get("news/a%20b") { _, _ -> Hummingbird.Response in
            portal.isOpen
                ? Hummingbird.Response(status: .seeOther, headers: [.location: "/real"])
                : Hummingbird.Response(
                    status: .ok, headers: [.contentType: "text/html; charset=utf-8"],
                    body: ResponseBody(byteBuffer: ByteBuffer(string: "<p>Buy access</p>")))
        }
        let server = try await StreamServer.start(router)
        let status = SettableNetworkStatus(NetworkStatus(.wifi, identity: "café"))
        let (network, transport) = try makeNetwork(port: server.port, status: status)
        let reception = Reception()
        let events = network.events(of: News(), options: hasty)
        let task = reception.follow(events)
        try await waitUntil("the wait") { events.state == .waiting }
        #expect(reception.continuities.isEmpty)
        portal.open()
        status.set(.cellular)
        try await reception.wait(forConnections: 1)
        task.cancel()
        await server.kill()
        await transport.shutdown(waitingAtMost: .zero)
    }

    @Test func newNetworkEndsTheWaitForAServer() async throws {
        let hub = try await EventHub(name: "news")
        let router = Router()
        let portal = Portal()
        EventStreamRoute(hub) { _, _ in EventPermission() }.add(to: router, path: "real")
        router.get("news/a%20b") { _, _ -> Hummingbird.Response in
            portal.isOpen
                ? Hummingbird.Response(status: .seeOther, headers: [.location: "/real"])
                : Hummingbird.Response(status: .serviceUnavailable, headers: [.retryAfter: "500"])
        }
        let server = try await StreamServer.start(router)
        let status = SettableNetworkStatus(NetworkStatus(.wifi, identity: "home"))
        let (network, transport) = try makeNetwork(port: server.port, status: status)
        let reception = Reception()
        let events = network.events(of: News(), options: hasty)
        let task = reception.follow(events)
        try await waitUntil("the wait") { events.state == .waiting }
        status.set(.none)
        try await waitUntil("the loss of the network") { events.state == .offline }
        portal.open()
        status.set(.wired)
        try await reception.wait(forConnections: 1)
        task.cancel()
        await server.kill()
        await transport.shutdown(waitingAtMost: .zero)
    }

    @Test func aNewNetworkProbesTheOpenLink() async throws {
        let clock = ManualClock()
        let hub = try await EventHub(name: "news")
        let router = Router()
        let portal = Portal()
        router.middlewares.add(HoldingPosts(portal))
        EventStreamRoute(hub) { _, _ in EventPermission() }.add(to: router, path: "news/a%20b")
        let server = try await StreamServer.start(router)
        let status = SettableNetworkStatus(NetworkStatus(.wifi, identity: "home"))
        let (network, transport) = try makeNetwork(port: server.port, clock: LayerClock(clock), status: status)
        let reception = Reception()
        let cursors = MemoryStreamCursorStore()
        let events = network.events(of: News(["sport"]), cursors: cursors, key: "news")
        let task = reception.follow(events)
        try await reception.wait(forCatchUps: 1)
        #expect(portal.posts == 0)
        // Of another topic: only a heartbeat shows the stream that it happened.
        try await hub.publish(PublishedEvent(topic: "weather", data: "rain"))
        status.set(NetworkStatus(.wifi, identity: "office"))
        try await waitUntil("the deadline of the probe") { clock.nextDeadline?.offset == .seconds(10) }
        try await waitUntil("the probe") { portal.posts == 1 }
        // A byte that came at the very moment of the probe would prove nothing.
        clock.advance(by: .seconds(1))
        portal.open()
        try await waitUntil("the heartbeat that the probe brings") {
            cursors.cursor(for: "news")?.lastEventID == "\(hub.epoch)-1"
        }
        // It saves the link from the deadline of the probe.
        clock.advance(by: .seconds(9))
        try await waitUntil("what the stream waits for next") {
            clock.nextDeadline.map { $0.offset > .seconds(10) && $0.offset < .seconds(100) } ?? false
        }
        #expect(events.state == .open)
        #expect(reception.continuities.count == 1)
        task.cancel()
        await server.kill()
        await transport.shutdown(waitingAtMost: .zero)
    }
}

/// What a server of these tests lets pass, and what it has counted.
private final class Portal: Sendable {
    private let state = Mutex((isOpen: false, posts: 0))
    var isOpen: Bool { state.withLock { $0.isOpen } }
    var posts: Int { state.withLock { $0.posts } }
    func open() { state.withLock { $0.isOpen = true } }
    func countPost() { state.withLock { $0.posts += 1 } }
}

/// Counts requests with POST, and holds them until the portal is open.
private struct HoldingPosts: RouterMiddleware {
    let portal: Portal

    init(_ portal: Portal) { self.portal = portal }

    func handle(
        _ request: Hummingbird.Request, context: BasicRequestContext,
        next: @concurrent (Hummingbird.Request, BasicRequestContext) async throws -> Hummingbird.Response
    ) async throws -> Hummingbird.Response {
        if request.method == .post {
            portal.countPost()
            try await waitUntil("the portal to open") { portal.isOpen }
        }
        return try await next(request, context)
    }
}
