import Foundation
import RunwaySyncCore
import RunwaySyncSimulator
import Testing

/// Runs with all faults, with the tables of the devices and of the server in SQLite files.
///
/// `SEEDS` is the number of seeds; the default is 10.
struct SimulationTests {
    @Test func devicesAndServerOverSQLiteBecomeEqual() throws {
        let count = ProcessInfo.processInfo.environment["SEEDS"].flatMap { UInt64($0) } ?? 10
        for seed in 1...count {
            let events = SimulatedEvent.list(seed: seed, count: 200, devices: 5)
            let folder = try TemporaryFolder()
            let outcome = try Simulation.run(
                seed: seed, events, devices: 5, makeFile: { try SimulatedSQLiteFile(device: $0, in: folder) },
                twin: FileTwin(in: folder.url))
            #expect(outcome.failure == nil, "seed \(seed)")
        }
    }
}
