import RunwayTesting
import Testing

@testable import Runway

struct TierDeedsTests {
    private let network = NetworkLayer(transport: StubTransport { _ in .json("{}") })

    private func key(_ id: Int) throws -> CacheKey {
        let flight = network.makeFlight(Work.self, .standard)
        let request = try network.assemble(Work(id: id), delivery: .whole(maximumByteCount: 1), in: flight)
        return try #require(CacheKey(request, in: flight))
    }

    private func answer(_ id: Int, byteCount: Int = 0) throws -> KeptAnswer {
        KeptAnswer(
            RawData([UInt8](repeating: 0, count: byteCount)), for: try key(id), order: 1, fetched: .zero,
            entered: .zero,
            date: network.clock.date)
    }

    private func names(_ deeds: inout TierDeeds) -> [String] {
        _ = deeds.begin()
        var names: [String] = []
        while let deed = deeds.next() {
            switch deed {
            case .keep: names.append("keep")
            case .remove: names.append("remove")
            case .clear(let scope): names.append("clear \(scope)")
            }
            deeds.succeed()
        }
        return names
    }

    @Test func whatALaterDeedMakesPointlessIsNotDone() throws {
        var deeds = TierDeeds(maximumByteCount: 1 << 20)
        for id in 1...3 { deeds.add(.keep(try answer(id))) }
        deeds.add(.keep(try answer(1)))
        deeds.add(.remove(try key(2)))
        let names1 = names(&deeds)
        #expect(names1 == ["keep", "keep", "remove"])
        for id in 1...3 { deeds.add(.keep(try answer(id))) }
        deeds.add(.clear(.service("library")))
        deeds.add(.clear(.service("library")))
        deeds.add(.clear(.everything))
        let names2 = names(&deeds)
        #expect(names2 == ["clear everything"])
        #expect(deeds.isEmpty && !deeds.isPerforming)
    }

    @Test func whatWaitsIsBoundedByCountAndByBytes() throws {
        var deeds = TierDeeds(maximumByteCount: 10_000)
        deeds.add(.keep(try answer(1, byteCount: 6_000)))
        deeds.add(.keep(try answer(2, byteCount: 6_000)))
        let names3 = names(&deeds)
        #expect(names3 == ["keep", "remove"], "what is not written must not leave an older answer behind")
        deeds = TierDeeds(maximumByteCount: .max)
        for id in 0...TierDeeds.maximumKeeps { deeds.add(.keep(try answer(id))) }
        let names4 = names(&deeds)
        #expect(names4.count { $0 == "keep" } == TierDeeds.maximumKeeps)
        for number in 0...TierDeeds.maximumCount { deeds.add(.clear(.account("\(number)", service: nil))) }
        let names5 = names(&deeds)
        #expect(names5 == ["clear everything"])
    }

    @Test func oneDeedAtATimeAndOnePerformer() throws {
        var deeds = TierDeeds(maximumByteCount: 1 << 20)
        let beginsWithNothing = deeds.begin()
        #expect(!beginsWithNothing)
        deeds.add(.clear(.everything))
        let begins = [deeds.begin(), deeds.begin()]
        #expect(begins == [true, false], "one performer")
        let first = deeds.next()
        #expect(first != nil)
        deeds.add(.keep(try answer(1)))
        guard case .kept = deeds.prospect(of: try key(1)) else { return #expect(Bool(false)) }
        guard case .gone = deeds.prospect(of: try key(2)) else { return #expect(Bool(false)) }
        deeds.succeed()
        #expect(deeds.prospect(of: try key(2)) == nil)
    }

    @Test func whatFailedIsRemovedAndARemovalThatFailedIsTriedAgainFirst() throws {
        var deeds = TierDeeds(maximumByteCount: 1 << 20)
        deeds.add(.keep(try answer(1)))
        _ = deeds.begin()
        _ = deeds.next()
        let goesOn = deeds.fail()
        #expect(goesOn, "the removal of what was there before is next")
        guard case .remove = deeds.next() else { return #expect(Bool(false)) }
        deeds.add(.keep(try answer(2)))
        let goesOnAfterRemoval = deeds.fail()
        let next = deeds.next()
        #expect(!goesOnAfterRemoval && next == nil)
        guard case .gone = deeds.prospect(of: try key(1)) else { return #expect(Bool(false)) }
        let names6 = names(&deeds)
        #expect(names6 == ["remove", "keep"])
    }
}
