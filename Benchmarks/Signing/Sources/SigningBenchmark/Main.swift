import Foundation

/// `SigningBenchmark signing|nonces|server|flood [rounds [requests]]`, and for callgrind
/// `SigningBenchmark verify unknown|first|last count` and `SigningBenchmark sign count`.
@main
struct Main {
    static func main() async {
        do { try await measure() } catch {
            print("\((error as? BenchmarkFailure)?.reason ?? "\(error)")")
            exit(1)
        }
    }

    private static func measure() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        let numbers = arguments.compactMap { Int($0) }
        let (rounds, count) = (numbers.first ?? 7, numbers.dropFirst().first ?? 10_000)
        switch arguments.first {
        case "signing": try await SigningCost.measure(rounds: rounds)
        case "nonces": NonceCost.measure()
        case "server": try await ServerThroughput.measure(rounds: rounds, count: count)
        case "flood": try await ForgedFlood.measure()
        case "serve": try await ServingProcess.serve(arguments.dropFirst().first ?? "")
        case "sign": try await SigningCost.run(count: numbers.last ?? 0)
        case "verify": try await Verification.run(arguments.dropFirst().first ?? "", count: numbers.last ?? 0)
        default: print("usage: SigningBenchmark signing|nonces|server|flood|verify")
        }
    }
}

/// A figure that is not the required one, or a measurement that failed.
struct BenchmarkFailure: Error {
    let reason: String
}

/// The value in the middle of a sorted copy.
func median(_ values: [Double]) -> Double {
    let sorted = values.sorted()
    return sorted[sorted.count / 2]
}
