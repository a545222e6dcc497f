import RunwayTesting
import Testing

@testable import Runway

struct WriteBehindQueueTests {
    private let network = NetworkLayer(transport: StubTransport { _ in .json("{}") }, pipeline: .tested)

    private func key(_ id: Int) throws -> CacheKey {
        let flight = network.makeFlight(Work.self, .standard)
        let request = try network.assemble(Work(id: id), delivery: .whole(maximumByteCount: 1), in: flight)
        return try #require(CacheKey(request, in: flight))
    }

    private func respond(_ id: Int, byteCount: Int = 0) throws -> TimeToLiveResponse {
        TimeToLiveResponse(
            RawData([UInt8](repeating: 0, count: byteCount)), for: try key(id), sequenceNumber: 1, fetched: .zero,
            entered: .zero,
            date: network.clock.date)
    }

    private func names(_ queue: inout WriteBehindQueue) -> [String] {
        _ = queue.begin()
        var names: [String] = []
        while true {
            let operations = queue.next()
            if operations.isEmpty { return names }
            #expect(operations.count <= WriteBehindQueue.maximumBatchCount)
            for operation in operations {
                switch operation {
                case .store: names.append("store")
                case .remove: names.append("remove")
                case .removeTarget: names.append("removeTarget")
                case .clear(let scope): names.append("clear \(scope)")
                }
            }
            queue.succeed()
        }
    }

    @Test func supersededOperationsAreDropped() throws {
        var queue = WriteBehindQueue(maximumByteCount: 1 << 20)
        for id in 1...3 { queue.add(.store(.call(try respond(id)))) }
        queue.add(.store(.call(try respond(1))))
        queue.add(.remove(.call(try key(2))))
        let names1 = names(&queue)
        #expect(names1 == ["store", "store", "remove"])
        for id in 1...3 { queue.add(.store(.call(try respond(id)))) }
        queue.add(.clear(.service("library")))
        queue.add(.clear(.service("library")))
        queue.add(.clear(.everything))
        let names2 = names(&queue)
        #expect(names2 == ["clear everything"])
        #expect(queue.isEmpty && !queue.isPerforming)
    }

    @Test func pendingOperationsAreBounded() throws {
        var queue = WriteBehindQueue(maximumByteCount: 10_000)
        queue.add(.store(.call(try respond(1, byteCount: 6_000))))
        queue.add(.store(.call(try respond(2, byteCount: 6_000))))
        let names3 = names(&queue)
        #expect(names3 == ["store", "remove"], "an unwritten response must not leave an older one behind")
        queue.add(.store(.call(try respond(2, byteCount: 6_000))))
        queue.add(.clear(.everything))
        queue.add(.store(.call(try respond(3, byteCount: 6_000))))
        let namesAgain = names(&queue)
        #expect(namesAgain == ["clear everything", "store"], "what was written or superseded takes no room")
        queue = WriteBehindQueue(maximumByteCount: .max)
        for id in 0...WriteBehindQueue.maximumStores { queue.add(.store(.call(try respond(id)))) }
        let names4 = names(&queue)
        #expect(names4.count { $0 == "store" } == WriteBehindQueue.maximumStores)
        for number in 0...WriteBehindQueue.maximumCount { queue.add(.clear(.account("\(number)", service: nil))) }
        let names5 = names(&queue)
        #expect(names5 == ["clear everything"])
    }

    @Test func oneOperationAtATimeAndOnePerformer() throws {
        var queue = WriteBehindQueue(maximumByteCount: 1 << 20)
        let beginsWithNothing = queue.begin()
        #expect(!beginsWithNothing)
        queue.add(.clear(.everything))
        let begins = [queue.begin(), queue.begin()]
        #expect(begins == [true, false], "one performer")
        let first = queue.next()
        #expect(first.count == 1)
        queue.add(.store(.call(try respond(1))))
        guard case .stored = queue.pending(for: .call(try key(1))) else { return #expect(Bool(false)) }
        guard case .removed = queue.pending(for: .call(try key(2))) else { return #expect(Bool(false)) }
        queue.succeed()
        #expect(queue.pending(for: .call(try key(2))) == nil)
    }

    @Test func failedStoresAreRemovedAndFailedRemovalsRepeated() throws {
        var queue = WriteBehindQueue(maximumByteCount: 1 << 20)
        queue.add(.store(.call(try respond(1))))
        _ = queue.begin()
        _ = queue.next()
        let goesOn = queue.fail()
        #expect(goesOn, "the removal of what was there before is next")
        guard case .remove? = queue.next().first else { return #expect(Bool(false)) }
        queue.add(.store(.call(try respond(2))))
        let goesOnAfterRemoval = queue.fail()
        let next = queue.next()
        #expect(!goesOnAfterRemoval && next.isEmpty)
        guard case .removed = queue.pending(for: .call(try key(1))) else { return #expect(Bool(false)) }
        let names6 = names(&queue)
        #expect(names6 == ["remove", "store"])
    }
}
