import HTTPTypes
import RunwayTesting
import Testing

@testable import Runway

/// What becomes of calls when the device has no network.
@Suite(.timeLimit(.minutes(10)))
struct NetworkAdmissionTests {
    private let status = SettableNetworkStatus(.none)
    private let waits = CallOptions(waitsForNetwork: true)

    private func wait(for layer: StubbedLayer, waiting count: Int) async throws {
        try await waitUntil { layer.network.connectivity.waitingCount >= count }
    }

    @Test func callWithoutANetworkFailsAtOnce() async throws {
        let layer = StubbedLayer(status: status, retrying: .retrying)
        let error = try await layer.failure(of: QueryCall())
        #expect(error.kind == .noNetwork && error.step == .admission && error.sending == .notSent)
        #expect(error.detail == "The device has no network.")
        #expect(layer.transport.requests.isEmpty)
        #expect(try await layer.record().decisions(of: AdmissionDecision.self) == [.refused(.noNetwork)])
        status.set(.unknown)
        _ = try await layer.network.call(QueryCall())
    }

    @Test func cachedResponsesAreNotRefused() async throws {
        struct Memory: RequestStage {
            var step: FlightStep { .customStage("memory") }
            func respondImmediately(_ draft: inout RequestDraft, in flight: Flight) -> ImmediateResponse {
                var response = Response.json("[1]")
                response.verdict = .fine
                return .response(response)
            }
            func respond(
                to request: Request, in flight: Flight, next: RequestPipeline.Rest
            ) async throws(NetworkError) -> Response { .json("[2]") }
        }
        var pipeline = RequestPipeline.tested
        pipeline.insert(Memory(), after: .reading)
        let layer = StubbedLayer(pipeline: pipeline, status: status)
        #expect(try await layer.network.call(QueryCall()).text == "[1]")
    }

    @Test func callWaitsForTheNetworkOnRequest() async throws {
        let layer = StubbedLayer(status: status)
        let call = Task { [waits] in try await layer.network.call(QueryCall(), options: waits) }
        try await wait(for: layer, waiting: 1)
        layer.clock.advance(by: .seconds(9))
        #expect(layer.transport.requests.isEmpty)
        status.set(.cellular)
        _ = try await call.value
        #expect(try await layer.record().decisions(of: AdmissionDecision.self) == [.waitedForNetwork(.seconds(9))])
    }

    @Test func allWaitersAreAdmittedTogether() async throws {
        let layer = StubbedLayer(status: status)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<50 {
                group.addTask { [waits] in _ = try await layer.network.call(BookSearch(page: index), options: waits) }
            }
            try await wait(for: layer, waiting: 50)
            status.set(.wifi)
            try await group.waitForAll()
        }
        #expect(layer.transport.requests.count == 50)
        #expect(layer.network.connectivity.waitingCount == 0)
    }

    @Test func waitEndsAtTheDeadline() async throws {
        let layer = StubbedLayer(status: status)
        let call = Task { [waits] in try await layer.network.call(QueryCall(), options: waits) }
        try await wait(for: layer, waiting: 1)
        try await layer.clock.waitForSleepers()
        layer.clock.advance(by: .seconds(60))
        let error = await #expect(throws: NetworkError.self) { try await call.value }
        #expect(error?.kind == .timedOut)
        try await waitUntil { layer.network.connectivity.waitingCount == 0 }
        #expect(layer.transport.requests.isEmpty)
    }

    @Test func waitEndsWithTheTask() async throws {
        let layer = StubbedLayer(status: status)
        let call = Task { [waits] in try await layer.network.call(QueryCall(), options: waits) }
        try await wait(for: layer, waiting: 1)
        call.cancel()
        let error = await #expect(throws: NetworkError.self) { try await call.value }
        #expect(error?.kind == .cancelled)
        try await waitUntil { layer.network.connectivity.waitingCount == 0 }
    }

    @Test func noMoreWaitThanMay() async throws {
        let layer = StubbedLayer(status: status, admission: AdmissionLimits(maximumWaitingForNetwork: 1))
        let call = Task { [waits] in try await layer.network.call(QueryCall(), options: waits) }
        try await wait(for: layer, waiting: 1)
        let error = await #expect(throws: NetworkError.self) {
            try await layer.network.call(QueryCall(given: ["other": 1]), options: waits)
        }
        #expect(error?.kind == .noNetwork)
        #expect(error?.detail == "The device has no network, and 1 calls already wait for one.")
        status.set(.wired)
        _ = try await call.value
    }

    @Test func changingNetworkLosesNoWaiter() async throws {
        let layer = StubbedLayer(status: status)
        let flapping = Task {
            while !Task.isCancelled {
                status.set(.wifi)
                await Task.yield()
                status.set(.none)
                await Task.yield()
            }
        }
        await withTaskGroup { group in
            for index in 0..<200 {
                group.addTask { [waits] in _ = try? await layer.network.call(BookSearch(page: index), options: waits) }
            }
        }
        flapping.cancel()
        #expect(layer.transport.requests.count == 200)
    }
}
