import Foundation
import HTTPTypes
import RunwayTesting
import Synchronization
import Testing

@testable import Runway

/// Who is signed in after the app was started again: a new layer over the same store.
@Suite(.timeLimit(.minutes(5)))
struct RestoredAccountTests {
    private let root = NSTemporaryDirectory() + "runway-accounts-\(UUID().uuidString)"
    private let origin = ClubOrigin()
    private var store: FileTokenStore { FileTokenStore(folder: URL(fileURLWithPath: root)) }
    private let key = AccountKey(network: "default", service: "club", environment: "release")

    /// The layer of the next launch.
    private func launch(_ name: String = "default", store: (any TokenStore)? = nil) -> NetworkLayer {
        var limits = LayerLimits(admission: .none, retrying: .none)
        limits.tokenStoreDeadline = .seconds(300)
        return NetworkLayer(
            name: name, transport: origin, pipeline: .tested, limits: limits, tokens: store ?? self.store)
    }

    private func signIn(
        _ account: String = "ann", _ token: String = "t1", to network: NetworkLayer
    ) async throws {
        try await network.signIn(AccessToken(token, account: account, refreshToken: "r1"), to: Club.self)
    }

    private func account(of network: NetworkLayer) -> String? { network.settings(of: Club.self).account }

    private func failure<E: Endpoint>(of endpoint: E, on network: NetworkLayer) async throws -> NetworkError {
        try #require(await #expect(throws: NetworkError.self) { try await network.call(endpoint) })
    }

    private var tokens: [String?] { origin.requests.map { $0.head.headerFields[.authorization] } }

    @Test func firstCallAfterALaunchIsSignedIn() async throws {
        defer { try? FileManager.default.removeItem(atPath: root) }
        try await signIn(to: launch())
        let network = launch()
        _ = try await network.call(Members())
        #expect(tokens == ["Bearer t1"] && account(of: network) == "ann")
    }

    @MainActor @Test func managersFirstCallIsSignedIn() async throws {
        defer { try? FileManager.default.removeItem(atPath: root) }
        try await signIn(to: launch())
        let network = launch()
        let manager = APIManager<Members>(on: network)
        try await manager.landing(of: Members())
        #expect(tokens == ["Bearer t1"])
    }

    @Test func renewedTokenIsTheRestoredOne() async throws {
        defer { try? FileManager.default.removeItem(atPath: root) }
        let first = launch()
        try await signIn(to: first)
        origin.revoke()
        _ = try await first.call(Members())
        _ = try await launch().call(Members())
        #expect(tokens == ["Bearer t1", nil, "Bearer t2", "Bearer t2"])
    }

    @Test func nobodyIsRestoredAfterASignOut() async throws {
        defer { try? FileManager.default.removeItem(atPath: root) }
        let first = launch()
        try await signIn(to: first)
        try await first.signOut(of: Club.self)
        let network = launch()
        #expect(account(of: network) == nil)
        #expect(try await failure(of: Members(), on: network).kind == .needsLogin)
        #expect(origin.requests.isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: root).isEmpty)
    }

