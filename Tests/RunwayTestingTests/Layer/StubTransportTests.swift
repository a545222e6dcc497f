import HTTPTypes
import Runway
import RunwayTesting
import Testing

@Suite(.timeLimit(.minutes(10)))
struct StubTransportTests {
    @Test func requestsAreRecordedInOrder() async throws {
        let transport = StubTransport { request in .json(#"{"path":"\#(request.head.path ?? "")"}"#) }
        let network = NetworkLayer(transport: transport)
        for id in 1...3 {
            #expect(try await network.call(Item(id: id)).text == #"{"path":"/items?id=\#(id)"}"#)
        }
        #expect(transport.requests.map { $0.head.path } == ["/items?id=1", "/items?id=2", "/items?id=3"])
    }

    @Test func failureOfTheStubFailsTheCall() async {
        let transport = StubTransport { _ throws(NetworkError) in
            throw NetworkError(.notTrusted, in: .transporting, "The stub trusts nobody.")
        }
        let network = NetworkLayer(transport: transport)
        let error = await #expect(throws: NetworkError.self) { try await network.call(Item()) }
        #expect(error?.kind == .notTrusted)
        #expect(error?.detail == "The stub trusts nobody.")
        #expect(transport.requests.count == 1)
    }

    @Test func waitingResponseIsCancelledWithItsCall() async throws {
        let clock = ManualClock()
        let transport = StubTransport { _ throws(NetworkError) in
            do {
                try await clock.sleep(for: .seconds(1))
            } catch {
                throw NetworkError(.cancelled, in: .transporting, "The response was cancelled.")
            }
            return .json("{}")
        }
        let network = NetworkLayer(transport: transport)
        let call = Task { try await network.call(Item()) }
        try await clock.waitForSleepers()
        call.cancel()
        let error = await #expect(throws: NetworkError.self) { try await call.value }
        #expect(error?.kind == .cancelled)
        // Only its cancellation wakes the response: the clock stands still.
        try await waitUntil { clock.sleeperCount == 0 }
    }

    @Test func responsesHaveTheirContentTypes() {
        let json = Response.json("[1]", status: .created)
        #expect(json.head.status == .created)
        #expect(json.head.headerFields[.contentType] == "application/json")
        let bytes = Response.bytes([0x31, 0xFF])
        #expect(bytes.head.status == .ok)
        #expect(bytes.head.headerFields[.contentType] == nil)
        #expect(Response.bytes([], contentType: "image/png").head.headerFields[.contentType] == "image/png")
        for (response, expected) in [(json, Array("[1]".utf8)), (bytes, [0x31, 0xFF])] {
            guard case .whole(let rawData) = response.body else {
                Issue.record("The body is not whole.")
                continue
            }
            #expect(rawData.bytes == expected)
            #expect(rawData.response == response.head)
        }
    }
}
