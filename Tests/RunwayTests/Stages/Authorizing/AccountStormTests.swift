import Foundation
import HTTPTypes
import RunwayJSON
import RunwayTesting
import Synchronization
import Testing

@testable import Runway

/// Accounts that sign in and out, several at a time, while calls, caches, cookies, renewals, redirects, merged and hedged requests are in
/// flight and time passes. The seed says what everybody does, the machine in which order.
@MainActor
@Suite(.timeLimit(.minutes(10)))
struct AccountStormTests {
    /// How many storms are played; `RUNWAY_ACCOUNT_STORMS` asks for more.
    static let count = ProcessInfo.processInfo.environment["RUNWAY_ACCOUNT_STORMS"].flatMap { Int($0) } ?? 200
    /// What must have happened in some of a hundred storms.
    private static let events = [
        "response", "stored response", "landing", "redirected", "renewed", "refused", "cookie", "token", "merged",
        "hedged", "signed out",
    ]

    @Test func callsNeverUseAnotherSessionsData() async throws {
        var counts: [String: Int] = [:]
        for seed in Seeds.some(Self.count) {
            let log = try await AccountStorm(seed: seed).run()
            try #require(log.problems.isEmpty, "seed \(seed): \(log.problems)")
            counts.merge(log.counts) { $0 + $1 }
        }
        for event in Self.events where Self.count >= 100 {
            #expect(counts[event, default: 0] > 0, "no \(event) in any storm: \(counts)")
        }
    }
}

/// A read that is sent twice if it is slow, and never merged.
private struct HedgedMembers: Endpoint {
    static let service = Club.self
    static let hedging = HedgingPolicy.after(.milliseconds(10))
    static let isMergeable = false
    var path: EndpointPath { "members/\(page)" }
    @Unencoded var page = 1
}

/// Notes the session of every call that passes.
private struct Witness: RequestStage {
    let origin: AccountStormOrigin
    var step: FlightStep { .customStage("witness") }
    var endsInTime: Bool { true }

    func respondImmediately(_ draft: inout RequestDraft, in flight: Flight) throws(NetworkError) -> ImmediateResponse {
        note(flight)
        return .pass
    }

    func respond(
        to request: Request, in flight: Flight, next: RequestPipeline.Rest
    ) async throws(NetworkError) -> Response {
        note(flight)
        return try await next.send(request, in: flight)
    }

    private func note(_ flight: Flight) {
        let session = origin.write { $0.number(of: flight.session) }
        StormCall.current?.note(session)
    }
}

@MainActor
private struct AccountStorm {
    nonisolated private static let accounts = ["ann", "bob", "cat"]
    nonisolated private static let policies: [CachePolicy] = [
        .off, .http(), .timeToLive(.seconds(60), staleWhileRevalidate: .seconds(300), staleIfError: .seconds(300)),
    ]

    private let seed: UInt64
    private let clock = ManualClock()
    private let origin: AccountStormOrigin
    private let store = MemoryTokenStore()
    private let network: NetworkLayer

    init(seed: UInt64) {
        self.seed = seed
        let layerClock = LayerClock(clock)
        origin = AccountStormOrigin(seed: seed, clock: clock, startingAt: layerClock.date)
        var pipeline = RequestPipeline.tested
        // Above the cache it sees every call, below it memory is asked before requests are made.
        pipeline.insert(Witness(origin: origin), before: seed.isMultiple(of: 2) ? .reading : .admission)
        var limits = LayerLimits(
            admission: .none, retrying: .none, hedging: AttemptLimits(callsPerAttempt: 1, reserve: 5))
        // Time passes faster here than a store writes.
        limits.tokenStoreDeadline = .seconds(86_400)
        network = NetworkLayer(
            transport: origin, pipeline: pipeline, clock: layerClock, limits: limits, tokens: store)
        network.configure(Club.self) { settings in
            settings.cookies = .jar()
            settings.deadline = .seconds(1000)
            settings.merging = MergePolicy(wait: .milliseconds(20))
        }
    }

