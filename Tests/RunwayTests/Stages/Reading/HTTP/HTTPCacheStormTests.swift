import Foundation
import HTTPTypes
import RunwayJSON
import RunwayTesting
import Testing

@testable import Runway

/// Reads and changes that several callers make at once, while the user signs in and out, clears and lets time pass. The seed says what
/// everybody does, the machine in which order.
@Suite(.timeLimit(.minutes(10)))
struct HTTPCacheStormTests {
    /// How many storms are played; `RUNWAY_CACHE_SEQUENCES` asks for more.
    static let count = ProcessInfo.processInfo.environment["RUNWAY_CACHE_SEQUENCES"].flatMap { Int($0) } ?? 1000

    @Test func callsNeverReturnOldForeignOrClearedResponses() async throws {
        var freshCallCount = 0
        for seed in Seeds.some(Self.count) {
            let check = StormCheck(try await HTTPCacheStorm(seed: seed).run())
            try #require(check.problems.isEmpty, "seed \(seed): \(check.problems)")
            freshCallCount += check.freshCallCount
        }
        #expect(freshCallCount > 0 || Self.count < 100, "no call found a fresh response")
    }
}

private struct HTTPCacheStorm {
    private struct Change: Endpoint {
        static let service = Library.self
        static let method = HTTPRequest.Method.put
        var path: EndpointPath { "shelf/\(shelf)" }
        @Unencoded var shelf = 1
    }

    private let seed: UInt64
    private let clock = ManualClock()
    private let origin: StormOrigin
    private let network: NetworkLayer

    init(seed: UInt64) {
        self.seed = seed
        origin = StormOrigin(seed: seed)
        // By the system's date, a response that a busy machine takes long to receive would be older than the check assumes.
        network = NetworkLayer(
            transport: origin, pipeline: .tested,
            clock: LayerClock(clock, wall: { Date(timeIntervalSince1970: 1_800_000_000) }),
            limits: LayerLimits(admission: .none, retrying: .none))
        // So long that no clock move reaches it.
        network.configure(Library.self) { $0.deadline = .seconds(86_400) }
    }

    func run() async throws -> StormLog {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for caller in 1...3 {
                group.addTask { await call(SeededGenerator(seed: seed << 8 | UInt64(caller))) }
            }
            group.addTask { try await live(SeededGenerator(seed: seed << 8)) }
            try await group.waitForAll()
        }
        try await waitUntil { network.cache.background.count == 0 }
        return origin.log
    }

    private func call(_ random: SeededGenerator) async {
        var random = random
        for _ in 0..<6 {
            for _ in 0..<Int.random(in: 0...8, using: &random) { await Task.yield() }
            let shelf = Int.random(in: 1...2, using: &random)
            switch Int.random(in: 1...12, using: &random) {
            case 1: await change(shelf)
            case 2: await read(shelf, .refresh, &random)
            case 3: await read(shelf, .onlyIfCached, &random)
            default: await read(shelf, .standard, &random)
            }
        }
    }

    private func read(_ shelf: Int, _ use: CacheUse, _ random: inout SeededGenerator) async {
        let language = Bool.random(using: &random) ? "de" : "fr"
        let call = origin.write { log in
            let span = StormLog.Span(begin: log.place())
            log.calls.append(
                StormLog.Call(shelf: shelf, language: language, use: use, span: span, beginning: network.clock.now))
            return log.calls.count - 1
        }
        var response: RawData?
        var failure: NetworkError.Kind?
        do {
            response = try await StormOrigin.$call.withValue(call) {
                try await network.call(
                    Shelf(number: shelf, fields: ["Accept-Language": language]),
                    options: CallOptions(cache: .http(), cacheUse: use))
            }
        } catch {
            failure = (error as? NetworkError)?.kind
        }
        origin.write { log in
            log.calls[call].number = response?["number"].int
            log.calls[call].failure = failure
            log.calls[call].isFromCache = response.map { $0.source != .network } ?? false
            log.calls[call].end = network.clock.now
            log.calls[call].span.end = log.place()
        }
    }

    private func change(_ shelf: Int) async {
        var version: Int?
        var isCancelled = false
        var span = await origin.span {
            do {
                version = try await network.call(Change(shelf: shelf))["version"].int
            } catch {
                isCancelled = (error as? NetworkError)?.kind == .cancelled
            }
        }
        // A call that a sign-out cancelled may still change something afterwards.
        if isCancelled { (version, span.end) = (0, .max) }
        guard let version else { return }
        origin.write { [span] in $0.changes.append(StormLog.Change(shelf: shelf, version: version, span: span)) }
    }

    /// What the user does meanwhile.
    private func live(_ random: SeededGenerator) async throws {
        var random = random
        for _ in 0..<6 {
            for _ in 0..<Int.random(in: 0...16, using: &random) { await Task.yield() }
            switch Int.random(in: 1...8, using: &random) {
            case 1...3: clock.advance(by: .seconds(Int.random(in: 1...8, using: &random)))
            case 4, 5:
                let name = Bool.random(using: &random) ? "ann" : "bob"
                let token = AccessToken("token of \(name)", account: name)
                let span = try await origin.span { try await network.signIn(token, to: Library.self) }
                begin(name, span)
            case 6, 7:
                guard let name = network.settings(of: Library.self).account else { continue }
                let span = try await origin.span { try await network.signOut(of: Library.self) }
                begin("nobody", span)
                origin.write { $0.removals.append(StormLog.Removal(owner: name, span: span)) }
            default:
                let name = Bool.random(using: &random) ? "ann" : nil
                let scope = name.map { CacheScope.account($0, service: nil) } ?? .everything
                let span = await origin.span { network.cache.clear(scope) }
                origin.write { $0.removals.append(StormLog.Removal(owner: name, span: span)) }
            }
        }
    }

    /// Somebody else is signed in from some place in a span on.
    private func begin(_ owner: String, _ span: StormLog.Span) {
        origin.write { log in
            log.sessions[log.sessions.count - 1].span.end = span.end
            log.sessions.append(StormLog.Session(owner: owner, span: StormLog.Span(begin: span.begin)))
        }
    }
}
