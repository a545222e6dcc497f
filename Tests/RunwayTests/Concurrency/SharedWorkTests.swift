import RunwayTesting
import Synchronization
import Testing

@testable import Runway

@Suite(.timeLimit(.minutes(10)))
struct SharedWorkTests {
    private let rules = SharedWorkRules(
        maximumListed: 10, maximumMembers: 10, overflow: .startsAnother, abandonment: .isCancelled)

    /// A deadline may end a work on another thread at the very moment in which the one who asked for it is about to begin.
    @Test(arguments: [true, false])
    func unbegunReadsRecordIsReported(_ endsInTime: Bool) async throws {
        let layer = StubbedLayer()
        let flight = layer.network.makeFlight(QueryCall.self, .standard)
        let timedOut = NetworkError(.timedOut, in: .reading, "The deadline of the call passed.")
        // The work ends before its task starts.
        let table = Mutex<SharedWork<Int, Int>?>(nil)
        let shared = SharedWork<Int, Int>(in: .reading, rules) { flight, number in
            #expect(table.withLock { $0 }?.end(number, with: .failure(timedOut)) ?? false)
            flight.beginLeading(number)
        } onEnd: {
            $0.endLeading()
        }
        table.withLock { $0 = shared }
        defer { table.withLock { $0 = nil } }
        let hasBegun = Mutex(false)
        let error = await #expect(throws: NetworkError.self) {
            guard case .leader(let lease) = try shared.enter(1, for: flight, endsInTime: endsInTime) else { return }
            _ = try await shared.lead(lease) { () async throws(NetworkError) in
                hasBegun.withLock { $0 = true }
                return SharedWork.Completion(value: 1)
            }
        }
        #expect(error?.kind == .timedOut && shared.isEmpty)
        _ = flight.finish(failing: timedOut)
        #expect(try await layer.record().outcome.name == "failed")
        #expect(!hasBegun.withLock { $0 }, "nobody waits for the work any more")
    }
}
