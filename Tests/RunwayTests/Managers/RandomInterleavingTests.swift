import Foundation
import Runway
import RunwayJSON
import RunwayTesting
import Testing

/// A call whose responses are cached, so that some are found in memory.
private struct Bulletin: Endpoint {
    static let service = Estates.self
    static let coalesces = false
    static let cache = CachePolicy.timeToLive()
    var path: EndpointPath { "bulletin" }
    var page = 1
}

/// Loads, cache hits, vetoes, cancellations, replacements, releases and responses in random order.
@MainActor
struct RandomInterleavingTests {
    /// How many sequences are played; `RUNWAY_INTERLEAVINGS` asks for more.
    nonisolated static let count =
        ProcessInfo.processInfo.environment["RUNWAY_INTERLEAVINGS"].flatMap { Int($0) } ?? 3000

    @Test(arguments: [OverlapPolicy.joinOrReplace, .ignoreNew, .cancelRunning, .concurrent])
    func landingsArriveOnceInOrder(policy: OverlapPolicy) async throws {
        for seed in Seeds.some(Self.count / 4) {
            let play = Interleaving(seed: seed, policy: policy)
            let problems = try await play.run()
            try #require(problems.isEmpty, "seed \(seed), \(policy): \(problems)")
        }
    }
}

@MainActor
private final class Interleaving: APIManagerDelegate {
    private var random: SeededGenerator
    private let policy: OverlapPolicy
    private let bench: ManagerBench
    private var managers: [APIManager<Bulletin>?] = []
    private var released: [Released] = []
    private let hooks: Vetoes
    private var owners: [FlightID: Int] = [:]
    /// What each call asked for.
    private var pages: [FlightID: Int] = [:]
    /// The calls that a hook did not let start.
    private var unsent: Set<FlightID> = []
    /// The calls that the play cancelled before they landed: these, and no others, may end without a landing.
    private var cancelled: Set<FlightID> = []
    /// The flights with a response, and whether it was a success.
    private var isSuccess: [FlightID: Bool] = [:]
    private var notified: [(flight: FlightID, isSuccess: Bool)] = []
    private var loadCount = 0
    private var isInsideLoad = false
    private var problems: [String] = []

    init(seed: UInt64, policy: OverlapPolicy) {
        random = SeededGenerator(seed: seed)
        self.policy = policy
        bench = ManagerBench(ignoresCancellation: seed % 2 == 0)
        hooks = Vetoes(seed: seed)
        managers = (0..<3).map { _ in makeManager() }
    }

    private var replacesOlder: Bool { policy == .joinOrReplace || policy == .cancelRunning }

    private func makeManager() -> APIManager<Bulletin> {
        let manager = APIManager<Bulletin>(on: bench.network, delegate: self, overlap: policy)
        manager.interceptor = hooks
        return manager
    }

    func run() async throws -> [String] {
        for _ in 0..<Int.random(in: 5...30, using: &random) { await step() }
        // The remaining requests get a response, until every call has its record.
        do {
            try await waitUntil("a record of each of \(loadCount) calls") {
                bench.records.records.count >= loadCount
            } meanwhile: {
                for _ in bench.transport.parked { respondOnce() }
                // Records are reported on another thread: waiting for it leaves the main actor to other tests.
                await bench.network.flushRecords()
            }
        } catch {
            return problems + ["\(bench.records.records.count) records: \(error)"]
        }
        check(bench.records.records)
        let leakedCount = released.count { $0.manager != nil }
        if leakedCount > 0 { problems.append("\(leakedCount) of \(released.count) released managers live on") }
        return problems
    }

    private func step() async {
        switch Int.random(in: 0..<10, using: &random) {
        case 0...3: load(Int.random(in: managers.indices, using: &random))
        case 4...6: respondOnce()
        case 7: cancelOne()
        case 8: release(Int.random(in: managers.indices, using: &random))
        default: cancelAll(Int.random(in: managers.indices, using: &random))
        }
        for _ in 0..<Int.random(in: 0...3, using: &random) { await Task.yield() }
    }

    private func load(_ index: Int) {
        guard let manager = managers[index] else { return }
        loadCount += 1
        let isVetoed = Int.random(in: 0..<8, using: &random) == 0
        if policy == .cancelRunning, !isVetoed { cancel { $0 == index } }
        // One in two asks for what an earlier one may have brought.
        let page = Bool.random(using: &random) ? Int.random(in: 1...6, using: &random) : 100 + loadCount
        isInsideLoad = true
        hooks.vetoesNextCall = isVetoed
        let flight = manager.load(Bulletin(page: page))
        hooks.vetoesNextCall = false
        isInsideLoad = false
        if isVetoed {
            unsent.insert(flight)
        } else {
            if policy == .joinOrReplace {
                if owners[flight] == nil { cancel { $0 == index } }
                if let joined = pages[flight], joined != page { problems.append("joined a call of another page") }
            }
            owners[flight] = index
            // `load` returns the number of the call in flight for one that joins it or is ignored.
            pages[flight] = pages[flight] ?? page
        }
    }

