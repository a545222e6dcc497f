import HTTPTypes
import RunwayTesting
import Testing

@testable import Runway

/// How a hedged read without a response ends, and when a slow read is not hedged.
@Suite(.timeLimit(.minutes(10)))
struct HedgeEndingTests {
    /// A read whose request nobody shares, so that its own task waits.
    private struct LoneRead: Endpoint {
        static let service = Library.self
        static let hedging = HedgingPolicy.after(SlowRead.delay)
        static let retry = RetryPolicy.off
        static let coalesces = false
        var path: EndpointPath { "lone" }
    }

    private func end(
        _ endpoint: some Endpoint, ignoresCancellation: Bool, as kind: NetworkError.Kind,
        _ end: (ContestLayer, Task<RawData, any Error>) async throws -> Void
    ) async throws {
        let layer = ContestLayer(ignoresCancellation: ignoresCancellation)
        let call = try await layer.beginHedged(endpoint)
        try await end(layer, call)
        let error = await #expect(throws: NetworkError.self) { try await call.value }
        #expect(error?.kind == kind)
        try await layer.transport.wait { $0.cancelled == [0, 1] }
        let record = try await layer.record()
        #expect(record.attempts.count == 2)
        for attempt in record.attempts { #expect(attempt.end != nil && attempt.failure != nil) }
        for index in layer.transport.parked { layer.transport.respond(index) }
    }

    @Test(arguments: [false, true])
    func aCancelledCallEndsBothAttemptsAtOnce(ignoresCancellation: Bool) async throws {
        try await end(SlowRead(), ignoresCancellation: ignoresCancellation, as: .cancelled) { $1.cancel() }
        try await end(LoneRead(), ignoresCancellation: ignoresCancellation, as: .cancelled) { $1.cancel() }
    }

    @Test(arguments: [false, true])
    func theDeadlineEndsBothAttemptsAtOnce(ignoresCancellation: Bool) async throws {
        func passDeadline(_ layer: ContestLayer, _ call: Task<RawData, any Error>) async throws {
            try await layer.clock.waitForSleepers()
            layer.clock.advance(by: Library.deadline)
        }
        try await end(SlowRead(), ignoresCancellation: ignoresCancellation, as: .timedOut, passDeadline)
        try await end(LoneRead(), ignoresCancellation: ignoresCancellation, as: .timedOut, passDeadline)
    }

    @Test func aLoserThatIgnoresCancellationBlocksNoCall() async throws {
        let layer = ContestLayer(ignoresCancellation: true)
        let call = try await layer.beginHedged(SlowRead())
        layer.transport.respond(1)
        #expect(try await call.value.text == "1")
        #expect(layer.transport.parked == [0])
        // What it brings later changes nothing.
        layer.transport.respond(0)
        try await layer.transport.wait { $0.parked.isEmpty }
        let record = try await layer.record()
        #expect(record.attempts.map(\.status) == [nil, .ok])
    }

    @Test func budgetIsFivePlusATwentiethOfReads() async throws {
        let layer = ContestLayer()
        var hedged = 0
        for number in 0..<65 {
            let (call, first) = (try await layer.begin(SlowRead(number: number)), layer.transport.count - 1)
            try await layer.clock.waitForSleepers()
            layer.clock.advance(by: SlowRead.delay)
            try await layer.transport.wait { transport in
                transport.count == first + 2
                    || transport.flight(first).recorder.hasNoted { $0 as? HedgeDecision == .notStarted(.budgetSpent) }
            }
            layer.transport.respond(first)
            _ = try await call.value
            let decisions = try await layer.hedges()
            if decisions == [.notStarted(.budgetSpent)] { continue }
            #expect(decisions.first == .started(after: SlowRead.delay))
            hedged += 1
        }
        #expect(hedged == 5 + 65 / 20)
    }

    @Test func hedgingNeedsABudgetAndAnUnconstrainedNetwork() async throws {
        let constrained = SettableNetworkStatus(NetworkStatus(.cellular, isConstrained: true))
        for (layer, reason) in [
            (ContestLayer(limits: .none), HedgeDecision.Reason.budgetSpent),
            (ContestLayer(status: constrained), .constrained),
        ] {
            let call = try await layer.begin(SlowRead())
            layer.clock.advance(by: SlowRead.delay)
            try await layer.transport.wait { $0.flight(0).recorder.hasNoted { $0 is HedgeDecision } }
            layer.transport.respond(0)
            _ = try await call.value
            #expect(layer.transport.count == 1)
            #expect(try await layer.hedges() == [.notStarted(reason)])
        }
    }

    @Test func aLearnedDelayIsThe95thPercentile() async throws {
        struct Learning: Endpoint {
            static let service = Library.self
            static let hedging = HedgingPolicy.learned(shortest: .milliseconds(10), longest: .seconds(1))
            static let retry = RetryPolicy.off
            var path: EndpointPath { "learning" }
        }
        let layer = ContestLayer()
        // The slowest first, so that none takes longer than what is learned by then.
        for index in 0..<64 {
            let call = try await layer.begin(Learning())
            layer.clock.advance(by: .milliseconds(64 - index))
            layer.transport.head(of: index)
            layer.transport.respond(index)
            _ = try await call.value
        }
        let call = try await layer.begin(Learning())
        let end = layer.clock.now.offset + .milliseconds(61)
        layer.clock.advance(by: .milliseconds(60))
        try await layer.waitForAlarm(at: end)
        #expect(layer.transport.count == 65)
        layer.clock.advance(by: .milliseconds(1))
        try await layer.transport.wait { $0.count == 66 }
        layer.transport.respond(65)
        _ = try await call.value
        #expect(try await layer.hedges().first == .started(after: .milliseconds(61)))
    }

    @Test func aDelayIsWithinItsBounds() {
        let policy = HedgingPolicy.learned(shortest: .milliseconds(50), longest: .seconds(2))
        #expect(policy.delay(knowing: nil) == .seconds(2))
        #expect(policy.delay(knowing: .milliseconds(7)) == .milliseconds(50))
        #expect(policy.delay(knowing: .milliseconds(70)) == .milliseconds(70))
        #expect(policy.delay(knowing: .seconds(7)) == .seconds(2))
        #expect(HedgingPolicy.after(.seconds(-1)).delay(knowing: nil) == .zero)
        #expect(HedgingPolicy.off.delay(knowing: .seconds(1)) == nil)
    }

    @Test func limitsOutOfBoundsAreTheNearestBound() {
        let low = AttemptLimits(callsPerAttempt: 0, reserve: -1, maximumHosts: 0)
        #expect(low == AttemptLimits(callsPerAttempt: 1, reserve: 0, maximumHosts: 1))
        let high = AttemptLimits(callsPerAttempt: .max, reserve: .max)
        #expect(high == AttemptLimits(callsPerAttempt: 1_000_000, reserve: 1_000_000))
    }
}
