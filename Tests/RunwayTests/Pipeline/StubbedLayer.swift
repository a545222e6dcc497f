import Runway
import RunwayTesting
import Testing

/// A layer whose wire is a stub and whose clock a test drives, with all its records collected.
///
/// Unless a test asks for it nothing is tried again, since the wait for that would last until the test moves the clock, and nothing
/// is refused, since time that stands still makes any number of calls a flood.
struct StubbedLayer {
    let transport: StubTransport
    let records = RecordCollector()
    let clock = ManualClock()
    let network: NetworkLayer

    init(
        name: String = "default", pipeline: RequestPipeline = RequestPipeline.tested, redaction: Redaction = .default,
        sinks: [any EventSink] = [], status: any NetworkStatusSource = SettableNetworkStatus(),
        admission: AdmissionLimits = .none, retrying: AttemptLimits = .none,
        response: @escaping StubTransport.Respond = { _ in .json("{}") }
    ) {
        transport = StubTransport(respond: response)
        network = NetworkLayer(
            name: name, transport: transport, pipeline: pipeline, clock: LayerClock(clock), sinks: [records] + sinks,
            redaction: redaction, limits: LayerLimits(admission: admission, retrying: retrying), status: status,
            randomness: SeededGenerator(seed: 1))
    }

    /// The one error that a call ends in.
    func failure<E: Endpoint>(of endpoint: E) async throws -> NetworkError {
        let error = await #expect(throws: NetworkError.self) { try await network.call(endpoint) }
        return try #require(error)
    }

    /// The one request that a call sends.
    func request<E: Endpoint>(of endpoint: E) async throws -> Request {
        _ = try await network.call(endpoint)
        return try #require(transport.requests.last)
    }

    /// The only record so far.
    func record() async throws -> FlightRecord {
        await network.flushRecords()
        #expect(records.records.count == 1)
        return try #require(records.records.first)
    }
}

extension RequestBody {
    /// The bytes of a body that is in memory, as text.
    var text: String? {
        if case .bytes(let bytes) = self { String(validating: bytes, as: UTF8.self) } else { nil }
    }
}
