import Foundation

/// One way to get a stored response, measured next to the others.
struct Contender {
    let name: String
    /// Repeats the lookup, and returns the seconds of processor time.
    let run: (_ count: Int) async throws -> Double
}

/// Runs the contenders in turn, round after round, so that a noisy neighbour disturbs all of them alike; nanoseconds a time.
func compare(_ contenders: [Contender], count: Int, rounds: Int) async throws -> [[Double]] {
    for contender in contenders { _ = try await contender.run(min(count, 1000)) }
    var samples = contenders.map { _ in [Double]() }
    for round in 0..<rounds {
        for offset in contenders.indices {
            // Another contender begins each round, since the first one pays for what the last left behind.
            let index = (offset + round) % contenders.count
            let time = try await contenders[index].run(count)
            samples[index].append(time * 1e9 / Double(count))
        }
    }
    return samples
}

/// The time that the processor gave this thread so far, in seconds; unlike time on the wall it does not count what other programs took.
func threadTime() -> Double { time(of: CLOCK_THREAD_CPUTIME_ID) }

/// The same of all threads of this process.
func processTime() -> Double { time(of: CLOCK_PROCESS_CPUTIME_ID) }

private func time(of clock: clockid_t) -> Double {
    var time = timespec()
    clock_gettime(clock, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

func median(_ values: [Double]) -> Double {
    let sorted = values.sorted()
    return sorted.count % 2 == 1
        ? sorted[sorted.count / 2] : (sorted[sorted.count / 2 - 1] + sorted[sorted.count / 2]) / 2
}

struct UnexpectedResponse: Error {}
