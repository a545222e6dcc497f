import HTTPTypes
import Runway
import RunwayTestServer
import RunwayTesting
import Testing

// The examples in the doc comments of RunwayTesting, line by line. They are compiled and not run.

func driveClock() async throws {
    let clock = ManualClock()
    let reminder = Task { try await clock.sleep(for: .seconds(60)) }
    try await clock.waitForSleepers()  // the task is asleep now
    clock.advance(by: .seconds(60))  // and awake again
    try await reminder.value
}

func stub() -> NetworkLayer {
    let transport = StubTransport { request in .json(#"{"code":0,"result":{"items":[]}}"#) }
    let network = NetworkLayer(transport: transport)
    return network
}

struct ListEndpoint: Endpoint {
    static let service = Listings.self
    var path: EndpointPath { "list" }
}

@MainActor func holdAResponse(of origin: ScriptedOrigin, to manager: APIManager<ListEndpoint>) async throws {
    let gate = ScriptedGate()
    origin.on(.get, "/list", respond: .json("[]").held(by: gate))
    let flight = manager.load(ListEndpoint())
    try await gate.waitForArrivals()  // the request was received, the response stands at the gate
    manager.cancel(flight)
    gate.open()
}

func scriptAnOrigin() async throws {
    try await withScriptedOrigin { origin in
        origin.on(.get, "/list", respond: .json(#"{"list":[]}"#))
        // … let the app call origin.baseURL + "/list" …
        let requests = try await origin.waitForRequests(count: 1)
        #expect(requests[0]["Authorization"] == "Bearer 1")
        #expect(origin.unexpectedRequests.isEmpty)
    }
}

func bendResponses(_ page: [UInt8], _ gate: ScriptedGate, on clock: ManualClock) -> [ScriptedResponse] {
    let responses: [ScriptedResponse] = [
        .json(#"{"list":[]}"#),
        .text("moved", status: .gone),
        .json("{}").held(by: gate),  // comes when the test says so
        .bytes(page).declaring(length: 9_000_000),  // a wrong content length
        .chunks(["one", "two"]).pausing(.betweenChunks, .delay(.seconds(5), on: clock)),
        .json("{}").cut(after: .bodyBytes(1), by: .reset),  // torn in the middle
    ]
    return responses
}

func draw(_ seed: UInt64) -> Int {
    var random = SeededGenerator(seed: seed)
    let delay = Int.random(in: 0..<100, using: &random)
    return delay
}
