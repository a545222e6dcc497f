import Runway
import RunwayTesting
import RunwayTransport
import Testing

/// No number that a transport is set to traps; one that can't be means the nearest that can.
@Suite(.timeLimit(.minutes(10)))
struct SettingsTests {
    private func set(_ configuration: inout TransportConfiguration, to number: Int) {
        configuration.maximumConnectionsPerOrigin = number
        configuration.wire.streamWindowByteCount = number
        configuration.wire.connectionWindowByteCount = number
        configuration.wire.maximumUnreadByteCount = number
        configuration.wire.maximumConcurrentStreams = number
        configuration.wire.maximumHeadByteCount = number
        configuration.wire.maximumFieldCount = number
        configuration.wire.maximumInformationalAnswers = number
        configuration.wire.expectContinueByteCount = number
        configuration.wire.maximumExpansion = number
        configuration.wire.maximumDecodedByteCount = number
    }

    private func set(_ configuration: inout TransportConfiguration, to time: Duration) {
        configuration.connectTimeout = time
        configuration.idleTimeout = time
        configuration.keepAlive = time
        configuration.wire.firstByteTimeout = time
        configuration.wire.pingInterval = time
        configuration.wire.pingTimeout = time
        configuration.wire.continueTimeout = time
    }

    /// Runs `body` with a server that speaks HTTP/1.1, and with one that speaks HTTP/2.
    private func withEachVersion(
        _ body: (_ baseURL: String, TransportConfiguration) async throws -> Void
    ) async throws {
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .text("fine"))
            try await body(origin.baseURL, TransportConfiguration(connectTimeout: .seconds(300)))
        }
        try await RawHTTP2Server.run { connection, frame in
            guard let frame else { return connection.write(.settings(), .settingsAck) }
            if frame.is(.headers) { connection.write(.headers(frame.stream), .data(frame.stream, "fine")) }
        } _: { server in
            try await body(server.baseURL, server.configuration())
        }
    }

    @Test func theLargestWork() async throws {
        try await withEachVersion { baseURL, usual in
            var configuration = usual
            set(&configuration, to: Int.max)
            set(&configuration, to: .seconds(Int64.max))
            configuration.wire.maximumWaitingRequests = .max
            let layer = NetworkLayer(to: baseURL, over: try NIOTransport(configuration: configuration))
            for _ in 0..<2 { #expect(try await layer.call(Fetch<GET>("a")).text == "fine") }
        }
    }

    /// What becomes of the calls is not asked: an answer may well be larger than nothing.
    @Test(arguments: [0, -1, Int.min])
    func theSmallestTrapNowhere(number: Int) async throws {
        try await withEachVersion { baseURL, usual in
            var configuration = usual
            set(&configuration, to: number)
            let layer = NetworkLayer(to: baseURL, over: try NIOTransport(configuration: configuration))
            _ = try? await layer.call(Fetch<GET>("a"))
            set(&configuration, to: .seconds(number))
            configuration.wire.maximumWaitingRequests = number
            let hasty = NetworkLayer(to: baseURL, over: try NIOTransport(configuration: configuration))
            _ = try? await hasty.call(Fetch<GET>("a"))
        }
    }
}
