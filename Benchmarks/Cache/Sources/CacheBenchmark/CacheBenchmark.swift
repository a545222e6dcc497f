import Foundation

/// Measures a cache hit, next to the stores that others would use.
@main
struct CacheBenchmark {
    static let usage = """
        usage: CacheBenchmark [--rounds N] [--count N] [--contenders NAME,NAME…]
        """

    static func main() {
        Task { @MainActor in
            do { try await measure() } catch {
                print(error)
                exit(2)
            }
            exit(0)
        }
        // Not an async main, whose main thread sleeps in a way that valgrind does not get over.
        RunLoop.main.run()
    }

    @MainActor private static func measure() async throws {
        if CommandLine.arguments.contains("--help") { return print(usage) }
        let rounds = argument("--rounds").flatMap { Int($0) } ?? 21
        let count = argument("--count").flatMap { Int($0) } ?? 20_000
        let wanted = argument("--contenders")?.split(separator: ",")
        let lookups = try await Lookups()
        let contenders = (lookups.contenders + (try await Calls().contenders))
            .filter { wanted?.contains($0.name[...]) ?? true }
        let samples = try await compare(contenders, count: count, rounds: rounds)
        let cores = ProcessInfo.processInfo.activeProcessorCount
        print("\(cores) cores, \(rounds) rounds of \(count); medians of the processor's time, ratios to the first")
        for (contender, own) in zip(contenders, samples) {
            let ratio = median(zip(own, samples[0]).map { $0 / $1 })
            print(
                contender.name.padding(toLength: 28, withPad: " ", startingAt: 0)
                    + String(format: "%9.0f ns  ×%.2f", median(own), ratio))
        }
        guard wanted == nil else { return }
        let goals = goals(Dictionary(uniqueKeysWithValues: zip(contenders.map(\.name), samples)))
        for goal in goals { print(goal) }
        if goals.contains(where: { !$0.isReached }) { exit(1) }
    }

    private static func goals(_ samples: [String: [Double]]) -> [Goal] {
        func ratio(_ name: String, to other: String) -> Double {
            median(zip(samples[name] ?? [], samples[other] ?? []).map { $0 / $1 })
        }
        return [
            Goal("lookup to locked dictionary", ratio(Name.lookup, to: Name.dictionary), atMost: 2),
            Goal("lookup to NSCache", ratio(Name.lookup, to: Name.objectCache), atMost: 1),
            Goal("network.call, in µs", median(samples[Name.call] ?? []) / 1000, atMost: 2),
            Goal("network.call sent, in µs", median(samples[Name.sentCall] ?? []) / 1000, atMost: 6),
            Goal("manager.load, in µs", median(samples[Name.load] ?? []) / 1000, atMost: 3),
        ]
    }

    private static func argument(_ name: String) -> String? {
        guard let index = CommandLine.arguments.firstIndex(of: name), index + 1 < CommandLine.arguments.count
        else { return nil }
        return CommandLine.arguments[index + 1]
    }
}

/// What the contenders are called.
enum Name {
    static let dictionary = "locked dictionary"
    static let objectCache = "NSCache"
    static let urlCache = "URLCache"
    static let lookup = "lookup, key in hand"
    static let call = "network.call"
    static let sentCall = "network.call sent"
    static let sentLoad = "manager.load sent"
    static let load = "manager.load"
    static let landing = "manager.load to landing"
}

/// A bound, and what was measured.
struct Goal: CustomStringConvertible {
    let name: String
    let value: Double
    let bound: Double

    init(_ name: String, _ value: Double, atMost bound: Double) {
        (self.name, self.value, self.bound) = (name, value, bound)
    }

    var isReached: Bool { value <= bound }
    var description: String {
        String(format: "%@ %@: %.2f, at most %.2f", isReached ? "reached" : "MISSED", name, value, bound)
    }
}
