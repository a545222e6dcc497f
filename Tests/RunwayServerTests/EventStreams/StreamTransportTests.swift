import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import Runway
import RunwayServer
import RunwaySignatures
import RunwaySigning
import RunwayStreams
import RunwayTesting
import RunwayTransport
import Testing

/// Streams over each transport, beside calls, with tokens and with signatures.
@Suite(.timeLimit(.minutes(10)))
struct StreamTransportTests {
    private var hasty: StreamOptions {
        var options = StreamOptions()
        options.backoff = .milliseconds(20)
        options.maximumBackoff = .milliseconds(200)
        return options
    }

    @Test(arguments: StreamWire.allCases)
    func linksThatFollowEachOtherLoseNothing(over wire: StreamWire) async throws {
        try await withStreamPeer(wire) { [hasty] peer in
            // Each link ends after a second.
            peer.gate.permission = EventPermission(lifetime: .seconds(1))
            let follower = StreamFollower(peer.network.events(of: FeedEvents(), options: hasty))
            try await follower.waitUntilCaughtUp()
            var count = 0
            for connections in 2...4 {
                try await peer.publish(count..<count + 100)
                count += 100
                try await follower.wait(forConnections: connections)
            }
            try await follower.wait(forEvents: count)
            #expect(follower.texts == (0..<count).map(String.init))
            #expect(follower.continuities.first == .reset(.first))
            #expect(follower.continuities.dropFirst().allSatisfy { $0 == .resumed })
            #expect(await follower.stop() == nil)
        }
    }

    @Test(arguments: StreamWire.allCases)
    func eventsComeAsTheyArePublished(over wire: StreamWire) async throws {
        try await withStreamPeer(wire) { [hasty] peer in
            let follower = StreamFollower(peer.network.events(of: FeedEvents(), options: hasty))
            try await follower.waitUntilCaughtUp()
            // Each is awaited before the next is published: nothing on the way holds the first bytes back.
            for number in 0..<20 {
                try await peer.publish(number..<number + 1)
                try await follower.wait(forEvents: number + 1)
            }
            #expect(await follower.stop() == nil)
        }
    }

    @Test(arguments: StreamWire.allCases, [false, true])
    func aClientThatLeavesIsNoticedAtOnce(over wire: StreamWire, replacesBodies: Bool) async throws {
        // The time of the hub stands still: nothing is written that could fail.
        try await withStreamPeer(wire, clock: ManualClock()) { router in
            if replacesBodies { router.add(middleware: EmptyBodies()) }
        } _: { [hasty] peer in
            let follower = StreamFollower(peer.network.events(of: FeedEvents(), options: hasty))
            try await follower.waitUntilCaughtUp()
            #expect(peer.hub.connectionCount == 1)
            #expect(await follower.stop() == nil)
            try await waitUntil("the end of the connection") { peer.hub.connectionCount == 0 }
        }
    }

    @Test func unreadBodyDoesNotHideALeavingClient() async throws {
        try await withStreamPeer(.http1, clock: ManualClock()) { peer in
            let client = try await RawConnection(to: peer.port, awaiting: "runway.live")
            // More parts than the server holds for a reader.
            let parts = String(repeating: "1\r\nx\r\n", count: 20)
            try await client.send("GET /feed HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n\(parts)")
            try await client.waitForText()
            #expect(peer.hub.connectionCount == 1)
            try await client.close()
            try await waitUntil("the end of the connection") { peer.hub.connectionCount == 0 }
        }
    }

