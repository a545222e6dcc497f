import Foundation
import RunwaySyncCore
import RunwaySyncSimulator
import Testing

/// Runs with all faults, with the tables of the devices and of the server in SQLite files.
///
/// `SEEDS` is the number of runs of five devices and 200 events; without it, eight short runs take a few seconds.
struct SimulationTests {
    @Test func devicesAndServerOverSQLiteBecomeEqual() throws {
        let seeds = ProcessInfo.processInfo.environment["SEEDS"].flatMap { UInt64($0) }
        let (devices, count) = seeds == nil ? (3, 60) : (5, 200)
        for seed in 1...(seeds ?? 8) {
            let events = SimulatedEvent.list(seed: seed, count: count, devices: devices)
            let folder = try TemporaryFolder()
            let outcome = try Simulation.run(
                seed: seed, events, devices: devices, makeFile: { try SimulatedSQLiteFile(device: $0, in: folder) },
                twin: FileTwin(in: folder.url))
            #expect(outcome.failure == nil, "seed \(seed)")
        }
    }
}
