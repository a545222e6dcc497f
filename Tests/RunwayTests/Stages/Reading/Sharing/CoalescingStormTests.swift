import Foundation
import RunwayJSON
import RunwayTesting
import Synchronization
import Testing

@testable import Runway

/// Many tasks at once, in whatever order the machine runs them.
@Suite(.timeLimit(.minutes(10)))
struct CoalescingStormTests {
    /// How many storms are played; `RUNWAY_COALESCING_STORMS` asks for more.
    static let count = ProcessInfo.processInfo.environment["RUNWAY_COALESCING_STORMS"].flatMap { Int($0) } ?? 20

    @Test func manyTasksNeitherLoseCallsNorDoubleRequests() async throws {
        for seed in 1...UInt64(Self.count) {
            let storm = Storm(seed: seed)
            let problems = try await storm.run()
            try #require(problems.isEmpty, "seed \(seed): \(problems)")
        }
    }
}

private struct Storm {
    private static let callCount = 120
    private let seed: UInt64
    private let transport: YieldingTransport
    private let records = RecordCollector()
    private let network: NetworkLayer

    init(seed: UInt64) {
        self.seed = seed
        transport = YieldingTransport(seed: seed)
        network = NetworkLayer(
            transport: transport, pipeline: .tested, clock: LayerClock(ManualClock()), sinks: [records],
            limits: LayerLimits(admission: .none, retrying: .none))
    }

    func run() async throws -> [String] {
        let results = await withTaskGroup(of: Result<RawData, any Error>.self) { group in
            for index in 0..<Self.callCount {
                group.addTask { [network] in
                    var random = SeededGenerator(seed: seed << 8 | UInt64(index))
                    for _ in 0..<Int.random(in: 0...20, using: &random) { await Task.yield() }
                    let shelf = Int.random(in: 1...3, using: &random)
                    let call = Task { try await network.call(Shelf(number: shelf)) }
                    if Int.random(in: 0..<3, using: &random) == 0 {
                        for _ in 0..<Int.random(in: 0...20, using: &random) { await Task.yield() }
                        call.cancel()
                    }
                    return await call.result
                }
            }
            return await group.reduce(into: [Result<RawData, any Error>]()) { $0.append($1) }
        }
        return check(results, try await records.records(count: Self.callCount))
    }

    private func check(_ results: [Result<RawData, any Error>], _ records: [FlightRecord]) -> [String] {
        var problems: [String] = []
        if transport.sentCount >= Self.callCount { problems.append("nothing was shared") }
        if records.count != Self.callCount { problems.append("\(records.count) records") }
        if records.map(\.attempts.count).reduce(0, +) != transport.sentCount {
            problems.append("requests recorded and sent differ")
        }
        if !network.reads.isEmpty { problems.append("reads are left over") }
        let byNumber = Dictionary(uniqueKeysWithValues: records.map { ($0.id.number, $0) })
        var expected: [UInt64: Int] = [:]
        for record in records {
            let joined = record.decisions(of: SharingDecision.self).compactMap { decision -> UInt64? in
                if case .joined(let flight) = decision { flight.number } else { nil }
            }
            if !joined.isEmpty, !record.attempts.isEmpty { problems.append("a call that joined sent a request") }
            let leader = joined.first ?? record.id.number
            if byNumber[leader]?.decisions(of: SharingDecision.self).contains(where: {
                if case .joined = $0 { true } else { false }
            }) == true {
                problems.append("a call joined one that joined")
            }
            if record.outcome.name == "succeeded" { expected[leader, default: 0] += 1 }
        }
        var found: [UInt64: Int] = [:]
        for case .success(let rawData) in results { found[rawData["flight"].uint64 ?? 0, default: 0] += 1 }
        if found != expected { problems.append("returned and recorded responses differ") }
        for case .failure(let error) in results where (error as? NetworkError)?.kind != .cancelled {
            problems.append("\(error)")
        }
        return problems
    }
}

/// A transport that responds after a while, unless it is cancelled.
private final class YieldingTransport: Transport {
    private struct State {
        var random: SeededGenerator
        var sentCount = 0
    }

    /// Guards the delay of responses, and the number of requests.
    private let state: Mutex<State>

    init(seed: UInt64) { state = Mutex(State(random: SeededGenerator(seed: ~seed))) }

    var sentCount: Int { state.withLock { $0.sentCount } }

    func endsInTime(_ request: Request) -> Bool { true }

    func send(_ request: Request, in flight: Flight) async throws(NetworkError) -> Response {
        let steps = state.withLock { state in
            state.sentCount += 1
            return Int.random(in: 0...30, using: &state.random)
        }
        for _ in 0..<steps {
            await Task.yield()
            if Task.isCancelled { throw NetworkError(.cancelled, in: .transporting, "gone") }
        }
        return .json(#"{"flight":\#(flight.id.number)}"#)
    }
}
