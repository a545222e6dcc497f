import Foundation

/// What one contender did in one round.
struct Sample {
    var callsPerSecond: Double
    var processorMicrosecondsPerCall: Double
}

/// The processor time of this process, user and system, in seconds.
func processorTime() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// The time of a clock that only goes forward, in seconds.
func monotonicTime() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// Runs the contenders in turn, round after round, so that a noisy neighbour disturbs all of them alike.
func compare(_ contenders: [Contender], count: Int, atATime: Int, rounds: Int) async throws -> [[Sample]] {
    for contender in contenders { try await contender.makeCalls(max(50, count / 10), atATime) }
    var samples = contenders.map { _ in [Sample]() }
    for round in 0..<rounds {
        for offset in contenders.indices {
            // Another contender begins each round, since the first one pays for what the last left behind.
            let index = (offset + round) % contenders.count
            let start = ContinuousClock.now
            let before = processorTime()
            try await contenders[index].makeCalls(count, atATime)
            let processor = processorTime() - before
            let elapsed = (ContinuousClock.now - start) / .seconds(1)
            samples[index].append(
                Sample(
                    callsPerSecond: Double(count) / elapsed,
                    processorMicrosecondsPerCall: processor / Double(count) * 1e6))
        }
    }
    return samples
}

func median(_ values: [Double]) -> Double {
    let sorted = values.sorted()
    return sorted.count % 2 == 1
        ? sorted[sorted.count / 2] : (sorted[sorted.count / 2 - 1] + sorted[sorted.count / 2]) / 2
}

/// The medians of every contender, and the median over the rounds of its ratio to the first one.
func report(_ title: String, _ contenders: [Contender], _ samples: [[Sample]]) {
    print(title)
    for (contender, own) in zip(contenders, samples) {
        let throughput = median(own.map(\.callsPerSecond))
        let processor = median(own.map(\.processorMicrosecondsPerCall))
        let throughputRatio = median(zip(own, samples[0]).map { $0.callsPerSecond / $1.callsPerSecond })
        let processorRatio = median(
            zip(own, samples[0]).map { $0.processorMicrosecondsPerCall / $1.processorMicrosecondsPerCall })
        print(
            "  " + contender.name.padding(toLength: 20, withPad: " ", startingAt: 0)
                + String(
                    format: "%9.0f calls/s  ×%.2f   %7.1f µs CPU  ×%.2f", throughput, throughputRatio, processor,
                    processorRatio))
    }
    // Shown as it comes, also through a pipe.
    fflush(nil)
}