    func run() async throws -> AccountLog {
        let recorder = LandingRecorder()
        let manager = APIManager<Members>(on: network, delegate: recorder, overlap: .concurrent)
        let calls = LoadedCalls()
        recorder.check(calls, by: origin)
        let time = Task { @concurrent in await passTime(SeededGenerator(seed: seed << 8 | 10)) }
        defer { time.cancel() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for caller in 1...3 {
                group.addTask { @concurrent in await call(SeededGenerator(seed: seed << 8 | UInt64(caller))) }
            }
            group.addTask { await load(on: manager, calls, SeededGenerator(seed: seed << 8 | 9)) }
            for user in 4...6 {
                group.addTask { @concurrent in try await live(SeededGenerator(seed: seed << 8 | UInt64(user))) }
            }
            try await group.waitForAll()
        }
        try await waitUntil("the calls to end") {
            !manager.isLoading && network.tokens.renewals.isEmpty && network.cache.background.count == 0
                && network.merger.laneCount == 0
        }
        try await checkWhatIsLeft()
        return origin.write { $0 }
    }

    /// Lets time pass while calls, sign-ins and sign-outs are under way.
    nonisolated private func passTime(_ random: SeededGenerator) async {
        var random = random
        while !Task.isCancelled {
            let isLong = Int.random(in: 1...40, using: &random) == 1
            clock.advance(by: .milliseconds(isLong ? Int.random(in: 1000...50_000, using: &random) : 5))
            for _ in 0..<Int.random(in: 1...6, using: &random) { await Task.yield() }
        }
    }

    nonisolated private func call(_ random: SeededGenerator) async {
        var random = random
        for _ in 0..<8 {
            for _ in 0..<Int.random(in: 0...6, using: &random) { await Task.yield() }
            let options = CallOptions(cache: Self.policies.randomElement(using: &random))
            let page = Int.random(in: 1...2, using: &random)
            let kind = Int.random(in: 1...6, using: &random)
            let call = StormCall(begin: origin.write { $0.next() })
            let response = await StormCall.$current.withValue(call) {
                switch kind {
                case 1: try? await network.call(OpeningHours(), options: options)
                case 2, 3: try? await network.call(HedgedMembers(page: page), options: options)
                default: try? await network.call(Members(page: page), options: options)
                }
            }
            guard let response, let session = response["session"].int else { continue }
            let what = response.source == .network ? "response" : "stored response"
            origin.write { $0.checkGiven(session, to: call.session, since: call.begin, what) }
        }
    }

    private func load(on manager: APIManager<Members>, _ calls: LoadedCalls, _ random: SeededGenerator) async {
        var random = random
        for _ in 0..<8 {
            for _ in 0..<Int.random(in: 0...6, using: &random) { await Task.yield() }
            let call = StormCall(begin: origin.write { $0.next() })
            let options = CallOptions(cache: Self.policies.randomElement(using: &random))
            // A call with a cached response lands before it returns, and is identified by its turn.
            calls.loading = call
            let flight = StormCall.$current.withValue(call) {
                manager.load(Members(page: Int.random(in: 1...2, using: &random)), options: options)
            }
            calls.loading = nil
            calls.flights[flight] = call
        }
    }

    /// What one user does meanwhile.
    nonisolated private func live(_ random: SeededGenerator) async throws {
        var random = random
        for _ in 0..<5 {
            for _ in 0..<Int.random(in: 0...12, using: &random) { await Task.yield() }
            switch Int.random(in: 1...7, using: &random) {
            case 1: origin.revoke()
            case 2...5: try await signIn(Self.accounts.randomElement(using: &random) ?? "")
            default: try await signOut(isCancelling: Bool.random(using: &random))
            }
        }
    }

