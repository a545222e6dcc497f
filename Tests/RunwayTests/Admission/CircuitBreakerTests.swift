import Foundation
import HTTPTypes
import RunwayTesting
import Testing

@testable import Runway

struct CircuitBreakerTests {
    /// How many sequences are played; `RUNWAY_CIRCUIT_SEQUENCES` asks for more.
    private static let count =
        ProcessInfo.processInfo.environment["RUNWAY_CIRCUIT_SEQUENCES"].flatMap { Int($0) } ?? 1500

    private let failure = CircuitBreaker.Outcome.failure(retryAfter: nil)

    private func opened(_ limits: CircuitLimits = CircuitLimits(), retryAfter: Duration? = nil) -> CircuitBreaker {
        var breaker = CircuitBreaker(limits)
        for _ in 0..<limits.consecutiveFailures {
            _ = breaker.record(.failure(retryAfter: retryAfter), of: .ordinary, at: .zero)
        }
        return breaker
    }

    @Test func failuresInARowOpenTheCircuit() {
        var breaker = CircuitBreaker(CircuitLimits())
        let openings = (1...5).map { _ in breaker.record(failure, of: .ordinary, at: .zero) }
        #expect(openings == [nil, nil, nil, nil, .seconds(5)])
        #expect(breaker.refusal(at: .zero) == .seconds(5))
        #expect(breaker.refusal(at: .seconds(4)) == .seconds(1))
        #expect(breaker.refusal(at: .seconds(5)) == nil)
    }

    @Test func successBetweenFailuresLeavesItClosed() {
        var breaker = CircuitBreaker(CircuitLimits())
        for index in 0..<18 {
            let outcome: CircuitBreaker.Outcome = index.isMultiple(of: 4) ? .success : failure
            _ = breaker.record(outcome, of: .ordinary, at: .seconds(index))
        }
        #expect(breaker.state == .closed)
    }

    @Test func halfOfManyCallsFailingOpensIt() {
        var breaker = CircuitBreaker(CircuitLimits())
        var openings: [Int] = []
        for index in 1...20 {
            let outcome: CircuitBreaker.Outcome = index.isMultiple(of: 2) ? .success : failure
            if breaker.record(outcome, of: .ordinary, at: .milliseconds(index)) != nil { openings.append(index) }
        }
        // Twenty outcomes were counted, ten of them failures: the next one tips it.
        #expect(openings.isEmpty)
        let openTime = breaker.record(failure, of: .ordinary, at: .milliseconds(21))
        #expect(openTime == .seconds(5))
    }

    @Test func failuresOfLongAgoDoNotCountForTheShare() {
        var breaker = CircuitBreaker(CircuitLimits(consecutiveFailures: 100))
        for index in 0..<60 {
            let openTime = breaker.record(failure, of: .ordinary, at: .seconds(index * 2))
            #expect(openTime == nil)
        }
    }

    @Test func oneCallAtATimeProbesTheHost() {
        var breaker = opened()
        let probe = breaker.pass(at: .seconds(5), number: 1)
        #expect(probe == .probe(1))
        #expect(breaker.refusal(at: .seconds(5)) != nil)
        let openTime = breaker.record(.success, of: probe, at: .seconds(6))
        #expect(openTime == nil)
        #expect(breaker.state == .closed)
        #expect(breaker.isIdle)
    }

    @Test func failedProbeDoublesTheOpenTimeUpToTheMaximum() {
        var breaker = opened()
        var now = Duration.seconds(5)
        var times: [Duration] = []
        for number in 1...7 {
            let probe = breaker.pass(at: now, number: UInt64(number))
            let time = breaker.record(failure, of: probe, at: now)
            times.append(time ?? .zero)
            now += time ?? .zero
        }
        #expect(times == [10, 20, 40, 80, 120, 120, 120].map { .seconds($0) })
    }