    @Test func restoredAccountSignsOutForGood() async throws {
        defer { try? FileManager.default.removeItem(atPath: root) }
        try await signIn(to: launch())
        let second = launch()
        try await second.signOut(of: Club.self)
        #expect(account(of: second) == nil && account(of: launch()) == nil)
        #expect(
            try store.load(TokenKey(network: "default", service: "club", environment: "release", account: "ann")) == nil
        )
    }

    @Test func lastOfSeveralAccountsIsRestored() async throws {
        defer { try? FileManager.default.removeItem(atPath: root) }
        let first = launch()
        try await signIn("ann", "t1", to: first)
        try await signIn("bob", "t2", to: first)
        #expect(account(of: launch()) == "bob")
        try await signIn("ann", "t1", to: launch())
        #expect(account(of: launch()) == "ann")
    }

    @Test(arguments: ["bob", "ann", nil])
    func accountThatTheAppSetsCounts(_ own: String?) async throws {
        defer { try? FileManager.default.removeItem(atPath: root) }
        try await signIn(to: launch())
        let network = launch()
        network.configure(Club.self) { $0.account = own }
        network.configure(Club.self) { $0.environment = .development }
        #expect(account(of: network) == own)
        #expect(account(of: launch()) == "ann", "What an app sets is of its launch")
    }

    @Test func changesOfOtherSettingsKeepTheAccount() async throws {
        defer { try? FileManager.default.removeItem(atPath: root) }
        try await signIn(to: launch())
        let network = launch()
        network.configure(Club.self) { $0.deadline = .seconds(5) }
        #expect(account(of: network) == "ann")
    }

    @Test func eachEnvironmentHasItsAccount() async throws {
        defer { try? FileManager.default.removeItem(atPath: root) }
        let first = launch()
        try await signIn("ann", to: first)
        first.configure(Club.self) { $0.environment = .development }
        try await signIn("dev", to: first)
        let second = launch()
        second.configure(Club.self) { $0.environment = .development }
        #expect(account(of: second) == "dev")
        second.configure(Club.self) { $0.environment = .releaseCandidate }
        #expect(account(of: second) == nil)
        second.configure(Club.self) { $0.environment = .release }
        #expect(account(of: second) == "ann")
    }

    @Test func otherLayersAndServicesAreNotSignedIn() async throws {
        defer { try? FileManager.default.removeItem(atPath: root) }
        try await signIn(to: launch())
        #expect(account(of: launch("other")) == nil)
        #expect(launch().settings(of: Library.self).account == nil)
    }

    @Test func cachedResponsesOfTheAccountAreFound() async throws {
        defer { try? FileManager.default.removeItem(atPath: root) }
        let tier = MapTier()
        func layer() -> NetworkLayer {
            NetworkLayer(transport: origin, pipeline: .tested, diskCache: tier, tokens: store)
        }
        let options = CallOptions(cache: .timeToLive(.seconds(600), onDisk: true))
        let first = layer()
        try await signIn(to: first)
        _ = try await first.call(Members(), options: options)
        await first.cache.flush()
        #expect(try await layer().call(Members(), options: options).source == .cache)
        #expect(origin.callCount == 1)
    }

    @Test func accountOfARefusedTokenLogsIn() async throws {
        defer { try? FileManager.default.removeItem(atPath: root) }
        let first = launch()
        try await signIn(to: first)
        origin.revoke()
        origin.respondToRefreshes(.response(.json("{}", status: .badRequest)))
        #expect(try await failure(of: Members(), on: first).kind == .needsLogin)
        await first.cache.flush()
        let network = launch()
        let error = try await failure(of: Members(), on: network)
        #expect(error.kind == .needsLogin && account(of: network) == "ann")
    }

    @Test(arguments: ["damaged", "of another key", "readable"])
    func unreadableAccountAsksNobodyToLogIn(_ damage: String) async throws {
        defer { try? FileManager.default.removeItem(atPath: root) }
        try await signIn(to: launch())
        let path = store.path(of: key)
        switch damage {
        case "damaged": try Data("runway-account-1 0\n{}".utf8).write(to: URL(fileURLWithPath: path))
        case "readable":
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        default:
            let other = AccountKey(network: "default", service: "shop", environment: "release")
            try await store.setSignedInAccount("eve", at: other)
            try FileManager.default.removeItem(atPath: path)
            try FileManager.default.moveItem(atPath: store.path(of: other), toPath: path)
        }
        let network = launch()
        for _ in 1...2 {
            let error = try await failure(of: Members(), on: network)
            #expect(error.kind == .storage && error.detail.contains("It can't be read who is signed in to club"))
        }
        // Neither is a call without a token a reason to fail, nor is one made as nobody that may be somebody's.
        _ = try await network.call(OpeningHours())
        #expect(try await failure(of: OptionalHours(), on: network).kind == .storage)
        #expect(tokens == [nil])
        // A login replaces what can't be read.
        try await signIn("bob", "t1", to: network)
        _ = try await network.call(Members())
        #expect(account(of: launch()) == "bob")
    }

    /// As a keychain before the device was unlocked.
    @Test func accountIsRestoredWhenItCanBeRead() async throws {
        let keychain = LockedStore("ann", token: "t1")
        let network = launch(store: keychain)
        #expect(try await failure(of: Members(), on: network).kind == .storage)
        network.configure(Club.self) { $0.deadline = .seconds(100) }
        #expect(try await failure(of: Members(), on: network).kind == .storage)
        keychain.unlock()
        _ = try await network.call(Members())
        #expect(tokens == ["Bearer t1"] && account(of: network) == "ann")
        #expect(network.settings(of: Club.self).deadline == .seconds(100))
        let count = keychain.readCount
        _ = try await network.call(Members())
        #expect(keychain.readCount == count, "It is read once")
    }

    @Test func signOutReachesAnUnreadableAccount() async throws {
        let keychain = LockedStore("ann", token: "t1")
        let network = launch(store: keychain)
        #expect(account(of: network) == nil)
        try await network.signOut(of: Club.self)
        keychain.unlock()
        #expect(try await failure(of: Members(), on: network).kind == .needsLogin)
        #expect(account(of: network) == nil && keychain.changes == ["account nil"])
    }

    @Test func tokenIsStoredBeforeItsAccount() async throws {
        let log = LockedStore(nil, token: nil)
        log.unlock()
        let network = launch(store: log)
        try await signIn(to: network)
        try await network.signOut(of: Club.self)
        #expect(log.changes == ["save ann", "account ann", "account nil", "remove ann"])
    }

    @Test func signInFailsIfItsAccountStaysUnstored() async throws {
        let log = LockedStore(nil, token: nil)
        log.unlock()
        log.failToStore()
        let network = launch(store: log)
        let error = await #expect(throws: NetworkError.self) { try await signIn(to: network) }
        #expect(error?.kind == .storage)
        _ = try await network.call(Members())
        #expect(tokens == ["Bearer t1"], "It is in use until the app ends")
    }

    @Test func ownStoreNeedNotKnowAccounts() async throws {
        let store = PlainStore()
        try await signIn(to: launch(store: store))
        let network = launch(store: store)
        #expect(account(of: network) == nil)
        network.configure(Club.self) { $0.account = "ann" }
        _ = try await network.call(Members())
        #expect(tokens == ["Bearer t1"])
    }

    /// Whatever overlaps, the store has who is signed in at the end.
    @Test func storedAccountIsTheOneInUse() async throws {
        defer { try? FileManager.default.removeItem(atPath: root) }
        for seed in Seeds.some(20) {
            var random = SeededGenerator(seed: seed)
            let network = launch()
            await withTaskGroup(of: Void.self) { group in
                for _ in 1...8 {
                    let account = ["ann", "bob", nil].randomElement(using: &random) ?? nil
                    group.addTask {
                        if let account {
                            try? await signIn(account, "t1", to: network)
                        } else {
                            try? await network.signOut(of: Club.self)
                        }
                    }
                }
            }
            try #require(account(of: launch()) == account(of: network), "seed \(seed)")
        }
    }
}

