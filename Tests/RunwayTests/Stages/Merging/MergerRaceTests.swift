import HTTPTypes
import RunwayTesting
import Testing

@testable import Runway

/// Calls that are cancelled at the moment when their requests are sent.
@Suite(.timeLimit(.minutes(10)))
struct MergerRaceTests {
    private let layer = MergingLayer()
    private var merger: Merger { layer.network.merger }

    private func item(_ path: EndpointPath) throws -> MergeItem {
        let flight = layer.network.makeFlight(Read.self, .standard)
        let request = try layer.network.assemble(Read(path), delivery: .whole(maximumByteCount: 100), in: flight)
        let policy = try #require(flight.mergePolicy)
        let rest = RequestPipeline.Rest(first: nil, end: TransportLink(layer.server))
        return try #require(MergeItem(request, merger.makeID(), in: flight, under: policy, next: rest))
    }

    /// The dispatch by which a request is sent alone; `nil` if it is not.
    private func dispatch(of item: MergeItem) -> MergeQueue.DispatchID? {
        if case .alone(let dispatch, _) = item.settledOutcome { dispatch } else { nil }
    }

    @Test func itemCancelledBeforeItIsSentAloneCompletes() throws {
        let first = try item("1")
        merger.arrive(first)
        let second = try item("2")
        merger.arrive(second)
        #expect(merger.waitingCount == 1)
        // When one thread has decided to send it alone, the other does not find it in the queue, and reports its failure.
        second.settle(.failed(.cancelled(in: .merging)))
        let result = try #require(dispatch(of: first))
        merger.complete(result, of: first.lane, over: nil)
        #expect(merger.laneCount == 0)
        let third = try item("3")
        merger.arrive(third)
        #expect(dispatch(of: third) != nil, "nothing is in flight that it would wait for")
    }

    @Test func cancelsAgainstLandingsLeaveNoLaneBehind() async throws {
        for round in 1...300 {
            let items = try (1...2).map { try item("\(round)/\($0)") }
            for item in items { merger.arrive(item) }
            let result = try #require(dispatch(of: items[0]))
            await withTaskGroup(of: Void.self) { group in
                group.addTask { merger.complete(result, of: items[0].lane, over: nil) }
                group.addTask { merger.leave(items[1], failing: .cancelled(in: .merging)) }
            }
            if let dispatch = dispatch(of: items[1]) { merger.complete(dispatch, of: items[1].lane, over: nil) }
            try #require(merger.laneCount == 0, "round \(round)")
        }
    }
}
