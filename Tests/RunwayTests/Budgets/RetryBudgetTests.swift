import Foundation
import HTTPTypes
import RunwayTesting
import Testing

@testable import Runway

struct RetryBudgetTests {
    /// How many sequences are played; `RUNWAY_RETRY_SEQUENCES` asks for more.
    private static let count =
        ProcessInfo.processInfo.environment["RUNWAY_RETRY_SEQUENCES"].flatMap { Int($0) } ?? 1000

    private func origin(_ host: String) -> Origin {
        Origin(HTTPRequest(method: .get, scheme: "https", authority: host, path: "/"))
    }

    @Test func hostBudgetAllowsTenPlusATenth() {
        var budget = RetryBudget(.retrying)
        let first = (1...12).map { _ in budget.withdraw() }
        #expect(first == Array(repeating: true, count: 10) + [false, false])
        for _ in 0..<9 { budget.deposit() }
        let afterNine = budget.withdraw()
        budget.deposit()
        let after = [afterNine, budget.withdraw(), budget.withdraw()]
        #expect(after == [false, true, false])
    }

    @Test func zeroLimitsAllowNoRetry() {
        var budget = RetryBudget(.none)
        for _ in 0..<1000 { budget.deposit() }
        let isAllowed = budget.withdraw()
        #expect(!isAllowed && budget.isFull)
    }

    @Test func limitsOutOfBoundsAreTheNearestBound() {
        let low = AttemptLimits(callsPerAttempt: -3, reserve: -1, maximumHosts: 0)
        #expect(low == AttemptLimits(callsPerAttempt: 1, reserve: 0, maximumHosts: 1))
        let high = AttemptLimits(callsPerAttempt: .max, reserve: .max)
        #expect(high == AttemptLimits(callsPerAttempt: 1_000_000, reserve: 1_000_000))
        var budget = RetryBudget(high)
        let isAllowed = budget.withdraw()
        #expect(isAllowed)
    }

    /// Counts what happened from the beginning and works the balance out anew each time.
    private struct Reference {
        var limits: AttemptLimits
        var history: [Bool] = []
        var balance: Double {
            history.reduce(Double(limits.reserve)) { balance, isDeposit in
                isDeposit ? min(Double(limits.reserve), balance + 1 / Double(limits.callsPerAttempt)) : balance - 1
            }
        }
    }

    @Test func budgetsOfManyHostsMatchAReference() throws {
        for seed in 1...UInt64(Self.count) {
            var random = SeededGenerator(seed: seed)
            let limits = AttemptLimits(
                callsPerAttempt: .random(in: 1...12, using: &random), reserve: .random(in: 0...4, using: &random))
            let control = RetryControl(limits: limits, randomness: LayerRandomness(SeededGenerator(seed: seed)))
            var references = Array(repeating: Reference(limits: limits), count: 3)
            for step in 0..<Int.random(in: 1...60, using: &random) {
                let host = Int.random(in: 0..<3, using: &random)
                if Int.random(in: 0..<4, using: &random) > 0 {
                    control.deposit(for: origin("h\(host)"))
                    references[host].history.append(true)
                } else {
                    let isAllowed = control.withdraw(for: origin("h\(host)"))
                    let expected = references[host].balance > 1 - 1e-6
                    try #require(isAllowed == expected, "seed \(seed), step \(step), \(limits)")
                    if expected { references[host].history.append(false) }
                }
            }
        }
    }

    @Test func leastRecentlyUsedHostsAreForgotten() {
        let control = RetryControl(
            limits: AttemptLimits(callsPerAttempt: 10, reserve: 1, maximumHosts: 2),
            randomness: LayerRandomness(SeededGenerator(seed: 1)))
        #expect(control.withdraw(for: origin("a")))
        #expect(control.withdraw(for: origin("b")))
        #expect(!control.withdraw(for: origin("a")))
        #expect(control.withdraw(for: origin("c")))
        #expect(!control.withdraw(for: origin("a")))
        #expect(control.withdraw(for: origin("b")))
    }

    @Test func jitterReachesItsCeilingAndFollowsItsSeed() {
        func waits(_ seed: UInt64) -> [Duration] {
            let control = RetryControl(limits: .retrying, randomness: LayerRandomness(SeededGenerator(seed: seed)))
            return (0..<1000).map { _ in control.backoff(after: 1, RetryPolicy(baseWait: .seconds(1))) }
        }
        let waits1 = waits(1)
        #expect(waits1.allSatisfy { (.zero)...(.seconds(1)) ~= $0 })
        #expect(waits1.contains { $0 < .milliseconds(50) } && waits1.contains { $0 > .milliseconds(950) })
        let mean = waits1.reduce(Duration.zero, +) / 1000
        #expect(abs(mean.seconds - 0.5) < 0.05)
        #expect(waits1 == waits(1) && waits1 != waits(2))
        let control = RetryControl(limits: .retrying, randomness: LayerRandomness(SystemRandomNumberGenerator()))
        #expect(control.backoff(after: 1, RetryPolicy(baseWait: .zero)) == .zero)
    }
}