    @Test func streamsAndCallsShareOneHTTP2Connection() async throws {
        try await withStreamPeer(.http2) { [hasty] peer in
            let followers = (0..<5).map { number in
                StreamFollower(peer.network.events(of: FeedEvents(), options: hasty, key: "\(number)"))
            }
            for follower in followers { try await follower.waitUntilCaughtUp() }
            var clients: Set<String> = []
            for _ in 0..<5 { clients.insert(try await peer.network.call(FeedClient()).text ?? "") }
            #expect(clients.count == 1)
            #expect(Set(peer.gate.openers) == clients && peer.gate.openers.count == 5)
            try await peer.publish(0..<3)
            for follower in followers { try await follower.wait(forEvents: 3) }
            for follower in followers { #expect(await follower.stop() == nil) }
            #expect(try await peer.network.call(FeedClient()).text == clients.first, "the connection stays in use")
        }
    }

    @Test(arguments: StreamWire.allCases)
    func refusedTokenIsRenewedAndTheStreamResumes(over wire: StreamWire) async throws {
        try await withStreamPeer(wire) { [hasty] peer in
            peer.gate.accept("t1")
            let events = peer.network.events(of: FeedEvents(), options: hasty)
            let follower = StreamFollower(events)
            try await follower.waitUntilCaughtUp()
            try await peer.publish(0..<3)
            try await follower.wait(forEvents: 3)
            events.pause()
            try await waitUntil("the pause") { events.state == .paused }
            peer.gate.accept("t2")
            try await peer.publish(3..<6)
            events.resume()
            try await follower.wait(forEvents: 6)
            #expect(follower.texts == (0..<6).map(String.init))
            #expect(follower.continuities == [.reset(.first), .resumed])
            #expect(peer.gate.refusals == 1)
            // A token that is refused again after its renewal ends the stream.
            events.pause()
            try await waitUntil("the second pause") { events.state == .paused }
            peer.gate.accept("another")
            events.resume()
            try await waitUntil("the end") { events.state == .ended }
            #expect(await follower.stop()?.status == .unauthorized)
            #expect(peer.gate.refusals == 3)
        }
    }

    @Test func signedStreamAndItsTopicsPassTheMiddleware() async throws {
        let key = P256.Signing.PrivateKey()
        let keys = InMemoryKeyDirectory([KeyRecord(id: "device", key: .p256(key.publicKey), owner: "anna")])
        let rules = SignatureRules(tag: "app", origin: PublicOrigin("api.example.com"))
        try await withStreamPeer(.http1) { router in
            router.add(
                middleware: SignatureMiddleware(
                    rules, keys: keys, nonces: NonceMemory(startedAt: UnixTime(seconds: 0), maximumNonces: 1000)))
        } layer: { transport, port in
            var pipeline = RequestPipeline()
            let device = RequestKey(id: "device", signer: SigningKey.p256(key))
            let stage = SigningStage(
                for: Feed.self, SigningPolicy(.signature(tag: "app")), keys: DeviceKey(key: device))
            pipeline.insert(stage, before: .signing)
            return NetworkLayer(
                transport: BehindProxy(wire: transport, authority: "127.0.0.1:\(port)"), pipeline: pipeline)
        } _: { [hasty] peer in
            peer.network.configure(Feed.self) { $0.baseURLs = [.release: "https://api.example.com"] }
            let events = peer.network.events(of: FeedEvents(topics: ["sport"]), options: hasty)
            let follower = StreamFollower(events)
            try await follower.waitUntilCaughtUp()
            try await events.subscribe(to: ["weather"])
            try await peer.publish(0..<1, topic: "weather")
            try await follower.wait(forEvents: 1)
            events.pause()
            try await waitUntil("the pause") { events.state == .paused }
            try await peer.publish(1..<2, topic: "sport")
            events.resume()
            try await follower.wait(forEvents: 2)
            #expect(follower.texts == ["0", "1"])
            #expect(follower.continuities == [.reset(.first), .resumed])
            #expect(await follower.stop() == nil)
        }
        try await withStreamPeer(.http1) { router in
            router.add(
                middleware: SignatureMiddleware(
                    rules, keys: keys, nonces: NonceMemory(startedAt: UnixTime(seconds: 0), maximumNonces: 1000)))
        } _: { [hasty] peer in
            let events = peer.network.events(of: FeedEvents(), options: hasty)
            let follower = StreamFollower(events)
            try await waitUntil("the refusal") { events.state == .ended }
            #expect(follower.continuities.isEmpty, "without a signature there is no stream")
            #expect(await follower.stop() != nil)
        }
    }
}

/// Replaces the body of each request, as middleware does that has read it.
private struct EmptyBodies: RouterMiddleware {
    func handle(
        _ request: Hummingbird.Request, context: FeedContext,
        next: @concurrent (Hummingbird.Request, FeedContext) async throws -> Hummingbird.Response
    ) async throws -> Hummingbird.Response {
        var request = request
        request.body = Hummingbird.RequestBody(buffer: try await request.body.collect(upTo: 1 << 16))
        return try await next(request, context)
    }
}

private struct DeviceKey: RequestKeyStore {
    let key: RequestKey

    func key(for owner: KeyOwner) -> RequestKey? { key }
}

/// Sends requests for the public origin to the server of a test, as a proxy does that terminates TLS.
private struct BehindProxy: Transport {
    let wire: any Transport
    let authority: String

    func send(_ request: Runway.Request, in flight: Flight) async throws(NetworkError) -> Runway.Response {
        var request = request
        request.head.scheme = "http"
        request.head.authority = authority
        return try await wire.send(request, in: flight)
    }
}
