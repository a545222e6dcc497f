import Foundation
import RunwayJSON
import RunwayTesting
import Testing

@testable import Runway

/// Accounts that sign in and out while calls, caches, cookies, renewals and redirects are in flight. The seed says what everybody does,
/// the machine in which order.
@MainActor
@Suite(.timeLimit(.minutes(10)))
struct AccountStormTests {
    /// How many storms are played; `RUNWAY_ACCOUNT_STORMS` asks for more.
    static let count = ProcessInfo.processInfo.environment["RUNWAY_ACCOUNT_STORMS"].flatMap { Int($0) } ?? 200

    @Test func callsNeverUseAnotherSessionsData() async throws {
        var counts: [String: Int] = [:]
        for seed in Seeds.some(Self.count) {
            let log = try await AccountStorm(seed: seed).run()
            try #require(log.problems.isEmpty, "seed \(seed): \(log.problems)")
            counts.merge(log.counts) { $0 + $1 }
        }
        for event in ["response", "landing", "redirected", "renewed", "refused", "cookies"] where Self.count >= 100 {
            #expect(counts[event, default: 0] > 0, "no \(event) in any storm")
        }
    }
}

@MainActor
private struct AccountStorm {
    private let seed: UInt64
    private let origin: AccountStormOrigin
    private let store = MemoryTokenStore()
    private let network: NetworkLayer

    init(seed: UInt64) {
        self.seed = seed
        origin = AccountStormOrigin(seed: seed)
        network = NetworkLayer(
            transport: origin, clock: LayerClock(ManualClock()),
            limits: LayerLimits(admission: .none, retrying: .none), tokens: store)
        network.configure(Club.self) { settings in
            settings.cookies = .jar()
            settings.deadline = .seconds(1000)
        }
    }

    func run() async throws -> AccountLog {
        let recorder = LandingRecorder()
        recorder.check(by: origin)
        let manager = APIManager<Members>(on: network, delegate: recorder, overlap: .concurrent)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for caller in 1...3 {
                group.addTask { @concurrent in await call(SeededGenerator(seed: seed << 8 | UInt64(caller))) }
            }
            group.addTask { await load(on: manager, SeededGenerator(seed: seed << 8 | 9)) }
            group.addTask { @concurrent in try await live(SeededGenerator(seed: seed << 8)) }
            try await group.waitForAll()
        }
        try await waitUntil("the calls to end") {
            !manager.isLoading && network.tokens.renewals.isEmpty && network.cache.background.count == 0
        }
        try await checkWhatIsLeft()
        return origin.write { $0 }
    }

    nonisolated private func call(_ random: SeededGenerator) async {
        var random = random
        for _ in 0..<8 {
            for _ in 0..<Int.random(in: 0...6, using: &random) { await Task.yield() }
            let policies: [CachePolicy] = [.off, .http(), .timeToLive()]
            let options = CallOptions(cache: policies.randomElement(using: &random))
            let page = Int.random(in: 1...2, using: &random)
            let begin = origin.write { $0.next() }
            let response = try? await network.call(Members(page: page), options: options)
            guard let session = response?["session"].int else { continue }
            origin.write { log in log.check(session, from: begin, to: log.next(), "response") }
        }
    }

    private func load(on manager: APIManager<Members>, _ random: SeededGenerator) async {
        var random = random
        for _ in 0..<8 {
            for _ in 0..<Int.random(in: 0...6, using: &random) { await Task.yield() }
            manager.load(Members(page: Int.random(in: 1...2, using: &random)))
        }
    }

    /// What the users do meanwhile.
    nonisolated private func live(_ random: SeededGenerator) async throws {
        var random = random
        for _ in 0..<8 {
            for _ in 0..<Int.random(in: 0...12, using: &random) { await Task.yield() }
            switch Int.random(in: 1...6, using: &random) {
            case 1: origin.revoke()
            case 2...4: try await signIn(Bool.random(using: &random) ? "ann" : "bob")
            default: try await signOut(isCancelling: Bool.random(using: &random))
            }
        }
    }

    nonisolated private func signIn(_ account: String) async throws {
        let session = origin.write { log in
            if log.sessions[account] == nil {
                log.sessionCount += 1
                log.sessions[account] = log.sessionCount
            }
            let session = log.sessions[account] ?? 0
            log.stretches.append(AccountLog.Stretch(session: session, begin: log.next()))
            return session
        }
        try await network.signIn(origin.token(session, of: account), to: Club.self)
        await endStretch(before: 1)
    }

    nonisolated private func signOut(isCancelling: Bool) async throws {
        guard let account = network.settings(of: Club.self).account else { return }
        try await network.signOut(of: Club.self, cancelling: isCancelling)
        origin.write { $0.sessions[account] = nil }
        await endStretch(before: 0)
    }

    /// Ends the stretch that is this many before the last one.
    nonisolated private func endStretch(before count: Int) async {
        // A landing that began before the end is written before it.
        await MainActor.run {}
        origin.write { log in
            let index = log.stretches.count - 1 - count
            if index >= 0, log.stretches[index].end == .max { log.stretches[index].end = log.next() }
        }
    }

    /// Cookies and stored tokens are of sessions that are not over.
    private func checkWhatIsLeft() async throws {
        let sessions = origin.write { $0.sessions }
        if let account = network.settings(of: Club.self).account {
            for cookie in network.cookies(of: Club.self) where cookie.value != sessions[account].map({ "\($0)" }) {
                origin.write { $0.problems.append("\(account) has the cookie of session \(cookie.value)") }
            }
        }
        for account in ["ann", "bob"] {
            let place = TokenPlace(network: "default", service: "club", environment: "release", account: account)
            let isSignedOut = sessions[account] == nil
            try await waitUntil("the store to follow") { [store] in
                let session = store.load(place).flatMap { Int($0.value.prefix { $0.isNumber }) }
                return isSignedOut ? session == nil : session == nil || session == sessions[account]
            }
        }
    }
}

extension LandingRecorder {
    /// Has every landing checked against the log.
    fileprivate func check(by origin: AccountStormOrigin) {
        onLanding = { landing, _ in
            guard let session = (try? landing.result.get())?["session"].int else { return }
            origin.write { log in
                let place = log.next()
                log.check(session, from: place, to: place, "landing")
            }
        }
    }
}
