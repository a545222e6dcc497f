import Foundation
import HTTPTypes
import Runway
import RunwayTestServer
import RunwayTesting
import RunwayTransport
import Synchronization
import Testing

/// Chains of redirects, retries, replays, merges and hedges by chance, against a server that counts what took effect.
@Suite(.timeLimit(.minutes(10)))
struct EffectChainTests {
    /// How many layers are played, each with some ten calls; `RUNWAY_EFFECTS` asks for more, `RUNWAY_SEED` for others.
    static let count = ProcessInfo.processInfo.environment["RUNWAY_EFFECTS"].flatMap { Int($0) } ?? 60
    private static let firstSeed = ProcessInfo.processInfo.environment["RUNWAY_SEED"].flatMap { UInt64($0) } ?? 1

    @Test func onlyPolicyLetsUnsafeCallsTakeEffectTwice() async throws {
        var total = EffectPlay.Tally()
        for seed in Self.firstSeed..<Self.firstSeed + UInt64(max(1, Self.count)) {
            let (problems, tally) = try await EffectPlay.run(seed)
            try #require(problems.isEmpty, "seed \(seed): \(problems)")
            total.add(tally)
        }
        // Without such chains the test would pass without checking anything.
        guard Self.count >= 60 else { return }
        #expect(total.redirects > 100 && total.repeated > 10 && total.merged > 20 && total.hedged > 5, "\(total)")
    }
}

/// One layer, and the calls that it makes at once.
private enum EffectPlay {
    /// How often each event that this test covers occurred.
    struct Tally {
        var redirects = 0
        /// How many calls took effect more than once, as their policy allows.
        var repeated = 0
        var merged = 0
        var hedged = 0

        mutating func add(_ other: Tally) {
            redirects += other.redirects
            repeated += other.repeated
            merged += other.merged
            hedged += other.hedged
        }
    }

    /// One call: what it may do, and how it ended.
    struct Ending {
        let id: Int
        let isRepeatable: Bool
        let error: NetworkError?
    }

    static func run(_ seed: UInt64) async throws -> (problems: [String], tally: Tally) {
        try await withScriptedOrigin { first in
            try await withScriptedOrigin { second in
                let refusing = try RefusingPort()
                let server = EffectServer(
                    seed: seed, bases: [first.baseURL, second.baseURL, "http://127.0.0.1:\(refusing.number)"])
                for origin in [first, second] { origin.otherwise { server.respond(to: $0) } }
                let records = RecordCollector()
                let network = NetworkLayer(
                    transport: try NIOTransport(configuration: TransportConfiguration(connectTimeout: .seconds(300))),
                    pipeline: .tested, sinks: [records],
                    limits: LayerLimits(
                        admission: .none, retrying: AttemptLimits(callsPerAttempt: 10, reserve: 1000),
                        hedging: AttemptLimits(callsPerAttempt: 20, reserve: 1000)))
                network.configure(Till.self) { settings in
                    settings.baseURLs = [.release: "\(first.baseURL)/v1"]
                    if seed.isMultiple(of: 3) { settings.merging = nil }
                }
                try await network.signIn(AccessToken("t", account: "ann", refreshToken: "r"), to: Till.self)
                let endings = await calls(seed, on: network)
                await network.flushRecords()
                var tally = tally(of: records.records)
                tally.redirects = server.redirectCount
                tally.repeated = endings.count { server.effectCount($0.id) > 1 }
                _ = refusing
                return (problems(endings, server), tally)
            }
        }
    }

