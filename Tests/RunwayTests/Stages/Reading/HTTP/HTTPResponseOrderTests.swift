import HTTPTypes
import RunwayTesting
import Testing

@testable import Runway

/// Which responses are stored if calls, clears and uncacheable responses overlap.
@Suite(.timeLimit(.minutes(10)))
struct HTTPResponseOrderTests {
    private let room = ReadingRoom()

    private func options(_ use: CacheUse = .standard) -> CallOptions { CallOptions(cache: .http(), cacheUse: use) }

    private func begin(
        _ number: UInt64, _ language: String, _ use: CacheUse = .standard
    ) async throws -> Task<RawData, any Error> {
        let call = room.call(Shelf(fields: ["Accept-Language": language]), options(use))
        try await room.transport.waitForArrival(of: number)
        return call
    }

    private func respond(_ number: UInt64, _ control: String = "max-age=600") {
        var response = Response.json(#"{"flight":\#(number)}"#)
        response.head.headerFields[.cacheControl] = control
        response.head.headerFields[.vary] = "Accept-Language"
        room.transport.respond(number, with: .success(response))
    }

    /// The number of the stored response; `nil` if there is none.
    private func stored(_ language: String) async -> UInt64? {
        try? await room.call(Shelf(fields: ["Accept-Language": language]), options(.onlyIfCached)).number
    }

    @Test func olderResponseNeverReturnsAfterUncacheableNewerOne() async throws {
        let older = try await begin(1, "de")
        respond(1)
        #expect(try await older.number == 1)
        let newer = try await begin(2, "de", .refresh)
        // Of the same target, in another language: responses to earlier requests are not stored.
        let other = try await begin(3, "fr")
        respond(3, "no-store")
        #expect(try await other.number == 3)
        #expect(await stored("de") == 1)
        respond(2)
        #expect(try await newer.number == 2)
        #expect(await stored("de") == nil)
    }

    @Test func clearOfOneAccountAllowsStoringAnothersResponse() async throws {
        let call = try await begin(1, "de")
        room.network.cache.clear(account: "ann")
        respond(1)
        #expect(try await call.number == 1)
        #expect(await stored("de") == 1)
    }

    @Test(arguments: Clearing.all.filter { $0.concerns[0] }) func callWaitingDuringAClearIsNotStored(
        _ clearing: Clearing
    ) async throws {
        let transport = CarryingTransport()
        let network = NetworkLayer(
            transport: transport, pipeline: .tested, clock: LayerClock(ManualClock()),
            limits: LayerLimits(admission: AdmissionLimits(maximumFlights: 1), retrying: .none))
        network.configure(Gallery.self) { $0.account = "ann" }
        let flying = Task { try await network.call(Work(id: 2), options: .policy(.http())) }
        try await transport.waitForArrival(of: 1)
        let waiting = Task { try await network.call(Work(), options: .policy(.http())) }
        try await waitUntil { network.admission.counts.waiting > 0 }
        try clearing.clear(network)
        transport.respond(1)
        _ = try await flying.value
        try await transport.waitForArrival(of: 2)
        var response = Response.json(#"{"flight":2}"#)
        response.head.headerFields[.cacheControl] = "max-age=600"
        transport.respond(2, with: .success(response))
        #expect(try await waiting.number == 2, "it lands all the same")
        await #expect(throws: NetworkError.self) {
            try await network.call(Work(), options: .policy(.http(), .onlyIfCached))
        }
    }

    @Test func aTooLargeStreamRemovesAnOlderResponse() async throws {
        let transport = CarryingTransport()
        let network = NetworkLayer(
            transport: transport, pipeline: .tested, clock: LayerClock(ManualClock()),
            limits: LayerLimits(
                cache: CacheLimits(maximumHTTPBodyByteCount: 20), admission: .none, retrying: .none))
        func respond(_ number: UInt64, _ text: String) {
            var response = Response.json(text)
            response.head.headerFields[.cacheControl] = "max-age=600"
            if number == 2 { response.body = .stream(BodyStream(Array(text.utf8))) }
            transport.respond(number, with: .success(response))
        }
        let standard = options()
        let older = Task { try await network.call(Shelf(), options: standard) }
        try await transport.waitForArrival(of: 1)
        respond(1, #"{"flight":1}"#)
        #expect(try await older.number == 1)
        #expect(network.cache.count == 1)
        let refresh = options(.refresh)
        let newer = Task { try await network.stream(Shelf(), options: refresh) }
        try await transport.waitForArrival(of: 2)
        let text = #"{"flight":2,"more":true}"#
        respond(2, text)
        #expect(try await newer.value.body.collect(upTo: 100) == Array(text.utf8))
        #expect(network.cache.count == 0)
    }
}
