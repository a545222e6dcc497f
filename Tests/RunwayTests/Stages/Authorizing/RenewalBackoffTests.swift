import HTTPTypes
import RunwayTesting
import Synchronization
import Testing

@testable import Runway

/// Services that refuse the tokens that they give, and stores that hang.
@Suite(.timeLimit(.minutes(5)))
struct RenewalBackoffTests {
    @Test func refusalWavesDoNotEachRenewTheToken() async throws {
        let house = ClubHouse()
        try await house.signIn()
        house.origin.revoke()
        house.origin.refuseRenewedTokens()
        for _ in 1...20 { #expect(try await house.calls(1...1)[0].failure().kind == .needsAccessToken) }
        #expect(house.origin.refreshCount == 1)
        // One second after the renewal that were futile, then two seconds, then four.
        for (count, seconds) in [(2, 1), (3, 2), (4, 4), (5, 8)] {
            house.clock.advance(by: .seconds(seconds) - .milliseconds(1))
            _ = try await house.calls(1...1)[0].failure()
            #expect(house.origin.refreshCount == count - 1)
            house.clock.advance(by: .milliseconds(1))
            _ = try await house.calls(1...1)[0].failure()
            #expect(house.origin.refreshCount == count)
        }
    }

    @Test func acceptedTokenRefusedLaterIsRenewedAtOnce() async throws {
        let house = ClubHouse()
        try await house.signIn()
        for count in 1...5 {
            house.origin.revoke()
            _ = try await house.network.call(Members())
            #expect(house.origin.refreshCount == count)
        }
    }

    @Test func signInIsNotDelayedByVainRenewals() async throws {
        let house = ClubHouse()
        try await house.signIn()
        house.origin.revoke()
        house.origin.refuseRenewedTokens()
        _ = try await house.calls(1...1)[0].failure()
        house.origin.accept("t9")
        try await house.network.signIn(AccessToken("t9", account: "ann"), to: Club.self)
        _ = try await house.network.call(Members())
    }

    @Test func refusingEndpointDoesNotRenewAtEachCall() async throws {
        let house = ClubHouse()
        try await house.signIn()
        _ = try await house.network.call(Members())
        func enterStrongroom() async { _ = try? await house.network.call(Strongroom()) }
        for _ in 1...20 {
            await enterStrongroom()
            _ = try await house.network.call(Members())
        }
        #expect(house.origin.refreshCount == 1)
        for (count, seconds) in [(2, 1), (3, 2), (4, 4), (5, 8), (6, 16), (7, 32), (8, 60), (9, 60)] {
            house.clock.advance(by: .seconds(seconds) - .milliseconds(1))
            await enterStrongroom()
            #expect(house.origin.refreshCount == count - 1)
            house.clock.advance(by: .milliseconds(1))
            await enterStrongroom()
            _ = try await house.network.call(Members())
            #expect(house.origin.refreshCount == count)
        }
        // The others' tokens are renewed at once.
        house.origin.revoke()
        _ = try await house.network.call(Members())
        #expect(house.origin.refreshCount == 10)
    }

    @Test func unrepeatableBodyDoesNotRenewAtEachCall() async throws {
        let house = ClubHouse()
        try await house.signIn()
        house.origin.refusePortraits()
        for _ in 1...20 {
            _ = try await house.network.call(Members())
            _ = try? await house.network.call(Portrait())
        }
        #expect(house.origin.refreshCount == 1)
    }

    @Test func failuresAfterARenewalDoNotRenewAgain() async throws {
        let house = ClubHouse()
        try await house.signIn()
        house.origin.failStrongroomOnce(with: .internalServerError)
        for _ in 1...20 {
            _ = try await house.network.call(Members())
            house.origin.failStrongroomOnce(with: .internalServerError)
            _ = try? await house.network.call(Strongroom())
        }
        #expect(house.origin.refreshCount == 1)
    }

    @Test func manyRefusingEndpointsDoNotForgetEachOther() {
        var backoff = EndpointBackoffs()
        let endpoints: [any Endpoint.Type] = [Members.self, Strongroom.self, OpeningHours.self, Portrait.self]
        for endpoint in endpoints { backoff.renewing(for: endpoint, at: .zero) }
        for endpoint in endpoints { #expect(backoff.isTooSoon(for: endpoint, at: .milliseconds(999))) }
        for endpoint in endpoints { #expect(!backoff.isTooSoon(for: endpoint, at: .seconds(1))) }
        backoff.accepted(Members.self)
        #expect(!backoff.isTooSoon(for: Members.self, at: .zero))
        for _ in 0..<EndpointBackoffs.maximumCount { backoff.renewing(for: MemberList.self, at: .zero) }
        #expect(backoff.isTooSoon(for: MemberList.self, at: .seconds(59)))
        #expect(!backoff.isTooSoon(for: MemberList.self, at: .seconds(60)))
    }

    @Test func hangingStoreDoesNotCollectChanges() async throws {
        let store = HangingStore()
        let queue = TokenStoreQueue(store)
        var last: TokenStoreQueue.Completion?
        for round in 0..<5000 {
            let key = TokenKey(network: "n", service: "s", environment: "e", account: "\(round % 3)")
            last = queue.add(round % 2 == 0 ? .save(AccessToken("\(round)", account: "a")) : .remove, at: key)
        }
        store.gate.open()
        _ = await last?.value
        #expect(store.changeCount <= 4, "the one that hung, and the newest of each of three keys")
        let many = TokenStoreQueue(HangingStore())
        let keys = (0...TokenStoreQueue.maximumKeys + 1).map {
            TokenKey(network: "n", service: "s", environment: "e", account: "\($0)")
        }
        let refused = keys.map { many.add(.remove, at: $0) }.last
        await #expect(throws: CrowdedTokenStore.self) { try await refused?.value.get() }
    }

    @Test func unremovableTokenIsNotLoadedAgain() async throws {
        let key = TokenKey(network: "n", service: "s", environment: "e", account: "ann")
        let queue = TokenStoreQueue(StubbornStore())
        #expect(try await queue.load(key) != nil)
        await #expect(throws: StubbornStore.Refusal.self) { try await queue.add(.remove, at: key).value.get() }
        #expect(try await queue.load(key) == nil)
        _ = await queue.add(.save(AccessToken("new", account: "ann")), at: key).value
        #expect(try await queue.load(key) != nil)
    }

    @Test func oldTokenDoesNotOutliveAFailedSave() async throws {
        let key = TokenKey(network: "n", service: "s", environment: "e", account: "ann")
        let other = TokenKey(network: "n", service: "s", environment: "e", account: "bob")
        let store = FullStore()
        let queue = TokenStoreQueue(store)
        let first = queue.add(.save(AccessToken("new", account: "ann")), at: key)
        try await store.gate.waitForArrivals()
        // While that is made, the account signs out and in again.
        _ = queue.add(.remove, at: key)
        let second = queue.add(.save(AccessToken("newer", account: "ann")), at: key)
        store.gate.open()
        for write in [first, second] {
            await #expect(throws: StubbornStore.Refusal.self) { try await write.value.get() }
        }
        #expect(try await queue.load(key) == nil)
        // Without a sign-out, the older token may still be renewed.
        _ = await queue.add(.save(AccessToken("new", account: "bob")), at: other).value
        #expect(try await queue.load(other)?.value == "old")
    }

    @Test func manyFailedRemovalsDoNotBlockLaterTokens() async throws {
        let queue = TokenStoreQueue(StubbornStore())
        let keys = (0...TokenStoreQueue.maximumKeys).map {
            TokenKey(network: "n", service: "s", environment: "e", account: "\($0)")
        }
        for key in keys { _ = await queue.add(.remove, at: key).value }
        let other = TokenKey(network: "n", service: "s", environment: "e", account: "other")
        #expect(try await queue.load(keys[0]) == nil)
        #expect(try await queue.load(other) == nil)
        for key in [keys[0], other] {
            try await queue.add(.save(AccessToken("new", account: key.account)), at: key).value.get()
            #expect(try await queue.load(key) != nil)
        }
        _ = await queue.add(.remove, at: other).value
        #expect(try await queue.load(other) == nil)
    }
}

/// A store whose changes wait until the test lets them go on.
private final class HangingStore: TokenStore {
    let gate = ScriptedGate()
    var changeCount: Int { gate.arrivalCount }

    func load(_ key: TokenKey) async throws -> AccessToken? { nil }
    func save(_ token: AccessToken, at key: TokenKey) async throws { try await gate.pass() }
    func remove(_ key: TokenKey) async throws { try await gate.pass() }
}

/// A store that removes nothing.
private struct StubbornStore: TokenStore {
    struct Refusal: Error {}

    func load(_ key: TokenKey) async throws -> AccessToken? { AccessToken("old", account: key.account) }
    func save(_ token: AccessToken, at key: TokenKey) async throws {}
    func remove(_ key: TokenKey) async throws { throw Refusal() }
}

/// A store that saves nothing more.
private final class FullStore: TokenStore {
    let gate = ScriptedGate()
    private let removed = Mutex<Set<TokenKey>>([])

    func load(_ key: TokenKey) async throws -> AccessToken? {
        removed.withLock { $0.contains(key) } ? nil : AccessToken("old", account: key.account)
    }
    func save(_ token: AccessToken, at key: TokenKey) async throws {
        try await gate.pass()
        throw StubbornStore.Refusal()
    }
    func remove(_ key: TokenKey) async throws { removed.withLock { _ = $0.insert(key) } }
}