private struct OptionalHours: Endpoint {
    static let service = Club.self
    static let authorization = AuthorizationPolicy.ifSignedIn
    var path: EndpointPath { "hours" }
}

/// A store that can't be read before it is unlocked, and logs its changes.
private final class LockedStore: TokenStore {
    private struct State {
        var isLocked = true
        var fails = false
        var account: String?
        var token: AccessToken?
        var changes: [String] = []
        var readCount = 0
    }

    /// Guards what is stored.
    private let state: Mutex<State>

    init(_ account: String?, token: String?) {
        var state = State()
        state.account = account
        state.token = account.flatMap { account in token.map { AccessToken($0, account: account) } }
        self.state = Mutex(state)
    }

    var changes: [String] { state.withLock { $0.changes } }
    var readCount: Int { state.withLock { $0.readCount } }
    func unlock() { state.withLock { $0.isLocked = false } }
    func failToStore() { state.withLock { $0.fails = true } }

    func load(_ key: TokenKey) throws -> AccessToken? { state.withLock { $0.token } }

    func save(_ token: AccessToken, at key: TokenKey) { state.withLock { $0.changes.append("save \(key.account)") } }

    func remove(_ key: TokenKey) { state.withLock { $0.changes.append("remove \(key.account)") } }

    func signedInAccount(at key: AccountKey) throws -> String? {
        try state.withLock { state in
            state.readCount += 1
            if state.isLocked { throw NetworkError(.storage, in: .authorizing, "The keychain is locked.") }
            return key.service == "club" ? state.account : nil
        }
    }

    func setSignedInAccount(_ account: String?, at key: AccountKey) throws {
        try state.withLock { state in
            if state.fails { throw NetworkError(.storage, in: .authorizing, "The keychain is full.") }
            state.changes.append("account \(account ?? "nil")")
        }
    }
}

/// A store that an app wrote before accounts were restored.
private actor PlainStore: TokenStore {
    private var tokens: [TokenKey: AccessToken] = [:]
    func load(_ key: TokenKey) -> AccessToken? { tokens[key] }
    func save(_ token: AccessToken, at key: TokenKey) { tokens[key] = token }
    func remove(_ key: TokenKey) { tokens[key] = nil }
}