    private func respondOnce() {
        guard let flight = bench.transport.parked.randomElement(using: &random) else { return }
        let result: Result<Response, NetworkError> =
            Bool.random(using: &random)
            ? .success(.json(#"{"flight":\#(flight)}"#)) : .failure(NetworkError(.noNetwork, in: .transporting, "gone"))
        guard bench.transport.respond(flight, with: result),
            let id = owners.keys.first(where: { $0.number == flight })
        else { return }
        isSuccess[id] = if case .success = result { true } else { false }
    }

    /// Notes the calls of some managers that are cancelled before they landed.
    private func cancel(where predicate: (Int) -> Bool) {
        for (flight, index) in owners where predicate(index) && !notified.contains(where: { $0.flight == flight }) {
            cancelled.insert(flight)
        }
    }

    private func cancelAll(_ index: Int) {
        cancel { $0 == index }
        managers[index]?.cancelAll()
    }

    private func cancelOne() {
        guard let (flight, index) = owners.sorted(by: { $0.key < $1.key }).randomElement(using: &random) else { return }
        if !notified.contains(where: { $0.flight == flight }) { cancelled.insert(flight) }
        managers[index]?.cancel(flight)
    }

    /// Releases a manager, and replaces it by a new one.
    private func release(_ index: Int) {
        cancel { $0 == index }
        released.append(Released(manager: managers[index]))
        managers[index] = nil
        managers[index] = makeManager()
    }

    func apiManagerDidSucceed(_ manager: any APIManaging) {
        keep(manager, isSuccess: true)
        let fetcher = manager.rawData?["flight"].uint64
        if manager.rawData?.source == .cache {
            let stored = owners.keys.first { $0.number == fetcher }
            let isFetched = stored.map { isSuccess[$0] == true } ?? false
            let isSamePage = stored.flatMap { pages[$0] } == manager.landedFlight.flatMap { pages[$0] }
            if !isFetched || !isSamePage { problems.append("memory had what nobody fetched, or of another page") }
        } else if fetcher != manager.landedFlight?.number {
            problems.append("the response of another flight")
        }
    }

    func apiManager(_ manager: any APIManaging, didFailWith error: NetworkError) { keep(manager, isSuccess: false) }

    private func keep(_ manager: any APIManaging, isSuccess: Bool) {
        guard let flight = manager.landedFlight else { return problems.append("notified of no flight") }
        if isInsideLoad { problems.append("notified from inside load") }
        if !managers.contains(where: { $0 === manager }) { problems.append("notified by a released manager") }
        notified.append((flight, isSuccess))
        // Some controllers call again in the turn in which they are notified.
        if loadCount < 40, Int.random(in: 0..<4, using: &random) == 0, let index = owners[flight] { load(index) }
    }

    private func check(_ records: [FlightRecord]) {
        if records.count != loadCount { problems.append("\(records.count) records of \(loadCount) calls") }
        if Set(records.map(\.id)).count != records.count { problems.append("two records of one call") }
        let succeeded = Set(records.filter { $0.outcome.name == "succeeded" }.map(\.id))
        let failed = Set(records.filter { $0.outcome.name == "failed" }.map(\.id))
        if Set(notified.map(\.flight)).count != notified.count { problems.append("a call was notified twice") }
        let (notifiedOfSuccess, notifiedOfFailure) = (notified.filter(\.isSuccess), notified.filter { !$0.isSuccess })
        if Set(notifiedOfSuccess.map(\.flight)) != succeeded {
            problems.append("successes notified and recorded differ")
        }
        if Set(notifiedOfFailure.map(\.flight)) != failed { problems.append("failures notified and recorded differ") }
        let vetoed = records.filter { $0.outcome.name == "vetoed" }
        if vetoed.count != unsent.count + hooks.landingCount { problems.append("\(vetoed.count) records of vetoes") }
        for record in records {
            let (id, outcome) = (record.id, record.outcome.name)
            switch outcome {
            case "succeeded" where isSuccess[id] == true && !cancelled.contains(id): break
            case "succeeded" where record.source == .cache && record.attempts.isEmpty && !cancelled.contains(id): break
            case "vetoed" where unsent.contains(id) && owners[id] == nil && record.attempts.isEmpty: break
            case "vetoed" where owners[id] != nil && !unsent.contains(id): break
            case "failed" where isSuccess[id] == false && !cancelled.contains(id): break
            case "cancelled" where cancelled.contains(id): break
            case "replaced" where cancelled.contains(id) && replacesOlder: break
            case "joined" where owners[id] == nil && policy == .joinOrReplace: break
            case "ignored" where owners[id] == nil && policy == .ignoreNew: break
            default: problems.append("\(id) was \(outcome)\(cancelled.contains(id) ? ", and cancelled" : "")")
            }
        }
        if replacesOlder {
            for landings in Dictionary(grouping: notified, by: { owners[$0.flight] }).values
            where landings.map(\.flight) != landings.map(\.flight).sorted() {
                problems.append("an older flight landed after a newer one")
            }
        }
    }
}

/// A released manager, while anything else still holds it.
private struct Released {
    weak var manager: APIManager<Bulletin>?
}

/// Prevents some calls from starting, and some from landing.
private final class Vetoes: Interceptor {
    var vetoesNextCall = false
    /// How many landings were vetoed.
    private(set) var landingCount = 0
    private var random: SeededGenerator

    init(seed: UInt64) { random = SeededGenerator(seed: ~seed) }

    func beforeCall(to endpoint: inout any Endpoint, as flight: FlightID, by manager: (any APIManaging)?) -> Bool {
        !vetoesNextCall
    }
    func beforeSuccess(_ rawData: RawData, of call: InterceptedCall, by manager: (any APIManaging)?) -> Bool {
        allowsLanding()
    }
    func beforeFailure(_ error: NetworkError, of call: InterceptedCall, by manager: (any APIManaging)?) -> Bool {
        allowsLanding()
    }

    private func allowsLanding() -> Bool {
        let isVetoed = Int.random(in: 0..<10, using: &random) == 0
        if isVetoed { landingCount += 1 }
        return !isVetoed
    }
}
