import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import HummingbirdHTTP2
import Logging
import NIOCore
import NIOSSL
import RunwayDemo
import RunwayTesting
import Synchronization
import Testing

@testable import RunwayServer

/// Connections of clients that send nothing or hardly anything, over real sockets, by limits of a fraction of a second.
@Suite(.timeLimit(.minutes(5)))
struct ConnectionLimitTests {
    private static let long = Duration.seconds(600)

    /// Runs a test by a short limit, and by longer ones until it returns `true`: a client that stands still before it has sent its request is
    /// too late for a short one.
    private func withShortLimit(_ body: (Duration) async throws -> Bool) async throws {
        for limit in [Duration.milliseconds(200), .seconds(2), .seconds(20), .seconds(90)] {
            if try await body(limit) { return }
        }
        Issue.record("No response was the expected one.")
    }

    /// Serves with limits that no test reaches but those that it changes.
    private func withServer(
        _ change: (inout ConnectionLimits) -> Void, tls: TLSConfiguration? = nil, _ body: (Int) async throws -> Void
    ) async throws {
        var limits = ConnectionLimits()
        limits.idleTime = Self.long
        limits.bodies.maximumSilence = Self.long
        change(&limits)
        let router = Router(context: BasicRequestContext.self)
        router.get("/") { _, _ in "hello" }
        router.post("whole") { request, _ in
            let body = try await request.body.collect(upTo: 1 << 20)
            return "\(body.readableBytes)"
        }
        router.post("unread") { _, _ in "hello" }
        try await serving(router, by: { .bounded(limits, tls: tls, cuttingIn: $0) }) { try await body($0) }
    }

    private static func head(_ path: String, byteCount: Int = 10) -> String {
        "POST \(path) HTTP/1.1\r\nHost: localhost\r\nContent-Length: \(byteCount)\r\n\r\n"
    }

    @Test(arguments: ["", "GET / HTTP/1.1\r\nHost: loc", "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"])
    func connectionWithoutRequestIsClosed(sent: String) async throws {
        try await withShortLimit { limit in
            var statuses: [String]?
            try await withServer {
                $0.idleTime = limit
            } _: { port in
                let connection = try await RawConnection(to: port)
                if !sent.isEmpty { try? await connection.send(sent) }
                statuses = try? await connection.rest().statuses
            }
            return statuses == (sent.hasSuffix("\r\n\r\n") ? ["200"] : [])
        }
    }

    @Test func handshakeThatNeverComesIsClosed() async throws {
        let tls = try DemoCertificate().serverConfiguration()
        try await withServer({ $0.idleTime = .milliseconds(200) }, tls: tls) { port in
            let connection = try await RawConnection(to: port)
            #expect(try await connection.rest() == "")
        }
    }

    @Test(arguments: ["/whole", "/unread"]) func silentBodyEndsItsConnection(path: String) async throws {
        try await withShortLimit { limit in
            var statuses: [String]?
            try await withServer {
                $0.bodies.maximumSilence = limit
            } _: { port in
                let connection = try await RawConnection(to: port)
                try? await connection.send(Self.head(path) + "0123")
                statuses = try? await connection.rest().statuses
            }
            return statuses == (path == "/unread" ? ["200"] : [])
        }
    }

