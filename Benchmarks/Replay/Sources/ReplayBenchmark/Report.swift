import Foundation

/// What one replay took.
struct Replay {
    var seconds: Double
    var requestCount: Int
}

func report(_ players: [Player], _ results: [[Replay]], rounds: Int) {
    let cores = ProcessInfo.processInfo.activeProcessorCount
    print("\(cores) cores, \(rounds) rounds, medians; × is how much shorter than the first")
    for (player, own) in zip(players, results) {
        let ratio = median(zip(results[0], own).map { $0.seconds / $1.seconds })
        let counts = own.map(\.requestCount)
        print(
            player.name.padding(toLength: 22, withPad: " ", startingAt: 0)
                + String(
                    format: "%7.3f s  ×%.2f   %d to %d requests on the wire", median(own.map(\.seconds)), ratio,
                    counts.min() ?? 0, counts.max() ?? 0))
    }
}

/// Whether no replay took more requests than it may. Times are not judged: they depend on the machine.
func reachesGoals(_ players: [Player], _ results: [[Replay]]) -> Bool {
    let bounds = ["Runway": 340, "Runway, prefetching": 340, "Runway, both": 50]
    var areReached = true
    for (player, own) in zip(players, results) {
        guard let bound = bounds[player.name], let most = own.map(\.requestCount).max() else { continue }
        print("\(most <= bound ? "reached" : "MISSED") \(player.name): \(most) requests, at most \(bound)")
        areReached = areReached && most <= bound
    }
    return areReached
}

func median(_ values: [Double]) -> Double {
    let sorted = values.sorted()
    return sorted.count % 2 == 1
        ? sorted[sorted.count / 2] : (sorted[sorted.count / 2 - 1] + sorted[sorted.count / 2]) / 2
}
