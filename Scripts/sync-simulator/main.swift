import Foundation
import RunwaySyncCore
import RunwaySyncSimulator
import Synchronization

// Runs seeds, or planted mistakes. See Scripts/sync-simulator.sh.

/// The size of a run.
struct Size {
    let devices: Int
    let events: Int

    /// Five devices, which change 200 rows each: not every event is a write.
    static let full = Size(devices: 5, events: 2_400)
    /// A twelfth of that, for many seeds.
    static let short = Size(devices: 5, events: 200)
    /// The size in which planted mistakes are looked for, since small runs shrink soonest.
    static let small = Size(devices: 3, events: 60)

    func events(_ seed: UInt64) -> [SimulatedEvent] {
        SimulatedEvent.list(seed: seed, count: events, devices: devices)
    }

    func perform(
        _ seed: UInt64, _ events: [SimulatedEvent], _ bug: PlantedBug? = nil, narrate: ((String) -> Void)? = nil
    ) throws -> Simulation.Outcome {
        try Simulation.run(
            seed: seed, events, devices: devices, bug: bug, narrate: narrate, direction: direction(seed))
    }

    func shrink(_ seed: UInt64, _ bug: PlantedBug? = nil) throws -> [SimulatedEvent] {
        try Simulation.shrink(seed: seed, events(seed), devices: devices, bug: bug, direction: direction(seed))
    }

    /// The devices of every seventh seed only send.
    private func direction(_ seed: UInt64) -> SyncDevice.Direction { seed % 7 == 3 ? .sending(deadline: 5_000) : .both }
}

/// The sum of many runs.
struct Tally {
    var seeds: ClosedRange<UInt64>.Iterator
    var count = 0
    var steps = 0
    var transactions: Int64 = 0
    var operations = 0
    var reached: Set<Place> = []
    var failures: [(seed: UInt64, text: String)] = []

    init(_ seeds: ClosedRange<UInt64>) { self.seeds = seeds.makeIterator() }

    mutating func add(_ outcome: Simulation.Outcome, of seed: UInt64) {
        count += 1
        steps += outcome.stepCount
        transactions += outcome.transactionCount
        operations += outcome.operationCount
        reached.formUnion(outcome.places)
        if let failure = outcome.failure { failures.append((seed, failure)) }
        if count % 500 == 0 {
            FileHandle.standardError.write(Data("\(count) seeds, failed: \(failures.map(\.seed))\n".utf8))
        }
    }
}

/// Runs seeds on all processors, and prints those that fail with what is left of their events.
func run(_ size: Size, seeds: ClosedRange<UInt64>) throws -> Bool {
    // Guards the seeds that are left, and the outcomes of the others.
    let tally = Mutex(Tally(seeds))
    DispatchQueue.concurrentPerform(iterations: ProcessInfo.processInfo.activeProcessorCount) { _ in
        while let seed = tally.withLock({ $0.seeds.next() }) {
            do {
                let outcome = try size.perform(seed, size.events(seed))
                tally.withLock { $0.add(outcome, of: seed) }
            } catch {
                tally.withLock { $0.failures.append((seed, "\(error)")) }
            }
        }
    }
    let result = tally.withLock { $0 }
    for (seed, text) in result.failures { print("seed \(seed): \(text)") }
    for (seed, _) in result.failures.prefix(3) {
        let few = try size.shrink(seed)
        for event in few { print("  " + "\(event)".replacing("RunwaySyncSimulator.SimulatedEvent.", with: "")) }
        print("  \(try size.perform(seed, few).failure ?? "")")
    }
    let missing = Place.allCases.filter { !result.reached.contains($0) }.map(\.rawValue)
    print(
        """
        \(result.count) seeds, \(result.steps) steps, \(result.operations) operations, \(result.transactions) transactions, \
        \(result.failures.count) failed; not reached: \(missing)
        """)
    return result.failures.isEmpty && missing.isEmpty
}

/// Prints a hash of each run.
func printTraces() throws -> Bool {
    for seed: UInt64 in 1...100 { print(seed, try Size.small.perform(seed, Size.small.events(seed)).trace) }
    return true
}

/// Looks for a run that fails within 1,000 seeds, and shrinks it to at most 12 events. Short runs follow small ones.
func find(_ name: String, _ bug: PlantedBug? = nil) throws -> Bool {
    var best: (seed: UInt64, count: Int)?
    search: for size in [Size.small, .short] {
        for seed in UInt64(1)...1_000 {
            guard try size.perform(seed, size.events(seed), bug).failure != nil else { continue }
            let few = try size.shrink(seed, bug)
            if few.count < best?.count ?? .max { best = (seed, few.count) }
            if few.count <= 12 { break search }
        }
    }
    print("\(name):", best.map { "seed \($0.seed), \($0.count) events" } ?? "not found")
    return best.map { $0.count <= 12 } ?? false
}

/// Prints each event and each message of what is left of a run that fails.
func show(_ size: Size, seed: UInt64) throws -> Bool {
    let few = try size.shrink(seed)
    let outcome = try size.perform(seed, few) { line in
        print(line.replacing("RunwaySyncSimulator.", with: "").replacing("RunwaySyncCore.", with: ""))
    }
    print(outcome.failure ?? "nothing fails")
    return outcome.failure == nil
}

/// Returns a number of the arguments; `standard` if there is none at the place.
func number(_ place: Int, _ standard: UInt64) -> UInt64 {
    CommandLine.arguments.dropFirst(place).first.flatMap { UInt64($0) } ?? standard
}

let isDone =
    switch CommandLine.arguments.dropFirst().first {
    case "planted": try PlantedBug.allCases.map { try find($0.rawValue, $0) }.allSatisfy { $0 }
    case "find": try find(CommandLine.arguments.last ?? "")
    case "show": try show(.full, seed: number(2, 1))
    case "show-short": try show(.short, seed: number(2, 1))
    case "traces": try printTraces()
    case "short": try run(.short, seeds: number(3, 1)...number(2, 20_000))
    default: try run(.full, seeds: number(2, 1)...number(1, 500))
    }
exit(isDone ? 0 : 1)