    @Test func timeGrowsAnewAfterTheCircuitWasClosed() {
        var breaker = opened()
        _ = breaker.record(failure, of: breaker.pass(at: .seconds(5), number: 1), at: .seconds(5))
        _ = breaker.record(.success, of: breaker.pass(at: .seconds(15), number: 2), at: .seconds(15))
        let openings = (1...5).map { _ in breaker.record(failure, of: .ordinary, at: .seconds(16)) }
        #expect(openings.last == .seconds(5))
    }

    @Test(arguments: [(60, 60), (3, 5), (0, 5), (-5, 5), (120, 120), (1_000_000, 120)])
    func retryAfterCountsUpToTheBound(_ retryAfter: Int, _ expected: Int) {
        #expect(opened(retryAfter: .seconds(retryAfter)).refusal(at: .zero) == .seconds(expected))
    }

    @Test func probeThatSaysNothingMakesRoomForTheNext() {
        var breaker = opened()
        let first = breaker.pass(at: .seconds(5), number: 1)
        _ = breaker.record(.unknown, of: first, at: .seconds(6))
        #expect(breaker.refusal(at: .seconds(6)) == nil)
        let second = breaker.pass(at: .seconds(6), number: 2)
        #expect(second == .probe(2))
        // What the first brings now, or brings again, is of no account.
        _ = breaker.record(.success, of: first, at: .seconds(7))
        #expect(breaker.state == .probing(2, since: .seconds(6)))
    }

    @Test func probeThatTakesForEverGetsCompany() {
        var breaker = opened()
        _ = breaker.pass(at: .seconds(5), number: 1)
        #expect(breaker.refusal(at: .seconds(9)) == .seconds(1))
        #expect(breaker.refusal(at: .seconds(10)) == nil)
        let second = breaker.pass(at: .seconds(10), number: 2)
        #expect(second == .probe(2))
    }

    @Test func callsThatTookOffBeforeTheCircuitOpenedChangeNothing() {
        var breaker = opened()
        let before = breaker.state
        for outcome in [.success, failure, .unknown] {
            let openTime = breaker.record(outcome, of: .ordinary, at: .seconds(1))
            #expect(openTime == nil)
        }
        #expect(breaker.state == before)
    }

    @Test func limitsOutOfBoundsAreTheNearestBound() {
        let limits = CircuitLimits(
            consecutiveFailures: 0, minimumOutcomes: -1, openTime: .seconds(-1), maximumOpenTime: .seconds(-9),
            maximumHosts: 0)
        #expect(limits.consecutiveFailures == 1 && limits.minimumOutcomes == 1 && limits.maximumHosts == 1)
        #expect(limits.openTime == .zero && limits.maximumOpenTime == .zero)
    }

    /// Records all events, and derives the state of the circuit from the beginning.
    private struct Reference {
        var limits: CircuitLimits
        var outcomes: [(time: Duration, isFailure: Bool)] = []
        var openUntil: Duration?
        var openings = 0
        var probe: (number: UInt64, since: Duration)?

        var openTime: Duration {
            var time = limits.openTime
            for _ in 1..<max(1, openings) { time = min(time * 2, limits.maximumOpenTime) }
            return time
        }

        func isRefused(at now: Duration) -> Bool {
            if let probe { return now < probe.since + max(openTime, .seconds(1)) }
            return openUntil.map { now < $0 } ?? false
        }

        mutating func pass(at now: Duration, _ number: UInt64) -> CircuitBreaker.Pass {
            guard openUntil != nil || probe != nil else { return .ordinary }
            probe = (number, now)
            return .probe(number)
        }

        mutating func record(_ outcome: CircuitBreaker.Outcome, _ pass: CircuitBreaker.Pass, at now: Duration) {
            if let probe {
                guard pass == .probe(probe.number) else { return }
                self.probe = nil
                switch outcome {
                case .success: self = Reference(limits: limits)
                case .unknown: openUntil = now
                case .failure(let retryAfter): open(retryAfter, at: now)
                }
            } else if openUntil == nil, pass == .ordinary {
                switch outcome {
                case .unknown: return
                case .success: outcomes.append((now, false))
                case .failure(let retryAfter):
                    outcomes.append((now, true))
                    if isTooMuch { open(retryAfter, at: now) }
                }
            }
        }

