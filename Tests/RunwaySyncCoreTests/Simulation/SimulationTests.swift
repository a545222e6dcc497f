import RunwaySyncCore
import RunwaySyncSimulator
import Testing

struct SimulationTests {
    private func events(_ seed: UInt64) -> [SimulatedEvent] { SimulatedEvent.list(seed: seed, count: 60, devices: 3) }

    @Test func seedsBreakNoPromiseAndReachEveryPlace() throws {
        var places: Set<Place> = []
        for seed in UInt64(1)...150 {
            let outcome = try Simulation.run(seed: seed, events(seed))
            #expect(outcome.failure == nil, "seed \(seed)")
            places.formUnion(outcome.places)
        }
        #expect(Place.allCases.filter { !places.contains($0) && ![.expired, .sentAgain].contains($0) } == [])
    }

    /// Rule 19.
    @Test func devicesThatOnlySendLoseAndDoubleNothing() throws {
        var places: Set<Place> = []
        for seed in UInt64(1)...60 {
            let outcome = try Simulation.run(seed: seed, events(seed), direction: .sending(deadline: 5_000))
            #expect(outcome.failure == nil, "seed \(seed)")
            places.formUnion(outcome.places)
        }
        #expect(places.isSuperset(of: [.expired, .sentAgain]))
    }

    @Test func fiveDevicesWithLongRunsBecomeEqual() throws {
        for seed in UInt64(1_001)...1_004 {
            let events = SimulatedEvent.list(seed: seed, count: 200, devices: 5)
            let outcome = try Simulation.run(seed: seed, events, devices: 5)
            #expect(outcome.failure == nil, "seed \(seed)")
        }
    }

    @Test func aSeedHasOneTrace() throws {
        let traces = try (0..<3).map { _ in try Simulation.run(seed: 5, events(5)).trace }
        #expect(Set(traces).count == 1)
        #expect(try Simulation.run(seed: 6, events(6)).trace != traces[0])
    }

    @Test(arguments: [
        PlantedBug.basisAtSending, .hidesAtVerdict, .splitTransaction, .purgesTombstones, .silenceIsAcknowledged,
    ])
    func plantedBugsAreFoundAndShrunk(_ bug: PlantedBug) throws {
        let seed = try #require(
            try (UInt64(1)...1_000).first { try Simulation.run(seed: $0, events($0), bug: bug).failure != nil })
        let few = try Simulation.shrink(seed: seed, events(seed), bug: bug)
        #expect(few.count <= 12)
        #expect(try Simulation.run(seed: seed, few).failure == nil)
    }
}
