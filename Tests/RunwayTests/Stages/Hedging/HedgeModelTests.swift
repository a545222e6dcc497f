import Foundation
import HTTPTypes
import RunwayTesting
import Synchronization
import Testing

@testable import Runway

/// Many hedged calls at once over a wire whose attempts take any course, from the call down to the transport and back.
@Suite(.timeLimit(.minutes(10)))
struct HedgeModelTests {
    /// How many sessions are played; `RUNWAY_HEDGE_SESSIONS` asks for more.
    private static let count =
        ProcessInfo.processInfo.environment["RUNWAY_HEDGE_SESSIONS"].flatMap { Int($0) } ?? 60

    @Test func callsHaveOneResponseAndLeaveNoAttempt() async throws {
        for seed in 1...UInt64(Self.count) { try await play(seed) }
    }

    private func play(_ seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let limits = AttemptLimits(
            callsPerAttempt: .random(in: 1...6, using: &random), reserve: .random(in: 0...4, using: &random))
        let clock = ManualClock()
        let wire = ChancyTransport(seed: seed)
        let records = RecordCollector()
        let network = NetworkLayer(
            transport: wire, pipeline: .tested, clock: LayerClock(clock), sinks: [records],
            limits: LayerLimits(admission: .none, hedging: limits), randomness: SeededGenerator(seed: seed))
        let callCount = 12
        let cancelled = (0..<callCount).filter { _ in Int.random(in: 0..<10, using: &random) == 0 }
        let calls = (0..<callCount).map { number in
            Task { try await network.call(SlowRead(number: number)).text }
        }
        try await waitUntil("the records of seed \(seed)") {
            records.records.count >= callCount
        } meanwhile: {
            if let next = clock.nextDeadline, next.offset < Library.deadline / 2 { clock.advance(to: next) }
            if Int.random(in: 0..<20, using: &random) == 0 { for number in cancelled { calls[number].cancel() } }
        }
        // A cancelled attempt ends at once.
        try await waitUntil { wire.inFlightCount == 0 }
        await network.flushRecords()
        try #require(records.records.count == callCount, "seed \(seed)")
        var secondCount = 0
        for number in 0..<callCount {
            let result = await calls[number].result
            let record = try #require(
                records.records.first { $0.sentParameters?["number"] == .integer(Int64(number)) }, "seed \(seed)")
            let courses = wire.courses(of: number)
            let context = Comment(rawValue: "seed \(seed), call \(number): \(record)")
            try #require(courses.count <= 2 && record.attempts.count <= 2, context)
            secondCount += courses.count - min(1, courses.count)
            switch result {
            case .success(let text):
                let responding = try #require(courses.first { "\($0.number)" == text }, context)
                try #require(responding.status == .ok, context)
                // An attempt that has lost may have a response, too, before it is cancelled.
                let completed = courses.count { $0.status == .ok && !$0.breaksOff && !$0.wasCancelled }
                try #require((1...completed).contains(record.attempts.count { $0.status == .ok }), context)
            case .failure(let error):
                let kind = (error as? NetworkError)?.kind
                if kind == .cancelled { try #require(cancelled.contains(number), context); continue }
                // Nothing good came, or what began well broke off.
                let lacksResponse = courses.allSatisfy { $0.status != .ok || $0.wasCancelled }
                try #require(lacksResponse || courses.contains { $0.status == .ok && $0.breaksOff }, context)
            }
        }
        try #require(secondCount <= limits.reserve + callCount / limits.callsPerAttempt, "seed \(seed): \(limits)")
    }
}

/// A transport whose attempts take a course that chance decides, in the layer's time.
private final class ChancyTransport: Transport {
    struct Course {
        var number: Int
        var call: Int
        var status: HTTPResponse.Status?
        var breaksOff: Bool
        var wasCancelled = false
    }

    private struct State {
        var courses: [Course] = []
        var inFlightCount = 0
        var random: SeededGenerator
    }

    /// Guards the attempts and the source of chance.
    private let state: Mutex<State>

    init(seed: UInt64) { state = Mutex(State(random: SeededGenerator(seed: seed))) }

    var inFlightCount: Int { state.withLock { $0.inFlightCount } }

    func courses(of call: Int) -> [Course] { state.withLock { $0.courses.filter { $0.call == call } } }

    func send(_ request: Request, in flight: Flight) async throws(NetworkError) -> Response {
        let call = Int(request.head.path?.split(separator: "=").last ?? "") ?? -1
        let (course, waits) = state.withLock { state in
            let statuses: [HTTPResponse.Status?] = [.ok, .ok, .ok, .serviceUnavailable, nil]
            let status = statuses.randomElement(using: &state.random) ?? nil
            let course = Course(
                number: state.courses.count, call: call, status: status,
                breaksOff: status == nil || Int.random(in: 0..<8, using: &state.random) == 0)
            let waits = [0, 1].map { _ in Duration.milliseconds(Int.random(in: 0...200, using: &state.random)) }
            state.courses.append(course)
            state.inFlightCount += 1
            return (course, waits)
        }
        defer { state.withLock { $0.inFlightCount -= 1 } }
        do {
            try await flight.clock.sleep(until: flight.clock.now + waits[0])
            if let status = course.status { request.noteHead(status) }
            try await flight.clock.sleep(until: flight.clock.now + waits[1])
        } catch {
            state.withLock { $0.courses[course.number].wasCancelled = true }
            throw NetworkError(.cancelled, in: .transporting, "cancelled")
        }
        guard let status = course.status, !course.breaksOff else {
            throw NetworkError(.noNetwork, in: .transporting, "broken off")
        }
        return .json("\(course.number)", status: status)
    }
}
