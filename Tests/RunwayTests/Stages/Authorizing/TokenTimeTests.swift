import Foundation
import RunwayTesting
import Synchronization
import Testing

@testable import Runway

struct TokenTimeTests {
    /// A wall clock that a test sets as it likes, beside a monotonic one that stands.
    private final class Wall: Sendable {
        /// Guards the date.
        private let date = Mutex(Date(timeIntervalSince1970: 1_767_225_600))
        let clock = ManualClock()
        var now: Date { date.withLock { $0 } }
        func jump(by seconds: Double) { date.withLock { $0 += seconds } }
        var layerClock: LayerClock { LayerClock(clock) { self.now } }
    }

    private let wall = Wall()
    private let origin = ClubOrigin()

    private func network(_ store: any TokenStore = MemoryTokenStore()) -> NetworkLayer {
        NetworkLayer(
            transport: origin, pipeline: .tested, clock: wall.layerClock,
            limits: LayerLimits(admission: .none, retrying: .none),
            tokens: store)
    }

    @Test(arguments: [-1e9, -86_400, 86_400, 1e9]) func aWallClockThatJumpsRenewsNothing(_ jump: Double) async throws {
        let network = network()
        try await network.signIn(
            AccessToken("t1", account: "ann", expiry: wall.now.addingTimeInterval(100)), to: Club.self)
        wall.jump(by: jump)
        _ = try await network.call(Members())
        #expect(origin.refreshCount == 0)
    }

    @Test func wrongClockDoesNotRenewAtEachCall() async throws {
        let network = network()
        // The service names dates, and the device lives twenty years later.
        try await network.signIn(
            AccessToken("t1", account: "ann", expiry: wall.now.addingTimeInterval(-6e8)), to: Club.self)
        for _ in 0..<5 { _ = try await network.call(Members()) }
        #expect(origin.refreshCount == 0)
    }

    @Test func shortLivedTokenLastsHalfItsLifetime() async throws {
        let network = network()
        try await network.signIn(
            AccessToken("t1", account: "ann", expiry: wall.now.addingTimeInterval(10)), to: Club.self)
        wall.clock.advance(by: .seconds(4))
        _ = try await network.call(Members())
        #expect(origin.refreshCount == 0)
        wall.clock.advance(by: .seconds(1))
        _ = try await network.call(Members())
        #expect(origin.refreshCount == 1)
    }

    @Test func aTokenThatExpiredBetweenLaunchesIsRenewed() async throws {
        let store = MemoryTokenStore()
        let key = TokenKey(network: "default", service: "club", environment: "release", account: "ann")
        store.save(AccessToken("t1", account: "ann", expiry: wall.now.addingTimeInterval(-1)), at: key)
        let network = network(store)
        network.configure(Club.self) { $0.account = "ann" }
        _ = try await network.call(Members())
        #expect(origin.refreshCount == 1 && origin.callCount == 1)
    }

    @Test func aTokenIsLoadedOnceForManyCalls() async throws {
        let store = CountingStore()
        let network = network(store)
        network.configure(Club.self) { $0.account = "ann" }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for page in 1...10 { group.addTask { _ = try await network.call(Members(page: page)) } }
            try await group.waitForAll()
        }
        #expect(store.loadCount == 1 && origin.refreshCount == 0 && origin.callCount == 10)
    }

    @Test func aFailedStoreIsReadAgain() async throws {
        let store = CountingStore(failures: 1)
        let network = network(store)
        network.configure(Club.self) { $0.account = "ann" }
        let error = await #expect(throws: NetworkError.self) { try await network.call(Members()) }
        #expect(error?.kind == .storage && error?.underlying is NetworkError)
        _ = try await network.call(Members())
        #expect(store.loadCount == 2)
    }

    @Test func unstoredSignInThrowsAndIsUsed() async throws {
        let network = network(CountingStore(failures: 1))
        let error = await #expect(throws: NetworkError.self) {
            try await network.signIn(AccessToken("t1", account: "ann"), to: Club.self)
        }
        #expect(error?.kind == .storage)
        _ = try await network.call(Members())
    }

    @Test func tokenThatCanNotBeSentIsRefused() async throws {
        for value in ["", "a\r\nX: y", "a\u{0}"] {
            let error = await #expect(throws: NetworkError.self) {
                try await network().signIn(AccessToken(value, account: "ann"), to: Club.self)
            }
            #expect(error?.kind == .invalidParameters)
        }
    }
}

/// A store that fails a number of times, and then returns one token.
private final class CountingStore: TokenStore {
    /// Guards the counts.
    private let state: Mutex<(loads: Int, failures: Int)>
    var loadCount: Int { state.withLock { $0.loads } }

    init(failures: Int = 0) { state = Mutex((0, failures)) }

    private func fail() throws {
        let fails = state.withLock { state in
            state.failures -= 1
            return state.failures >= 0
        }
        if fails { throw NetworkError.tokenStore("The disk is full.") }
    }

    func load(_ key: TokenKey) throws -> AccessToken? {
        state.withLock { $0.loads += 1 }
        try fail()
        return AccessToken("t1", account: key.account)
    }
    func save(_ token: AccessToken, at key: TokenKey) throws { try fail() }
    func remove(_ key: TokenKey) throws { try fail() }
}
