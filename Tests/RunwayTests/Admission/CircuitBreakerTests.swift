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

    private static let fiveSeconds = CircuitLimits(openTime: .seconds(5))

    private func opened(_ limits: CircuitLimits = Self.fiveSeconds, retryAfter: Duration? = nil) -> CircuitBreaker {
        var breaker = CircuitBreaker(limits)
        for _ in 0..<limits.consecutiveFailures {
            _ = breaker.record(.failure(retryAfter: retryAfter), of: .ordinary, at: .zero)
        }
        return breaker
    }

    @Test func failuresInARowOpenTheCircuit() {
        var breaker = CircuitBreaker(CircuitLimits())
        let openings = (1...5).map { _ in breaker.record(failure, of: .ordinary, at: .zero) }
        #expect(openings == [nil, nil, nil, nil, .seconds(1)])
        #expect(breaker.refusal(at: .zero) == .seconds(1))
        #expect(breaker.refusal(at: .milliseconds(900)) == .milliseconds(100))
        #expect(breaker.refusal(at: .seconds(1)) == nil)
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
        #expect(openTime == .seconds(1))
    }

    @Test func oldFailuresDoNotCountForTheShare() {
        var breaker = CircuitBreaker(CircuitLimits(consecutiveFailures: 100))
        for index in 0..<60 {
            let openTime = breaker.record(failure, of: .ordinary, at: .seconds(index * 2))
            #expect(openTime == nil)
        }
    }

    @Test func oneCallAtATimeProbesTheHost() {
        var breaker = opened()
        let probe = breaker.admit(at: .seconds(5), number: 1)
        #expect(probe == .probe(1))
        #expect(breaker.refusal(at: .seconds(5)) != nil)
        let openTime = breaker.record(.success, of: probe, at: .seconds(6))
        #expect(openTime == nil)
        #expect(breaker.state == .closed)
        #expect(breaker.isIdle)
    }

    @Test func failedProbeDoublesTheOpenTimeWithinLimits() {
        var breaker = opened()
        var now = Duration.seconds(5)
        var times: [Duration] = []
        for number in 1...7 {
            let probe = breaker.admit(at: now, number: UInt64(number))
            let time = breaker.record(failure, of: probe, at: now)
            times.append(time ?? .zero)
            now += time ?? .zero
        }
        #expect(times == [10, 20, 40, 80, 120, 120, 120].map { .seconds($0) })
    }

    @Test func timeGrowsAnewAfterTheCircuitWasClosed() {
        var breaker = opened()
        _ = breaker.record(failure, of: breaker.admit(at: .seconds(5), number: 1), at: .seconds(5))
        _ = breaker.record(.success, of: breaker.admit(at: .seconds(15), number: 2), at: .seconds(15))
        let openings = (1...5).map { _ in breaker.record(failure, of: .ordinary, at: .seconds(16)) }
        #expect(openings.last == .seconds(5))
    }

    @Test(arguments: [(60, 60), (3, 5), (0, 5), (-5, 5), (120, 120), (1_000_000, 120)])
    func retryAfterCountsUpToTheBound(_ retryAfter: Int, _ expected: Int) {
        #expect(opened(retryAfter: .seconds(retryAfter)).refusal(at: .zero) == .seconds(expected))
    }

    @Test func inconclusiveProbeMakesRoomForTheNext() {
        var breaker = opened()
        let first = breaker.admit(at: .seconds(5), number: 1)
        _ = breaker.record(.unknown, of: first, at: .seconds(6))
        #expect(breaker.refusal(at: .seconds(6)) == nil)
        let second = breaker.admit(at: .seconds(6), number: 2)
        #expect(second == .probe(2))
        // What the first brings now, or brings again, is of no account.
        _ = breaker.record(.success, of: first, at: .seconds(7))
        #expect(breaker.state == .probing(2, since: .seconds(6)))
    }

    @Test func probeThatTakesForEverGetsCompany() {
        var breaker = opened()
        _ = breaker.admit(at: .seconds(5), number: 1)
        #expect(breaker.refusal(at: .seconds(9)) == .seconds(1))
        #expect(breaker.refusal(at: .seconds(10)) == nil)
        let second = breaker.admit(at: .seconds(10), number: 2)
        #expect(second == .probe(2))
    }

    @Test func onlySuccessfulBypassesCloseTheCircuit() {
        var breaker = opened()
        let before = breaker.state
        for outcome in [failure, .unknown] {
            let openTime = breaker.record(outcome, of: .bypass, at: .seconds(1))
            #expect(openTime == nil && breaker.state == before)
        }
        let openTime = breaker.record(.success, of: .bypass, at: .seconds(2))
        #expect(openTime == nil && breaker.isIdle)
    }

    @Test func callsStartedBeforeTheCircuitOpenedChangeNothing() {
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
            maximumHosts: 0, maximumEndpoints: -3)
        #expect(limits.consecutiveFailures == 1 && limits.minimumOutcomes == 1)
        #expect(limits.maximumHosts == 1 && limits.maximumEndpoints == 1)
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

        mutating func admit(at now: Duration, _ number: UInt64, isBypassing: Bool) -> CircuitBreaker.Permit {
            guard openUntil != nil || probe != nil else { return .ordinary }
            if isBypassing { return .bypass }
            probe = (number, now)
            return .probe(number)
        }

        mutating func record(_ outcome: CircuitBreaker.Outcome, _ permit: CircuitBreaker.Permit, at now: Duration) {
            if permit == .bypass {
                if outcome == .success, openUntil != nil || probe != nil { self = Reference(limits: limits) }
            } else if let probe {
                guard permit == .probe(probe.number) else { return }
                self.probe = nil
                switch outcome {
                case .success: self = Reference(limits: limits)
                case .unknown: openUntil = now
                case .failure(let retryAfter): open(retryAfter, at: now)
                }
            } else if openUntil == nil, permit == .ordinary {
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
            // Two endpoints of one host, each with a circuit of its own beside the host's.
            let targets = [Self.target(of: QueryCall.self), Self.target(of: BookSearch.self)]
            var host = Reference(limits: limits)
            var endpoints = [Reference(limits: limits), Reference(limits: limits)]
            var inFlight: [(endpoint: Int, permit: Circuits.Permit)] = []
            var now = Duration.zero
            var number: UInt64 = 0
            for step in 0..<Int.random(in: 1...60, using: &random) {
                now += .milliseconds(.random(in: 0...1500, using: &random))
                if Bool.random(using: &random) || inFlight.isEmpty {
                    let endpoint = Int.random(in: 0...1, using: &random)
                    let isBypassing = Int.random(in: 0..<4, using: &random) == 0
                    let refusal = circuits.refusal(of: targets[endpoint], at: now)
                    let isHostWide = host.isRefused(at: now)
                    try #require(
                        (refusal != nil) == (isHostWide || endpoints[endpoint].isRefused(at: now)),
                        "seed \(seed), step \(step)")
                    try #require(refusal.map { $0.isHostWide == isHostWide } ?? true, "seed \(seed), step \(step)")
                    guard refusal == nil || isBypassing else { continue }
                    let permit = circuits.admit(to: targets[endpoint], at: now, isBypassing: isBypassing)
                    for case .probe(let given) in [permit.host, permit.endpoint] { number = given }
                    let expected = Circuits.Permit(
                        host: host.admit(at: now, number, isBypassing: isBypassing),
                        endpoint: endpoints[endpoint].admit(at: now, number, isBypassing: isBypassing))
                    try #require(permit == expected, "seed \(seed), step \(step)")
                    inFlight.append((endpoint, permit))
                } else {
                    let (endpoint, permit) = inFlight.remove(at: .random(in: inFlight.indices, using: &random))
                    let retryAfter = Duration.seconds(.random(in: 0...30, using: &random))
                    let (outcome, ofHost, ofEndpoint):
                        (Circuits.Outcome, CircuitBreaker.Outcome, CircuitBreaker.Outcome) =
                            switch Int.random(in: 0..<8, using: &random) {
                            case 0, 1: (.success, .success, .success)
                            case 2: (.unknown, .unknown, .unknown)
                            case 3: (.refusal(retryAfter: retryAfter), .success, .failure(retryAfter: retryAfter))
                            case 4: (.refusal(retryAfter: nil), .success, failure)
                            case 5: (.silence, .unknown, failure)
                            default: (.unreachable, failure, .unknown)
                            }
                    _ = circuits.record(outcome, of: permit, to: targets[endpoint], at: now)
                    host.record(ofHost, permit.host, at: now)
                    endpoints[endpoint].record(ofEndpoint, permit.endpoint, at: now)
                }
            }
        }
    }

    private static func target(
        _ index: Int = 0, of endpoint: any Endpoint.Type = QueryCall.self, path: String = "/"
    ) -> CircuitTarget {
        CircuitTarget(HTTPRequest(method: .get, scheme: "https", authority: "h\(index)", path: path), of: endpoint)
    }

    @Test func endpointsCountRefusalsAndHostsFailedConnections() {
        var circuits = Circuits(CircuitLimits(consecutiveFailures: 1))
        let (failing, other) = (Self.target(of: QueryCall.self), Self.target(of: BookSearch.self))
        let opening = circuits.record(.refusal(retryAfter: nil), of: Circuits.Permit(), to: failing, at: .zero)
        #expect(opening == Circuits.Opening(isHostWide: false, time: .seconds(1)))
        #expect(circuits.refusal(of: failing, at: .zero) == opening && circuits.isClosed(to: other))
        let another = Self.target(1, of: QueryCall.self)
        #expect(circuits.isClosed(to: another))
        let down = circuits.record(.unreachable, of: Circuits.Permit(), to: other, at: .zero)
        #expect(down == Circuits.Opening(isHostWide: true, time: .seconds(1)))
        #expect(circuits.refusal(of: failing, at: .zero) == down && circuits.refusal(of: other, at: .zero) == down)
        #expect(circuits.isClosed(to: another))
    }

    @Test func manyPathsAreCountedByPathWithoutQuery() {
        func isClosed(to path: String, after failure: String, of endpoint: any Endpoint.Type) -> Bool {
            var circuits = Circuits(CircuitLimits(consecutiveFailures: 1))
            let failing = Self.target(of: endpoint, path: failure)
            _ = circuits.record(.refusal(retryAfter: nil), of: Circuits.Permit(), to: failing, at: .zero)
            return circuits.isClosed(to: Self.target(of: endpoint, path: path))
        }
        #expect(!isClosed(to: "/a?x=2", after: "/a?x=1", of: GetEndpoint<Library>.self))
        #expect(isClosed(to: "/b", after: "/a", of: GetEndpoint<Library>.self))
        // Of an ordinary endpoint the path has parameters, such as ids.
        #expect(!isClosed(to: "/b", after: "/a", of: QueryCall.self))
    }

    @Test func failingCircuitsAloneAreStoredWithinBounds() {
        var circuits = Circuits(CircuitLimits(consecutiveFailures: 1, maximumHosts: 3, maximumEndpoints: 2))
        for index in 0..<100 { _ = circuits.record(.success, of: Circuits.Permit(), to: Self.target(index), at: .zero) }
        #expect(circuits.isEmpty)
        for (outcome, expected) in [
            (Circuits.Outcome.unreachable, [false, false, true, true, true]),
            (.refusal(retryAfter: nil), [false, false, false, true, true]),
        ] {
            for index in 0..<5 {
                _ = circuits.record(outcome, of: Circuits.Permit(), to: Self.target(index), at: .zero)
            }
            #expect((0..<5).map { circuits.refusal(of: Self.target($0), at: .zero) != nil } == expected)
            circuits.removeAll()
            #expect(circuits.isEmpty)
        }
    }
}
