import HTTPTypes
import Runway
import RunwayTestServer
import RunwayTesting
import Synchronization
import Testing

@testable import RunwayTransport

/// Reads that are hedged, over real sockets to two addresses of a server one of which turns slow.
@Suite(.timeLimit(.minutes(10)))
struct HedgeWireTests {
    /// A read that is sent a second time after a moment.
    private struct HedgedRead: Endpoint {
        static let service = TestService.self
        static let hedging = HedgingPolicy.after(.milliseconds(200))
        static let coalesces = false
        var path: EndpointPath { "read" }
    }

    /// Which connections of a server withhold their responses.
    private final class Silence: Sendable {
        private struct State {
            var connections: Set<Int> = []
            var isNextSilenced = false
        }

        private let state = Mutex(State())
        var connections: Set<Int> { state.withLock { $0.connections } }

        func silence(_ connections: Set<Int>) { state.withLock { $0.connections = connections } }

        /// Silences the connection on which the next request arrives.
        func silenceNext() { state.withLock { $0.isNextSilenced = true } }

        /// Whether the response to a request that has arrived is withheld.
        func withholds(_ connection: Int) -> Bool {
            state.withLock { state in
                if state.isNextSilenced {
                    state.isNextSilenced = false
                    state.connections = [connection]
                }
                return state.connections.contains(connection)
            }
        }
    }

    private func withServer(
        _ body: (RawHTTP2Server, BadNetwork, NetworkLayer, Silence, RecordCollector) async throws -> Void
    ) async throws {
        let silence = Silence()
        try await RawHTTP2Server.run { connection, frame in
            if frame?.is(.headers) == true, silence.withholds(connection.number) { return }
            HTTP2WireTests.honest(connection, frame)
        } _: { server in
            let network = try await BadNetwork(to: server.port, addresses: 2)
            var configuration = server.configuration()
            configuration.hosts = HostBook(bundled: try HostList(["localhost": network.addresses]))
            let records = RecordCollector()
            let layer = NetworkLayer(
                to: "https://localhost:\(network.port)", over: try NIOTransport(configuration: configuration),
                sinks: [records])
            do {
                try await body(server, network, layer, silence, records)
            } catch {
                await network.shutDown()
                throw error
            }
            await network.shutDown()
        }
    }

    @Test func secondAttemptUsesAnotherAddress() async throws {
        try await withServer { server, network, layer, silence, records in
            // The second is far, also seen from a busy machine: the first is the one that calls take and keep.
            try await network.paths[1].set(.passing(PathConditions(roundTrip: .milliseconds(90))))
            for _ in 0..<2 { _ = try await layer.call(Fetch<GET>("warm")) }
            silence.silenceNext()

            let raw = try await layer.call(HedgedRead())
            #expect(raw.text == "answer")
            let record = try #require(try await records.records(count: 3).last)
            let hedges = record.decisions(of: HedgeDecision.self)
            #expect(hedges.count == 2, "\(record)")
            if case .won(.second, _) = hedges.last {} else { Issue.record("\(record)") }
            #expect(record.attempts.count == 2 && record.attempts[1].status == .ok)
            let addresses = record.attempts.map { $0.wire?.address }
            #expect(addresses[0] != nil && addresses[1] != nil && addresses[0] != addresses[1], "\(record)")
            let main = try #require(silence.connections.first)

            // The stream alone is reset (CANCEL), and the connection carries the next request.
            await server.wait { $0.frames(of: main).contains { $0.is(.reset) } || $0.hasEnded(main) }
            // To a busy machine the near address may have looked far worse than the other: then it is left, connection and all.
            if server.hasEnded(main) { return }
            silence.silence([])
            let openCount = server.connectionCount
            #expect(server.endCount < openCount)
            _ = try await layer.call(Fetch<GET>("after"))
            let after = try #require(try await records.records(count: 4).last?.attempts.last?.wire)
            #expect(after.isReused == true)
            #expect(server.connectionCount == openCount)
        }
    }

    /// Opens a connection for calls that are not hedged, and makes it withhold all responses from then on; returns its address.
    private func silenceMain(
        _ server: RawHTTP2Server, _ layer: NetworkLayer, _ silence: Silence, _ records: RecordCollector
    ) async throws -> String {
        _ = try await layer.call(Fetch<GET>("warm"))
        let main = server.frames(of: 1).contains { $0.is(.headers) } ? 1 : 2
        silence.silence([main])
        return try #require(try await records.records(count: 1).last?.attempts.last?.wire?.address)
    }

    @Test func theNextHedgeFindsItsConnectionThere() async throws {
        try await withServer { server, _, layer, silence, records in
            let address = try await silenceMain(server, layer, silence, records)
            for count in 2...3 {
                _ = try await layer.call(HedgedRead())
                let record = try #require(try await records.records(count: count).last)
                let winner = record.attempts.last
                #expect(winner?.status == .ok && winner?.wire?.address != address)
                // The silent one may be known to be the slower by then, and left without a hedge.
                if record.attempts.count == 2 { #expect(winner?.wire?.isReused == (count == 3), "\(record)") }
            }
        }
    }

    @Test func anAddressThatLosesRepeatedlyIsReplaced() async throws {
        try await withServer { server, _, layer, silence, records in
            let address = try await silenceMain(server, layer, silence, records)
            var isLeft = false
            for count in 2...40 where !isLeft {
                _ = try await layer.call(HedgedRead())
                let first = try await records.records(count: count).last?.attempts.first
                isLeft = first?.wire?.address.map { $0 != address } ?? false
            }
            #expect(isLeft)
        }
    }
}
