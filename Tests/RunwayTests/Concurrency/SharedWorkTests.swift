import RunwayTesting
import Synchronization
import Testing

@testable import Runway

@Suite(.timeLimit(.minutes(10)))
struct SharedWorkTests {
    private let rules = SharedWorkRules(
        maximumListed: 10, maximumMembers: 10, crowding: .beginsAnother, abandonment: .isCancelled)

    /// A deadline may end a work on another thread at the very moment in which the one who asked for it is about to begin.
    @Test(arguments: [true, false])
    func recordOfAReadThatEndsBeforeItBeginsIsNotLost(_ endsInTime: Bool) async throws {
        let layer = StubbedLayer()
        let flight = layer.network.makeFlight(QueryCall.self, .standard)
        let shared = SharedWork<Int, Int>(in: .stage(.coalescing), rules) { $0.endCarrying() }
        let hasBegun = Mutex(false)
        let timedOut = NetworkError(.timedOut, in: .stage(.coalescing), "The deadline of the call passed.")
        let error = await #expect(throws: NetworkError.self) {
            try await shared.value(
                of: 1, for: flight, endsInTime: endsInTime,
                begins: { number in
                    #expect(shared.end(number, with: .failure(timedOut)))
                    flight.beginCarrying(number)
                },
                { _ throws(NetworkError) in
                    hasBegun.withLock { $0 = true }
                    return 1
                })
        }
        #expect(error?.kind == .timedOut && shared.isEmpty)
        _ = flight.finish(failing: timedOut)
        #expect(try await layer.record().outcome.name == "failed")
        #expect(!hasBegun.withLock { $0 }, "nobody waits for the work any more")
    }
}