    nonisolated private func signIn(_ account: String) async throws {
        let session = network.services.session(of: account, at: Club.self)
        let (change, login, number) = origin.write { log in
            let (login, number) = (log.nextLogin(), log.number(of: session))
            return (log.begin(signingIn: account), login, number)
        }
        let token = origin.token(login, of: account)
        try await network.signIn(token, to: Club.self)
        // A sign-out at the same time may have ended the session before, and the token is of the next one. Which it is of is not known
        // before this.
        if !session.isOver { origin.write { $0.logins[login] = number } }
        await end(change)
    }

    nonisolated private func signOut(isCancelling: Bool) async throws {
        let change = origin.write { $0.begin(signingIn: nil) }
        try await network.signOut(of: Club.self, cancelling: isCancelling)
        origin.write { $0.count("signed out") }
        await end(change)
    }

    nonisolated private func end(_ change: Int) async {
        // A landing that began before the end is written before it.
        await MainActor.run {}
        origin.write { $0.end(change) }
    }
}

extension AccountStorm {
    /// Checks that cookies, tokens and stored responses are each account's own, and of sessions that are not over.
    private func checkWhatIsLeft() async throws {
        for account in Self.accounts + [nil] {
            let jar = network.cookieJars.withJar(of: CookieJars.Owner(service: Club.self, account: account)) {
                $0.cookies(at: network.clock.date)
            }
            for session in jar.compactMap({ Int($0.value) }) { checkLeft(session, of: account, "a cookie") }
            let partition = CachePartition(service: Club.self, environment: .release, account: account)
            for path in ["/members/1", "/members/2", "/members/9", "/hours"] where account != nil {
                let head = HTTPRequest(method: .get, scheme: "https", authority: "club.test", path: path)
                for stored in network.cache.responses(of: HTTPCacheURI(head), for: partition).responses {
                    checkLeft(stored.content.session, of: account, "a response by HTTP")
                }
            }
        }
        for stored in respondsByTime where stored.key.account != nil {
            checkLeft(stored.rawData["session"].int, of: stored.key.account, "a response by time")
        }
        for account in Self.accounts { try await checkToken(of: account) }
    }

    nonisolated private var respondsByTime: [TimeToLiveResponse] {
        network.cache.state.withLock { state in state.entries.keys.compactMap { state.entries.peek($0) } }
    }

    private func checkLeft(_ session: Int?, of account: String?, _ what: String) {
        guard let session else { return }
        origin.write { log in
            log.count(what)
            log.checkLeft(session, of: account, what)
        }
    }

    private func checkToken(of account: String) async throws {
        let identity = TokenIdentity(service: Club.self, environment: .release, account: account)
        let key = TokenKey(network: "default", service: "club", environment: "release", account: account)
        var held: AccessToken?
        if case .held(let token) = network.tokens.knowledge(of: identity).knowledge { held = token.token }
        try await waitUntil("the store to follow") { [store, held] in store.load(key)?.value == held?.value }
        guard let held else { return }
        let login = Int(held.value.drop { $0 != "-" }.dropFirst().prefix { $0.isNumber }) ?? 0
        checkLeft(origin.write { $0.logins[login] }, of: account, "a token")
    }
}

extension HTTPStoredResponse.Content {
    /// The session that the body names.
    fileprivate var session: Int? { if case .whole(let rawData) = self { rawData["session"].int } else { nil } }
}

/// The calls of a manager, by their flights.
@MainActor
private final class LoadedCalls {
    var flights: [FlightID: StormCall] = [:]
    var loading: StormCall?
}

extension LandingRecorder {
    /// Has every landing checked against the log.
    fileprivate func check(_ calls: LoadedCalls, by origin: AccountStormOrigin) {
        onLanding = { landing, _ in
            guard let session = (try? landing.result.get())?["session"].int,
                let call = calls.loading ?? landing.flight.flatMap({ calls.flights[$0] })
            else { return }
            origin.write { log in
                let place = log.next()
                log.checkGiven(session, to: call.session, since: call.begin, "landing")
                log.checkCurrent(call.session ?? session, from: place, to: place, "landing")
            }
        }
    }
}