        private var isTooMuch: Bool {
            let row = outcomes.reversed().prefix { $0.isFailure }.count
            var window: [(time: Duration, isFailure: Bool)] = []
            for outcome in outcomes {
                if let start = window.first?.time, outcome.time - start >= limits.window { window = [] }
                if outcome.isFailure || !window.isEmpty { window.append(outcome) }
            }
            let failures = window.filter(\.isFailure).count
            return row >= limits.consecutiveFailures
                || window.count >= limits.minimumOutcomes && failures * 2 >= window.count
        }

        private mutating func open(_ retryAfter: Duration?, at now: Duration) {
            openings += 1
            openUntil = now + max(openTime, min(retryAfter ?? .zero, limits.maximumOpenTime))
        }
    }

    @Test func circuitsAreAsAReferenceWorksThemOut() throws {
        for seed in 1...UInt64(Self.count) {
            var random = SeededGenerator(seed: seed)
            let limits = CircuitLimits(
                consecutiveFailures: .random(in: 1...5, using: &random),
                minimumOutcomes: .random(in: 1...8, using: &random),
                window: .seconds(.random(in: 1...10, using: &random)),
                openTime: .seconds(.random(in: 0...4, using: &random)),
                maximumOpenTime: .seconds(.random(in: 4...20, using: &random)))
            var circuits = Circuits(limits)
            let origin = Origin(HTTPRequest(method: .get, scheme: "https", authority: "a", path: "/"))
            var reference = Reference(limits: limits)
            var flying: [CircuitBreaker.Pass] = []
            var now = Duration.zero
            var number: UInt64 = 0
            for step in 0..<Int.random(in: 1...50, using: &random) {
                now += .milliseconds(.random(in: 0...1500, using: &random))
                if Bool.random(using: &random) || flying.isEmpty {
                    let isRefused = circuits.refusal(of: origin, at: now) != nil
                    try #require(isRefused == reference.isRefused(at: now), "seed \(seed), step \(step)")
                    guard !isRefused else { continue }
                    let pass = circuits.pass(to: origin, at: now)
                    if case .probe(let given) = pass { number = given }
                    let expected = reference.pass(at: now, number)
                    try #require(pass == expected, "seed \(seed), step \(step)")
                    flying.append(pass)
                } else {
                    let pass = flying.remove(at: .random(in: flying.indices, using: &random))
                    let outcome: CircuitBreaker.Outcome =
                        switch Int.random(in: 0..<6, using: &random) {
                        case 0, 1: .success
                        case 2: .unknown
                        case 3: .failure(retryAfter: .seconds(.random(in: 0...30, using: &random)))
                        default: .failure(retryAfter: nil)
                        }
                    _ = circuits.record(outcome, of: pass, to: origin, at: now)
                    reference.record(outcome, pass, at: now)
                }
            }
        }
    }

    @Test func hostsAreBoundedAndThoseThatDoNotFailTakeNoRoom() {
        func origin(_ index: Int) -> Origin {
            Origin(HTTPRequest(method: .get, scheme: "https", authority: "h\(index)", path: "/"))
        }
        var circuits = Circuits(CircuitLimits(consecutiveFailures: 1, maximumHosts: 3))
        for index in 0..<100 { _ = circuits.record(.success, of: .ordinary, to: origin(index), at: .zero) }
        #expect(circuits.isEmpty)
        for index in 0..<5 { _ = circuits.record(failure, of: .ordinary, to: origin(index), at: .zero) }
        #expect((0..<5).map { circuits.refusal(of: origin($0), at: .zero) != nil } == [false, false, true, true, true])
        circuits.removeAll()
        #expect(circuits.isEmpty)
    }
}
