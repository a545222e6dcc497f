import HTTPTypes
import RunwayJSON
import RunwayTesting
import Testing

@testable import Runway

/// Stale responses that land if no fresh one is available.
struct StaleIfErrorTests {
    private let layer = CachedLayer()
    private let options = CallOptions.policy(.timeToLive(.seconds(10), staleIfError: .seconds(60)))

    private static func failure(_ kind: NetworkError.Kind) -> Result<Response, NetworkError> {
        .failure(NetworkError(kind, in: .transporting, "It failed."))
    }

    @Test(arguments: [
        failure(.noNetwork), failure(.timedOut), failure(.overloaded), .success(.json("{}", status: .badGateway)),
        .success(.json("{}", status: .internalServerError)), .success(.json("{}", status: .serviceUnavailable)),
        .success(.json("{}", status: .tooManyRequests)),
    ])
    func itLandsAfterNetworkAndServerFailures(_ result: Result<Response, NetworkError>) async throws {
        #expect(try await layer.number(options) == 1)
        layer.clock.advance(by: .seconds(15))
        layer.server.respond(with: result)
        let rawData = try await layer.network.call(Work(), options: options)
        #expect(rawData["n"].int == 1 && rawData.source == .staleCache)
        #expect(
            await layer.lastDecisions() == [
                .expired(by: .seconds(5)), .staleIfError(staleBy: .seconds(5)),
            ])
        let record = layer.records.records.last
        #expect(record?.source == .staleCache && record?.outcome.name == "succeeded" && record?.attempts.count == 1)
        layer.server.respond(with: nil)
        #expect(try await layer.number(options) == 3, "it is no fresh response for the next call")
    }

    @Test(arguments: [
        failure(.notTrusted), failure(.cancelled), failure(.invalidResponse), failure(.needsLogin),
        .success(.json("{}", status: .notFound)), .success(.json("{}", status: .unauthorized)),
        .success(.json(#"{"bad":1}"#)),
    ])
    func itHidesNoOtherFailure(_ result: Result<Response, NetworkError>) async throws {
        #expect(try await layer.number(options) == 1)
        layer.clock.advance(by: .seconds(15))
        layer.server.respond(with: result)
        #expect(await layer.failure(Work(), options) != nil)
    }

    @Test func windowEndsByTheInstantOfTheFailure() async throws {
        let parked = ParkedLayer()
        try await parked.fill(1, options: options)
        for (seconds, isThere) in [(55, true), (5, false)] {
            parked.clock.advance(by: .seconds(seconds))
            async let call = parked.network.call(Work(), options: options)
            let flight = try await parked.arrival()
            parked.clock.advance(by: .seconds(6))
            parked.transport.respond(flight, with: Self.failure(.noNetwork))
            let source = try? await call.source
            #expect(source == (isThere ? .staleCache : nil))
        }
    }

    @Test func itLandsAtTheDeadlineWithoutAResponse() async throws {
        let parked = ParkedLayer()
        let options = CallOptions.policy(.timeToLive(.seconds(10), staleIfError: .seconds(3600)))
        try await parked.fill(1, options: options)
        parked.clock.advance(by: .seconds(15))
        async let call = parked.network.call(Work(), options: options)
        _ = try await parked.arrival()
        try await parked.clock.waitForSleepers()
        parked.clock.advance(by: .seconds(60))
        #expect(try await call.source == .staleCache)
    }

    @Test func aRefreshThatFailsFails() async throws {
        #expect(try await layer.number(options) == 1)
        layer.server.respond(with: Self.failure(.noNetwork))
        var refresh = options
        refresh.cacheUse = .refresh
        #expect(await layer.failure(Work(), refresh)?.kind == .noNetwork)
    }

    @MainActor @Test func aManagerIsNotifiedOfItAsStale() async throws {
        let recorder = LandingRecorder()
        let manager = APIManager<Work>(on: layer.network, delegate: recorder)
        manager.load(Work(), options: options)
        try await recorder.landings(count: 1)
        layer.clock.advance(by: .seconds(15))
        layer.server.respond(with: Self.failure(.noNetwork))
        manager.load(Work(), options: options)
        #expect(manager.isLoading)
        try await recorder.landings(count: 2)
        #expect(manager.rawData?.source == .staleCache && manager.error == nil && !manager.isProvisional)
    }
}
