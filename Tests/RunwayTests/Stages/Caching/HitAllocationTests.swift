#if canImport(Glibc)
    import CountedAllocation
    import RunwayTesting
    import Testing

    @testable import Runway

    /// What a hit in memory asks of the allocator, which is most of what it costs. No times: a count is the same on every machine.
    @Suite(.disabled(if: counted_allocation_is_sanitized() == 1, "a sanitizer has an allocator of its own"))
    @MainActor
    struct HitAllocationTests {
        private let network = NetworkLayer(transport: StubTransport { _ in .json("{}") })

        init() throws { try #require(counted_allocation_is_on() == 1, "allocations are not counted") }

        /// How many allocations this thread makes during a body, once what is made for all times is there.
        private func allocations(_ body: () -> Void) -> Int {
            body()
            let before = counted_allocation_count()
            body()
            return counted_allocation_count() - before
        }

        @Test func lookingForAKeptAnswerAllocatesNothing() async throws {
            for id in 1...3 { _ = try await network.call(Work(id: id)) }
            let keys = try (1...3).map { id in
                let flight = network.makeFlight(Work.self, .standard)
                let request = try network.assemble(
                    Work(id: id), delivery: .whole(maximumByteCount: Work.maximumResponseByteCount), in: flight)
                return try #require(CacheKey(request, in: flight))
            }
            var found = 0
            let count = allocations {
                for key in keys where network.cache.find(key) != nil { found += 1 }
            }
            #expect(count == 0 && found == 6)
        }

        @Test func aHitMakesFewAllocations() async throws {
            _ = try await network.call(Work(id: 1))
            let manager = APIManager<Work>(on: network)
            var isThere = false
            let count = allocations {
                manager.load(Work(id: 1))
                isThere = manager.rawData != nil
            }
            // The flight, its parameters and its request, its record, its place in the manager, the turn in which it lands.
            #expect(isThere && count <= 60, "\(count)")
        }
    }
#endif
