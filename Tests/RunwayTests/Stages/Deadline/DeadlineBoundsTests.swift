import Runway
import RunwayTesting
import Testing

struct DeadlineBoundsTests {
    private func layer(_ deadline: Duration, response: @escaping StubTransport.Respond = { _ in .json("{}") })
        -> StubbedLayer
    {
        let layer = StubbedLayer(response: response)
        layer.network.configure(Library.self) { $0.deadline = deadline }
        return layer
    }

    @Test(arguments: [Duration.zero, .seconds(-1), .seconds(Int64.min / 2)])
    func timeThatHasPassedAlreadySendsNothing(_ deadline: Duration) async throws {
        let layer = layer(deadline)
        let error = try await layer.failure(of: QueryCall())
        #expect(error.kind == .timedOut)
        #expect(error.detail == "There was no response within 0 µs.")
        #expect(layer.transport.requests.isEmpty)
        #expect(try await layer.record().outcome.name == "failed")
    }

    @Test(arguments: [Duration.seconds(Int64.max), .seconds(Int64.max / 2), .seconds(400 * 86_400)])
    func timeLongerThanAYearIsAYear(_ deadline: Duration) async throws {
        let gate = ScriptedGate()
        let layer = layer(deadline) { _ throws(NetworkError) in
            do { try await gate.pass() } catch { throw NetworkError(.cancelled, in: .transporting, "x") }
            return .json("{}")
        }
        let call = Task { [network = layer.network] in try await network.call(QueryCall()) }
        try await gate.waitForArrivals()
        try await layer.clock.waitForSleepers()
        #expect(layer.clock.nextDeadline?.offset == .seconds(365 * 86_400))
        gate.open()
        _ = try await call.value
    }

    @Test func endpointsDeadlineWinsOverTheServices() async throws {
        struct Quick: Endpoint {
            static let service = Library.self
            static let deadline: Duration? = .zero
            var path: EndpointPath { "q" }
        }
        #expect(try await layer(.seconds(60)).failure(of: Quick()).kind == .timedOut)
    }

    @Test func defaultIsAMinute() {
        #expect(Library.deadline == .seconds(60))
        #expect(StubbedLayer().network.settings(of: Library.self).deadline == .seconds(60))
        #expect(StubbedLayer().network.settings(of: Museum.self).deadline == .seconds(20))
    }
}