    private static func calls(_ seed: UInt64, on network: NetworkLayer) async -> [Ending] {
        var random = SeededGenerator(seed: seed &+ 1_000_000)
        return await withTaskGroup(of: Ending.self) { tasks in
            for id in 1...10 {
                let policy = RetryPolicy(
                    maximumAttempts: Int.random(in: 1...4, using: &random), baseWait: .zero,
                    isRepeatable: Int.random(in: 0..<6, using: &random) == 0)
                let hasKey = Int.random(in: 0..<6, using: &random) == 0
                let choice = Int.random(in: 0..<10, using: &random)
                // Some are cancelled in flight.
                let patience =
                    Int.random(in: 0..<5, using: &random) == 0 ? Int.random(in: 1...200, using: &random) : nil
                tasks.addTask {
                    let isRepeatable = policy.isRepeatable || hasKey
                    return switch choice {
                    case 0...3: await call(Sale<POST>(id, hasKey: hasKey), policy, isRepeatable, patience, on: network)
                    case 4, 5: await call(Sale<PATCH>(id, hasKey: hasKey), policy, isRepeatable, patience, on: network)
                    case 6: await call(Sale<PUT>(id, hasKey: hasKey), policy, true, patience, on: network)
                    case 7: await call(Sale<DELETE>(id, hasKey: hasKey), policy, true, patience, on: network)
                    default: await call(Sale<GET>(id, hasKey: hasKey), policy, true, patience, on: network)
                    }
                }
            }
            return await tasks.reduce(into: []) { $0.append($1) }
        }
    }

    private static func call<Method: TestMethod>(
        _ sale: Sale<Method>, _ policy: RetryPolicy, _ isRepeatable: Bool, _ patience: Int?, on network: NetworkLayer
    ) async -> Ending {
        let call = Task { try await network.call(sale, options: CallOptions(retry: policy)) }
        if let patience {
            for _ in 0..<patience { await Task.yield() }
            call.cancel()
        }
        do {
            _ = try await call.value
            return Ending(id: sale.id, isRepeatable: isRepeatable, error: nil)
        } catch {
            return Ending(id: sale.id, isRepeatable: isRepeatable, error: error as? NetworkError)
        }
    }

    private static func problems(_ endings: [Ending], _ server: EffectServer) -> [String] {
        endings.flatMap { ending in
            var problems: [String] = []
            let effectCount = server.effectCount(ending.id)
            if !ending.isRepeatable, effectCount > 1 {
                problems.append(
                    "call \(ending.id) took effect \(effectCount) times: \(String(describing: ending.error))")
            }
            let arrivalCount = server.arrivalCount(ending.id)
            if ending.error?.sending == .notSent, arrivalCount > 0 {
                problems.append("call \(ending.id) says not sent, and arrived \(arrivalCount) times")
            }
            return problems
        }
    }

    private static func tally(of records: [FlightRecord]) -> Tally {
        var tally = Tally()
        for record in records {
            tally.merged += record.decisions(of: MergeDecision.self).count {
                if case .carried = $0 { true } else { false }
            }
            tally.hedged += record.decisions(of: HedgeDecision.self).count {
                if case .started = $0 { true } else { false }
            }
        }
        return tally
    }
}

/// A service that merges, hedges and has tokens.
private enum Till: APIService {
    static let name = "till"
    static let environments: [ServiceEnvironment: String] = [:]
    static let allowsPlainHTTP = true
    static let merging: MergePolicy? = MergePolicy(wait: .milliseconds(5), settling: .zero)
    static let deadline = Duration.seconds(120)
    static let credentials: (any Credentials)? = TillCredentials()
}

private struct TillCredentials: Credentials {
    func refresh(_ token: AccessToken, on network: NetworkLayer) async throws -> AccessToken {
        AccessToken(token.value + "+", account: token.account, refreshToken: token.refreshToken)
    }
}

private struct Sale<Method: TestMethod>: Endpoint {
    static var service: Till.Type { Till.self }
    static var method: HTTPRequest.Method { Method.method }
    static var coalesces: Bool { false }
    static var hedging: HedgingPolicy { .after(.milliseconds(1)) }
    var path: EndpointPath { "do/\(id)" }
    let id: Int
    let hasKey: Bool
    var headers: [String: String] { hasKey ? ["Idempotency-Key": "\"\(id)\""] : [:] }

    init(_ id: Int, hasKey: Bool) {
        self.id = id
        self.hasKey = hasKey
    }

    func encode(to encoder: any Encoder) {}
}
