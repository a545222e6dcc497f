import Foundation
import RunwaySyncCore
import RunwaySyncSimulator

// Runs seeds, or planted mistakes. See Scripts/sync-simulator.sh.

/// Every tenth seed has five devices and a long run.
func devices(_ seed: UInt64) -> Int { seed % 10 == 0 ? 5 : 3 }

/// The devices of every seventh seed only send.
func direction(_ seed: UInt64) -> SyncDevice.Direction { seed % 7 == 3 ? .sending(deadline: 5_000) : .both }

func events(_ seed: UInt64) -> [SimulatedEvent] {
    SimulatedEvent.list(seed: seed, count: seed % 10 == 0 ? 200 : 60, devices: devices(seed))
}

func perform(
    _ seed: UInt64, _ events: [SimulatedEvent], _ bug: PlantedBug? = nil, narrate: ((String) -> Void)? = nil
) throws -> Simulation.Outcome {
    try Simulation.run(
        seed: seed, events, devices: devices(seed), bug: bug, narrate: narrate, direction: direction(seed))
}

func shrink(_ seed: UInt64, _ bug: PlantedBug? = nil) throws -> [SimulatedEvent] {
    try Simulation.shrink(seed: seed, events(seed), devices: devices(seed), bug: bug, direction: direction(seed))
}

/// Runs seeds, and prints those that fail with what is left of their events.
func run(seeds: ClosedRange<UInt64>, printsTraces: Bool) throws -> Bool {
    var (steps, transactions, failures) = (0, Int64(0), 0)
    var reached: Set<Place> = []
    for seed in seeds {
        let outcome = try perform(seed, events(seed))
        steps += outcome.stepCount
        transactions += outcome.transactionCount
        reached.formUnion(outcome.places)
        if printsTraces { print(seed, outcome.trace) }
        if seed % 1_000 == 0 {
            FileHandle.standardError.write(Data("\(seed) seeds, \(failures) failed\n".utf8))
        }
        guard let failure = outcome.failure else { continue }
        failures += 1
        print("seed \(seed): \(failure)")
        if failures > 3 { continue }
        let few = try shrink(seed)
        for event in few { print("  " + "\(event)".replacing("RunwaySyncSimulator.SimulatedEvent.", with: "")) }
        print("  \(try perform(seed, few).failure ?? "")")
    }
    let missing = Place.allCases.filter { !reached.contains($0) }.map(\.rawValue)
    print(
        "\(seeds.count) seeds, \(steps) steps, \(transactions) transactions, \(failures) failed; not reached: \(missing)"
    )
    return failures == 0 && missing.isEmpty
}

/// Looks for a run that fails within 1,000 seeds, and shrinks it to at most 12 events.
func find(_ name: String, _ bug: PlantedBug? = nil) throws -> Bool {
    var best: (seed: UInt64, count: Int)?
    for seed in UInt64(1)...1_000 {
        guard try perform(seed, events(seed), bug).failure != nil else { continue }
        let few = try shrink(seed, bug)
        if few.count < best?.count ?? .max { best = (seed, few.count) }
        if few.count <= 12 { break }
    }
    print("\(name):", best.map { "seed \($0.seed), \($0.count) events" } ?? "not found")
    return best.map { $0.count <= 12 } ?? false
}

/// Prints each event and each message of what is left of a run that fails.
func show(seed: UInt64) throws -> Bool {
    let few = try shrink(seed)
    let outcome = try perform(seed, few) { line in
        print(line.replacing("RunwaySyncSimulator.", with: "").replacing("RunwaySyncCore.", with: ""))
    }
    print(outcome.failure ?? "nothing fails")
    return outcome.failure == nil
}

let arguments = CommandLine.arguments.dropFirst()
let isDone =
    switch arguments.first {
    case "planted": try PlantedBug.allCases.map { try find($0.rawValue, $0) }.allSatisfy { $0 }
    case "find": try find(arguments.last ?? "")
    case "show": try show(seed: arguments.last.flatMap { UInt64($0) } ?? 1)
    case "traces": try run(seeds: 1...100, printsTraces: true)
    case let text: try run(seeds: 1...(text.flatMap { UInt64($0) } ?? 500), printsTraces: false)
    }
exit(isDone ? 0 : 1)
