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
        static let delay = Duration.milliseconds(200)
        static let hedging = HedgingPolicy.after(delay)
        static let coalesces = false
        var path: EndpointPath { "read" }
    }

    /// Which connections of a server withhold their responses.
    private final class Silence: Sendable {
        private struct State {
            var connections: Set<Int> = []
            var isNextSilenced = false
            var withheldCount = 0
        }

        private let state = Mutex(State())
        var connections: Set<Int> { state.withLock { $0.connections } }
        /// How many requests have arrived whose responses are withheld.
        var withheldCount: Int { state.withLock { $0.withheldCount } }

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
                let isWithheld = state.connections.contains(connection)
                state.withheldCount += isWithheld ? 1 : 0
                return isWithheld
            }
        }
    }

    /// A server with two addresses, and a layer that calls it.
    private struct World {
        let server: RawHTTP2Server
        let network: BadNetwork
        let layer: NetworkLayer
        let silence: Silence
        let records: RecordCollector
        /// The clock of the layer, which is not that of its transport.
        let clock: ManualClock

        /// The record of the call that was made as the one of this number, counted from 1.
        func record(_ number: Int) async throws -> FlightRecord {
            try await records.records(count: number)[number - 1]
        }

        /// Makes a hedged read. Its second attempt is due when the first has arrived at the server and gets no response, however long
        /// that takes.
        func hedgedRead() async throws -> RawData {
            let (end, before) = (ScriptedGate(), silence.withheldCount)
            let call = Task {
                defer { end.open() }
                return try await layer.call(HedgedRead())
            }
            try await waitUntil("the second attempt to be due, or the response") {
                if end.isOpen { return true }
                guard silence.withheldCount > before, let next = clock.nextDeadline else { return false }
                return clock.now.duration(to: next) <= HedgedRead.delay
            }
            if !end.isOpen { clock.advance(by: HedgedRead.delay) }
            return try await call.value
        }
    }

    /// - Parameters:
    ///   - roundTrip: The known round trip of both addresses. If it is long, a busy machine does not make the one in use look far worse.
    ///   - clock: The layer's clock; `nil` for a manual one.
    private func withServer(
        knowing roundTrip: Duration, clock: LayerClock? = nil, _ body: (World) async throws -> Void
    ) async throws {
        let silence = Silence()
        try await RawHTTP2Server.run { connection, frame in
            if frame?.is(.headers) == true, silence.withholds(connection.number) { return }
            HTTP2WireTests.honest(connection, frame)
        } _: { server in
            let network = try await BadNetwork(to: server.port, addresses: 2)
            // What is noted below is not measured anew meanwhile.
            let selector = HostSelector(limits: HostSelectionLimits(explorationInterval: .seconds(3600)))
            for address in network.addresses {
                selector.note(.dialed(roundTrip: roundTrip), of: try #require(IPAddress(address)), of: "localhost")
            }
            var configuration = server.configuration()
            configuration.hosts = HostBook(
                bundled: try HostList(["localhost": network.addresses]), selector: selector)
            let (records, manual) = (RecordCollector(), ManualClock())
            let layer = NetworkLayer(
                to: "https://localhost:\(network.port)", over: try NIOTransport(configuration: configuration),
                clock: clock ?? LayerClock(manual), sinks: [records])
            do {
                try await body(
                    World(
                        server: server, network: network, layer: layer, silence: silence, records: records,
                        clock: manual))
            } catch {
                await network.shutDown()
                throw error
            }
            await network.shutDown()
        }
    }

    /// Whether a connection was made to an address as soon as it was dialled: no other was, as on a machine that stands still meanwhile.
    private func isUndisturbed(_ wire: WireRecord?) -> Bool { wire.map { $0.dialed.count <= 1 } ?? false }

    @Test func secondAttemptUsesAnotherAddress() async throws {
        try await untilUndisturbed {
            var isUndisturbed = false
            try await withServer(knowing: .milliseconds(300)) { isUndisturbed = try await hedgeOnce($0) }
            return isUndisturbed
        }
    }

    private func hedgeOnce(_ world: World) async throws -> Bool {
        let (server, layer) = (world.server, world.layer)
        for _ in 0..<2 { _ = try await layer.call(Fetch<GET>("warm")) }
        let main = try #require(server.requests.last).connection
        let first = try #require(try await world.record(2).attempts.last?.wire?.address)
        world.silence.silenceNext()

        let raw = try await world.hedgedRead()
        #expect(raw.text == "response")
        let record = try await world.record(3)
        let hedges = record.decisions(of: HedgeDecision.self)
        #expect(hedges.count == 2, "\(record)")
        if case .won(.second, _) = hedges.last {} else { Issue.record("\(record)") }
        #expect(record.attempts.count == 2 && record.attempts.last?.status == .ok)
        guard world.silence.connections == [main] else { return false }
        // The record may end before the transport reports the wire of an attempt that is cancelled.
        #expect(record.attempts.first?.wire.map { $0.address == first } ?? true, "\(record)")
        let second = try #require(record.attempts.last?.wire)
        #expect(second.dialed.first.map { first.hasPrefix("\($0.address):") } == false, "\(record)")
        guard isUndisturbed(second) else { return false }
        #expect(second.address != first, "\(record)")

        // The stream alone is reset (CANCEL), and the connection carries the next request.
        await server.wait { $0.frames(of: main).contains { $0.is(.reset) } || $0.hasEnded(main) }
        // To a busy machine the near address may have looked far worse than the other: then it is left, connection and all.
        if server.hasEnded(main) { return false }
        world.silence.silence([])
        let openCount = server.connectionCount
        #expect(server.endCount < openCount)
        _ = try await layer.call(Fetch<GET>("after"))
        let after = try #require(try await world.record(4).attempts.last?.wire)
        #expect(after.isReused == true)
        #expect(server.connectionCount == openCount)
        return true
    }

    /// Opens a connection for calls that are not hedged, and makes it withhold all responses from then on; returns its address.
    private func silenceMain(_ world: World) async throws -> String {
        _ = try await world.layer.call(Fetch<GET>("warm"))
        world.silence.silence([try #require(world.server.requests.last).connection])
        return try #require(try await world.record(1).attempts.last?.wire?.address)
    }

    @Test func theNextHedgeFindsItsConnectionThere() async throws {
        try await untilUndisturbed {
            var isUndisturbed = false
            try await withServer(knowing: .milliseconds(300)) { isUndisturbed = try await hedgeTwice($0) }
            return isUndisturbed
        }
    }

    private func hedgeTwice(_ world: World) async throws -> Bool {
        let address = try await silenceMain(world)
        for number in 2...3 {
            _ = try await world.hedgedRead()
            let attempts = try await world.record(number).attempts
            let winner = try #require(attempts.last)
            #expect(winner.status == .ok)
            // The silent one may be known to be the slower by then, and left without a hedge.
            guard attempts.count == 2, number == 3 || isUndisturbed(winner.wire) else { return false }
            #expect(winner.wire?.address != address)
            #expect(winner.wire?.isReused == (number == 3), "\(attempts)")
        }
        return true
    }

    @Test func anAddressThatLosesRepeatedlyIsReplaced() async throws {
        // In real time, which the hedges take, and by far more than both addresses do.
        try await withServer(knowing: .milliseconds(5), clock: .system) { world in
            let address = try await silenceMain(world)
            // Nor does anything come over another connection to it.
            let path = try #require(world.network.paths.first { address.hasPrefix("\($0.address):") })
            try await path.set(.passing(PathConditions(roundTrip: .seconds(3600))))
            var isLeft = false
            for number in 2...40 where !isLeft {
                _ = try await world.layer.call(HedgedRead())
                let first = try await world.record(number).attempts.first
                isLeft = first?.wire?.address.map { $0 != address } ?? false
            }
            #expect(isLeft)
        }
    }
}
