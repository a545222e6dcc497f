import Foundation
import HTTPTypes
import RunwayTesting
import Testing

@testable import Runway

/// Calls, revocations, refreshes of every outcome, sign-ins, sign-outs, cancellations and moves of the clock, in every order that a
/// seed can think of.
@Suite(.timeLimit(.minutes(10)))
struct TokenModelTests {
    /// How many sequences are played; `RUNWAY_TOKENS` asks for more.
    static let count = ProcessInfo.processInfo.environment["RUNWAY_TOKENS"].flatMap { Int($0) } ?? 1000
    /// How many storms are played; `RUNWAY_TOKEN_STORMS` asks for more.
    static let stormCount = ProcessInfo.processInfo.environment["RUNWAY_TOKEN_STORMS"].flatMap { Int($0) } ?? 15

    @Test func callsEndAsInTheModel() async throws {
        for seed in Seeds.some(Self.count) {
            var play = TokenPlay(seed: seed)
            try await play.run()
            if !play.problems.isEmpty { try #require(Bool(false), "seed \(seed): \(play.problems)") }
        }
    }

    @Test func oneRefreshAtATimeServesAllTasks() async throws {
        for seed in 1...UInt64(Self.stormCount) {
            let house = ClubHouse()
            try await house.signIn()
            let kinds = await withTaskGroup(of: NetworkError.Kind?.self) { group in
                for index in 0..<100 {
                    group.addTask { await Self.call(house, seed << 8 | UInt64(index), page: index) }
                }
                return await group.reduce(into: [NetworkError.Kind?]()) { $0.append($1) }
            }
            let records = try await house.records.records(count: 100 + house.origin.refreshCount)
            var problems: [String] = []
            // A token that is taken out of use twice during one call ends it; nothing else may go wrong.
            if !kinds.allSatisfy({ $0 == nil || $0 == .cancelled || $0 == .needsAccessToken }) {
                problems.append("\(kinds.compactMap { $0 })")
            }
            if house.origin.mostRefreshing > 1 { problems.append("two refreshes at a time") }
            if records.contains(where: { $0.attempts.count > 2 }) { problems.append("a call was sent three times") }
            if house.waitingCount > 0 || !house.network.tokens.renewals.isEmpty { problems.append("left over") }
            if !problems.isEmpty { try #require(Bool(false), "seed \(seed): \(problems)") }
        }
    }

    private static func call(_ house: ClubHouse, _ seed: UInt64, page: Int) async -> NetworkError.Kind? {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<Int.random(in: 0...20, using: &random) { await Task.yield() }
        if Int.random(in: 0..<20, using: &random) == 0 { house.origin.revoke() }
        let call = Task { try await house.network.call(Members(page: page)) }
        if Int.random(in: 0..<6, using: &random) == 0 { call.cancel() }
        do {
            _ = try await call.value
            return nil
        } catch {
            return (error as? NetworkError)?.kind ?? .storage
        }
    }
}

/// One sequence, played on a layer and on a model of it.
private struct TokenPlay {
    /// What the layer should know of the account's token.
    enum Token: Equatable { case absent, good, revoked, knownAsBad }

    private var random: SeededGenerator
    private let origin: ParkedRefreshes
    private let network: NetworkLayer
    private let clock = ManualClock()
    private let store = MemoryTokenStore()
    private var token = Token.absent
    private var isSignedIn = false
    private var isRefreshing = false
    private var refreshCount = 0
    private var tokenCount = 0
    /// Whether the origin has accepted the token, how many tokens of renewals it refused before that, and when the last was renewed.
    private var isAccepted = false
    private var vainCount = 0
    private var lastRenewal: Duration?
    /// The instant from which the token ends soon.
    private var nearEnd = Duration.zero
    private var refreshDeadline = Duration.zero
    private var now = Duration.zero
    /// The calls that wait for a renewal, and whether the origin refused them before that.
    private var waiting: [(page: Int, call: Task<RawData, any Error>, wasRefused: Bool)] = []
    /// How many renewals the endpoint caused, one after the other, that helped none of its calls, and when it caused the last one.
    private var endpointCount = 0
    private var endpointRenewal = Duration.zero
    private var page = 0
    private(set) var problems: [String] = []

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        origin = ParkedRefreshes()
        network = NetworkLayer(
            transport: origin, pipeline: .tested, clock: LayerClock(clock),
            limits: LayerLimits(admission: .none, retrying: .none),
            tokens: store)
        network.configure(Club.self) { $0.deadline = .seconds(1_000_000) }
    }

    mutating func run() async throws {
        for _ in 0..<Int.random(in: 10...30, using: &random) {
            switch Int.random(in: 0..<16, using: &random) {
            case 0...5: await call()
            case 6, 7: revoke()
            case 8, 9, 10: await respondToRefresh()
            case 11: try await signIn()
            case 12: try await signOut()
            case 13: await cancelOne()
            case 14: await advance()
            default: await cancelLogin()
            }
            if !problems.isEmpty { return }
        }
        if isRefreshing { await respondToRefresh() }
        if origin.refreshCount != refreshCount {
            problems.append("\(origin.refreshCount) refreshes, not \(refreshCount)")
        }
        let key = TokenKey(network: "default", service: "club", environment: "release", account: "ann")
        let (store, isStored) = (store, token != .absent)
        // What a refused refresh removes, nobody waits for.
        await settle("the store does not come to hold what the model does, \(token)") {
            (store.load(key) != nil) == isStored
        }
    }

    private mutating func call() async {
        page += 1
        let number = page
        let call = Task { [network] in try await network.call(Members(page: number)) }
        if !isSignedIn || token == .absent { return await end(number, call, as: .needsLogin) }
        if token == .good, now < nearEnd {
            isAccepted = true
            return await end(number, call, as: nil)
        }
        let isRefused = token == .revoked && now < nearEnd
        if isRefused {
            // The call itself is refused, and marks the token.
            if isAccepted {
                if endpointCount > 0, now < endpointRenewal + .seconds(min(60, 1 << (endpointCount - 1))) {
                    return await end(number, call, as: .needsAccessToken)
                }
                (endpointCount, endpointRenewal) = (endpointCount + 1, now)
            }
            vainCount = isAccepted || lastRenewal == nil ? 0 : vainCount + 1
        }
        token = .knownAsBad
        if !isRefreshing, !isAccepted, vainCount > 0, let lastRenewal,
            now < lastRenewal + .seconds(min(60, 1 << (vainCount - 1)))
        {
            return await end(number, call, as: .needsAccessToken)
        }
        waiting.append((number, call, isRefused))
        if !isRefreshing {
            isRefreshing = true
            refreshCount += 1
            refreshDeadline = now + .seconds(30)
        }
        let (waitingCount, refreshes) = (waiting.count, refreshCount)
        await settle("call \(number) does not wait") { [network, origin] in
            network.waitingForTokenCount == waitingCount && origin.refreshCount == refreshes && origin.isParked
        }
    }

    private mutating func revoke() {
        // While the origin is issuing a new token there is none to invalidate.
        guard token == .good else { return }
        origin.accept("none")
        token = .revoked
    }

    private mutating func signIn() async throws {
        tokenCount += 1
        let value = "s\(tokenCount)"
        origin.accept(value)
        let expiry = network.clock.date.addingTimeInterval(100)
        try await network.signIn(
            AccessToken(value, account: "ann", expiry: expiry, refreshToken: "r"), to: Club.self)
        (isSignedIn, token, nearEnd) = (true, .good, now + .seconds(70))
        (isAccepted, vainCount, lastRenewal, endpointCount) = (!waiting.isEmpty, 0, nil, 0)
        await endRefresh(as: nil)
    }

    private mutating func signOut() async throws {
        try await network.signOut(of: Club.self)
        if isSignedIn { (token, endpointCount) = (.absent, 0) }
        isSignedIn = false
        await endRefresh(as: .cancelled)
    }

    private mutating func cancelLogin() async {
        if network.cancelLogin(of: Club.self) != isRefreshing { problems.append("a login was cancelled that was none") }
        await endRefresh(as: .loginCancelled)
    }

    private mutating func respondToRefresh() async {
        guard isRefreshing else { return }
        switch Int.random(in: 0..<5, using: &random) {
        case 0, 1:
            tokenCount += 1
            let value = "s\(tokenCount)"
            origin.accept(value)
            (token, nearEnd) = (.good, now + .seconds(70))
            (isAccepted, lastRenewal) = (!waiting.isEmpty, now)
            if waiting.contains(where: \.wasRefused) { endpointCount = 0 }
            origin.respond(.json(#"{"access_token":"\#(value)","expires_in":100}"#))
            await endRefresh(as: nil)
        case 2:
            (token, endpointCount) = (.absent, 0)
            origin.respond(.json("{}", status: .badRequest))
            await endRefresh(as: .needsLogin)
        case 3:
            origin.respond(.json("garbage"))
            await endRefresh(as: .needsLogin)
        default:
            origin.respond(.json("{}", status: .internalServerError))
            await endRefresh(as: .refused)
        }
    }

    private mutating func cancelOne() async {
        guard let index = waiting.indices.randomElement(using: &random) else { return }
        let (number, call, _) = waiting.remove(at: index)
        call.cancel()
        await end(number, call, as: .cancelled)
    }

    private mutating func advance() async {
        let step = Duration.seconds(Int.random(in: 1...50, using: &random))
        now += step
        clock.advance(by: step)
        if isRefreshing, now >= refreshDeadline { await endRefresh(as: .timedOut) }
    }

    private mutating func endRefresh(as kind: NetworkError.Kind?) async {
        guard isRefreshing else { return }
        isRefreshing = false
        for (number, call, _) in waiting { await end(number, call, as: kind) }
        waiting = []
        await settle("the refresh does not end") { [network, origin] in
            network.tokens.renewals.isEmpty && !origin.isParked
        }
    }

    private mutating func end(_ number: Int, _ call: Task<RawData, any Error>, as kind: NetworkError.Kind?) async {
        let found: NetworkError.Kind? =
            switch await call.result {
            case .success: nil
            case .failure(let error): (error as? NetworkError)?.kind ?? .storage
            }
        if found != kind { problems.append("call \(number) ended as \(found as Any), not as \(kind as Any)") }
    }

    private mutating func settle(_ problem: String, until condition: @Sendable () -> Bool) async {
        do { try await waitUntil { condition() } } catch { problems.append("\(problem): \(error)") }
    }
}
