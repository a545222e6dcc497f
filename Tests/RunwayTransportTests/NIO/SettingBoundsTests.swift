import Runway
import RunwayTestServer
import RunwayTransport
import Testing

/// Settings beyond all that makes sense: nothing traps, and every call ends.
@Suite(.timeLimit(.minutes(10)))
struct SettingBoundsTests {
    /// A configuration with one setting after the other changed to a number, or to so many seconds.
    private func variants(of configuration: TransportConfiguration, _ number: Int) -> [TransportConfiguration] {
        func with<Value>(
            _ setting: WritableKeyPath<TransportConfiguration, Value>, _ value: Value
        ) -> TransportConfiguration {
            var changed = configuration
            changed[keyPath: setting] = value
            return changed
        }
        let numbers: [WritableKeyPath<TransportConfiguration, Int>] = [
            \.maximumConnectionsPerOrigin, \.wire.streamWindowByteCount, \.wire.connectionWindowByteCount,
            \.wire.maximumUnreadByteCount, \.wire.maximumConcurrentStreams, \.wire.maximumWaitingRequests,
            \.wire.maximumHeadByteCount, \.wire.maximumFieldCount, \.wire.maximumInformationalResponses,
            \.wire.maximumExpansion, \.wire.maximumDecodedByteCount,
        ]
        let durations: [WritableKeyPath<TransportConfiguration, Duration>] = [
            \.connectTimeout, \.idleTimeout, \.keepAlive, \.wire.pingTimeout, \.wire.continueTimeout,
        ]
        let limits: [WritableKeyPath<TransportConfiguration, Duration?>] = [
            \.wire.firstByteTimeout, \.wire.pingInterval,
        ]
        var variants = [with(\.wire.expectContinueByteCount, number)]
        for setting in numbers { variants.append(with(setting, number)) }
        for setting in durations { variants.append(with(setting, .seconds(number))) }
        for setting in limits { variants.append(with(setting, .seconds(number))) }
        return variants
    }

    private func call(_ baseURL: String, _ configuration: TransportConfiguration, mayFail: Bool) async throws {
        let network = NetworkLayer(to: baseURL, over: try NIOTransport(configuration: configuration))
        do throws(NetworkError) {
            let text = try await network.call(Fetch<POST>("a", .bytes([1, 2, 3]))).text
            #expect(text == "response")
        } catch {
            #expect(mayFail, "\(error)")
        }
    }

    @Test(arguments: [Int.min, -1, 0, .max])
    func everyCallEndsWithAnySetting(number: Int) async throws {
        try await RawHTTP2Server.run(HTTP2WireTests.honest) { server in
            for configuration in variants(of: server.configuration(), number) {
                try await call(server.baseURL, configuration, mayFail: number != .max)
            }
        }
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .text("response"))
            for configuration in variants(of: TransportConfiguration(connectTimeout: .seconds(300)), number) {
                try await call(origin.baseURL, configuration, mayFail: number != .max)
            }
        }
    }
}