    @Test func bodyWithinItsLimitsIsReceived() async throws {
        try await withServer({ $0.idleTime = Self.long }) { port in
            let connection = try await RawConnection(to: port, awaiting: "hello")
            try await connection.send(Self.head("/whole") + "0123")
            try await connection.send("456789GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
            try await connection.waitForText()
            try await connection.close()
            #expect(try await connection.rest().components(separatedBy: "HTTP/1.1 200 OK").count == 3)
        }
    }

    @Test func connectionsAreBounded() async throws {
        try await withServer {
            $0.maximumConnectionCount = 2
        } _: { port in
            let request = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
            var open: [RawConnection] = []
            for _ in 1...2 {
                let connection = try await RawConnection(to: port, awaiting: "hello")
                try await connection.send(request)
                try await connection.waitForText()
                open.append(connection)
            }
            #expect(try await RawConnection(to: port).rest() == "")
            try await open[0].close()
            // The server may learn of the end a moment later.
            try await waitUntil {
                let connection = try await RawConnection(to: port, awaiting: "hello")
                try? await connection.send(request)
                return (try? await connection.waitForText()) != nil
            }
        }
    }

    @Test func silentHTTP2ConnectionIsClosed() async throws {
        try await withShortLimit { try await closesSilentHTTP2Connections(after: $0) }
    }

    private func closesSilentHTTP2Connections(after idleTime: Duration) async throws -> Bool {
        var limits = ConnectionLimits()
        limits.idleTime = idleTime
        let (signals, signal) = AsyncStream<Void>.makeStream()
        let router = Router(context: BasicRequestContext.self)
        router.get("/") { _, _ in "hello" }
        router.get("/waiting") { _, _ in
            for await _ in signals.prefix(1) {}
            return "late"
        }
        let builder: (OpenConnections) -> HTTPServerBuilder = { [limits] connections in
            HTTPServerBuilder { responder in
                let configuration = HTTP2ChannelConfiguration(
                    idleTimeout: limits.idleTime, streamConfiguration: limits.requests)
                let channel = HTTP2Channel(responder: responder, configuration: configuration)
                return CuttableChannel(
                    base: LimitedChannel(base: channel, limits: limits), connections: connections)
            }
        }
        var isExpected = false
        try await serving(router, by: builder) { port in
            let waiting = try await RawConnection(to: port, awaiting: "late")
            try? await waiting.send(String(buffer: HTTP2Frames.opening(HTTP2Frames.get("/waiting"))))
            // Neither acknowledges a ping.
            let idle = try await RawConnection(to: port, awaiting: "hello")
            try? await idle.send(String(buffer: HTTP2Frames.opening(HTTP2Frames.get("/"))))
            let hasResponded = try? await idle.rest().contains("hello")
            signal.yield()
            let hasWaited = try? await waiting.rest().contains("late")
            isExpected = hasResponded == true && hasWaited == true
        }
        return isExpected
    }

    @Test func bodyRefusalIsSentOverHTTP2() async throws {
        let router = Router(context: BasicRequestContext.self)
        router.get("/") { _, _ -> String in throw BodyRefusal.tooManyBytes }
        try await serving(router, by: { .plaintextHTTP2(trackedBy: $0) }) { port in
            let body = try await HTTP2Frames.exchange(HTTP2Frames.get("/"), port: port)
            #expect(body.contains(#""urn:runway:body:tooManyBytes""#), "\(body)")
        }
    }

    @Test func socketWithoutDescriptorsRests() async throws {
        let router = Router(context: BasicRequestContext.self)
        router.get("/") { _, _ in "hello" }
        let accepted = Listening()
        let builder: (OpenConnections) -> HTTPServerBuilder = { connections in
            HTTPServerBuilder { responder in
                let channel = LimitedChannel(base: HTTP1Channel(responder: responder), limits: ConnectionLimits())
                return CuttableChannel(base: Spy(base: channel, listening: accepted), connections: connections)
            }
        }
        try await serving(router, by: builder) { port in
            func get() async throws -> [String] {
                let connection = try await RawConnection(to: port, awaiting: "hello")
                try await connection.send("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                return try await connection.rest().statuses
            }
            #expect(try await get() == ["200"])
            let socket = try #require(accepted.channel)
            // It may accept again as soon as its event loop goes on.
            let isAccepting = try await socket.eventLoop.submit {
                socket.pipeline.fireErrorCaught(IOError(errnoCode: EMFILE, reason: "accept"))
                return try socket.syncOptions?.getOption(.autoRead)
            }.get()
            #expect(isAccepting == false)
            // It accepts again later.
            #expect(try await get() == ["200"])
        }
    }
}

/// Has the listening socket of a server.
private final class Listening: Sendable {
    /// Guards the socket.
    private let state = Mutex<(any Channel)?>(nil)
    var channel: (any Channel)? { state.withLock { $0 } }
    func set(_ channel: (any Channel)?) { state.withLock { $0 = channel } }
}

/// Notes the listening socket of accepted connections.
private struct Spy<Base: ServerChildChannel>: ServerChildChannel {
    let base: Base
    let listening: Listening

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Base.Value> {
        listening.set(channel.parent)
        return base.setup(channel: channel, logger: logger)
    }

    func handle(value: Base.Value, logger: Logger) async { await base.handle(value: value, logger: logger) }
}
