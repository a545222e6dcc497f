import RunwaySyncCore
import RunwaySyncSimulator
import Testing

struct SimulationTests {
    @Test(arguments: UInt64(1)...20)
    func devicesOverSQLiteBecomeEqual(_ seed: UInt64) throws {
        let events = SimulatedEvent.list(seed: seed, count: 40, devices: 3)
        let outcome = try Simulation.run(seed: seed, events, makeFile: { try SimulatedSQLiteFile(device: $0) })
        #expect(outcome.failure == nil, "seed \(seed)")
    }
}
