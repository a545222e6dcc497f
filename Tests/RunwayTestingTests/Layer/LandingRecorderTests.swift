import HTTPTypes
import Runway
import RunwayTesting
import Testing

@MainActor
@Suite(.timeLimit(.minutes(10)))
struct LandingRecorderTests {
    private let recorder = LandingRecorder()
    private let manager: APIManager<Item>

    init() {
        let transport = StubTransport { request throws(NetworkError) in
            guard request.head.path == "/items?id=1" else {
                throw NetworkError(.notTrusted, in: .transporting, "There is one item.")
            }
            return .json(#"{"id":1}"#)
        }
        manager = APIManager(on: NetworkLayer(transport: transport), delegate: recorder)
    }

    @Test func landingsAreRecordedInOrder() async throws {
        let first = manager.load(Item(id: 1))
        try await recorder.landings(count: 1)
        let second = manager.load(Item(id: 2))
        let landings = try await recorder.landings(count: 2)
        #expect(landings.map(\.flight) == [first, second])
        #expect(landings.map { ($0.endpoint as? Item)?.id } == [1, 2])
        #expect(try landings[0].result.get().text == #"{"id":1}"#)
        let error = #expect(throws: NetworkError.self) { try landings[1].result.get() }
        #expect(error?.kind == .notTrusted)
    }

    @Test func waitsSeeEveryRecordedLanding() async throws {
        var received: [(flight: FlightID?, recordedCount: Int, isOwn: Bool)] = []
        recorder.onLanding = { [recorder, manager] landing, landed in
            received.append((landing.flight, recorder.landings.count, landed === manager))
        }
        let first = manager.load(Item(id: 1))
        try await recorder.landings(count: 1)
        let second = manager.load(Item(id: 2))
        try await recorder.landings(count: 2)
        #expect(received.map { $0.flight } == [first, second])
        #expect(received.map { $0.recordedCount } == [1, 2])
        #expect(received.allSatisfy { $0.isOwn })
        recorder.onLanding = nil
    }

    @Test func waitThatTimesOutNamesTheLandings() async throws {
        manager.load(Item(id: 1))
        try await recorder.landings(count: 1)
        let error = await #expect(throws: WaitTimedOut.self) {
            _ = try await recorder.landings(count: 2, within: .milliseconds(1))
        }
        #expect(error?.subject == "landings")
        #expect(error?.expected == 2)
        #expect(error?.seen == 1)
    }

    @Test func cancelledWaitThrowsCancellationError() async {
        let wait = Task { _ = try await recorder.landings(count: 1) }
        wait.cancel()
        await #expect(throws: CancellationError.self) { try await wait.value }
    }
}
