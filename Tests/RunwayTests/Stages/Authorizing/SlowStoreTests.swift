import Runway
import RunwayTesting
import Synchronization
import Testing

/// Token stores that hang.
@Suite(.timeLimit(.minutes(5)))
struct SlowStoreTests {
    private let origin = ClubOrigin()
    private let clock = ManualClock()
    private let records = RecordCollector()

    private func network(_ store: any TokenStore, deadline: Duration = .seconds(60)) -> NetworkLayer {
        let network = NetworkLayer(
            transport: origin, pipeline: .tested, clock: LayerClock(clock), sinks: [records],
            limits: LayerLimits(admission: .none, retrying: .none), tokens: store)
        network.configure(Club.self) { $0.deadline = deadline }
        return network
    }

    /// Starts an operation that should fail; returns the error.
    private func failing(_ work: @escaping @Sendable () async throws -> Void) -> Task<NetworkError?, Never> {
        Task {
            do {
                try await work()
                return nil
            } catch {
                return error as? NetworkError
            }
        }
    }

    /// Signs in to a store that responds, and lets the timer finish with the time that the store had for it.
    private func signIn(to network: NetworkLayer) async throws {
        try await network.signIn(AccessToken("t1", account: "ann", refreshToken: "r1"), to: Club.self)
        clock.advance(by: .seconds(10))
        try await waitUntil { clock.nextDeadline == nil }
    }

    /// Moves the clock by as much as a store may take, once somebody waits for the store. Nobody may have waited for it before.
    private func letTimePass(_ store: SlowStore, operations: Int = 1) async throws {
        try await store.operations.waitForArrivals(count: operations)
        // The store may be asked before the time that it may take begins.
        let end = clock.now.advanced(by: .seconds(10))
        try await waitUntil { clock.nextDeadline.map { $0 <= end } ?? false }
        clock.advance(by: .seconds(10))
    }

    @Test func tokenThatIsNeverLoadedFailsItsCalls() async throws {
        let store = SlowStore()
        let network = network(store)
        network.configure(Club.self) { $0.account = "ann" }
        let failure = failing { _ = try await network.call(Members()) }
        try await letTimePass(store)
        let error = try #require(await failure.value)
        #expect(error.kind == .storage && error.detail.contains("did not respond within 10 s"))
        #expect(origin.callCount == 0)
    }

    @Test func callAwaitsAStoreWithinItsDeadline() async throws {
        let store = SlowStore()
        let network = network(store, deadline: .seconds(4))
        network.configure(Club.self) { $0.account = "ann" }
        let failure = failing { _ = try await network.call(Members()) }
        try await store.operations.waitForArrivals()
        clock.advance(by: .seconds(4))
        #expect(try #require(await failure.value).kind == .timedOut)
    }

    @Test func unfinishedSignInThrowsInTimeAndApplies() async throws {
        let store = SlowStore()
        let network = network(store)
        let failure = failing { try await network.signIn(AccessToken("t1", account: "ann"), to: Club.self) }
        try await letTimePass(store)
        #expect(try #require(await failure.value).kind == .storage)
        _ = try await network.call(Members())
    }

    @Test func unfinishedSignOutThrowsInTimeAndHolds() async throws {
        let store = SlowStore(hangs: false)
        let network = network(store)
        try await signIn(to: network)
        store.hang()
        let failure = failing { _ = try await network.signOut(of: Club.self) }
        try await letTimePass(store)
        #expect(try #require(await failure.value).kind == .storage)
        let error = await #expect(throws: NetworkError.self) { try await network.call(Members()) }
        #expect(error?.kind == .needsLogin)
    }

    @Test func aRenewalContinuesWithoutTheStore() async throws {
        let store = SlowStore(hangs: false)
        let network = network(store)
        try await signIn(to: network)
        store.hang()
        origin.revoke()
        async let response = network.call(Members())
        try await letTimePass(store)
        _ = try await response
        let record = try await records.records(count: 2).first {
            $0.decisions(of: AuthorizingDecision.self).contains(.renewed)
        }
        let notes = try #require(record).decisions(of: AuthorizingDecision.self)
        #expect(notes.contains { if case .notSaved = $0 { true } else { false } }, "\(notes)")
        #expect(origin.refreshCount == 1)
    }

    @Test func cancelledTasksSignInStillTakesEffect() async throws {
        let store = SlowStore()
        let network = network(store)
        let signIn = Task { try await network.signIn(AccessToken("t1", account: "ann"), to: Club.self) }
        try await store.operations.waitForArrivals()
        signIn.cancel()
        let error = await #expect(throws: NetworkError.self) { try await signIn.value }
        #expect(error?.kind == .cancelled)
        _ = try await network.call(Members())
    }

    @Test func aHangingStoreIsNotReadWithoutEnd() async throws {
        let store = SlowStore()
        let network = network(store)
        network.configure(Club.self) { $0.account = "ann" }
        for round in 1...8 {
            let failure = failing { _ = try await network.call(Members()) }
            try await letTimePass(store, operations: round)
            #expect(try #require(await failure.value).kind == .storage)
        }
        let error = await #expect(throws: NetworkError.self) { try await network.call(Members()) }
        #expect(error?.kind == .storage && store.operations.arrivalCount == 8)
        store.respond()
        // Once those that were left behind have come back, it is asked again, and has no token.
        var kind = NetworkError.Kind.storage
        try await waitUntil {
            do throws(NetworkError) { _ = try await network.call(Members()) } catch { kind = error.kind }
            return kind != .storage
        }
        #expect(kind == .needsLogin)
    }
}

/// A store that stores nothing, and does not return while it hangs.
private final class SlowStore: TokenStore {
    /// Who came to the store while it hung.
    let operations = ScriptedGate()
    /// Guards whether it hangs.
    private let isHanging: Mutex<Bool>

    init(hangs: Bool = true) { isHanging = Mutex(hangs) }

    func hang() { isHanging.withLock { $0 = true } }

    func respond() {
        isHanging.withLock { $0 = false }
        operations.open()
    }

    private func pass() async {
        guard isHanging.withLock({ $0 }) else { return }
        // Whoever waits here can't be cancelled.
        await Task.detached { [operations] in try? await operations.pass() }.value
    }

    func load(_ key: TokenKey) async throws -> AccessToken? {
        await pass()
        return nil
    }
    func save(_ token: AccessToken, at key: TokenKey) async throws { await pass() }
    func remove(_ key: TokenKey) async throws { await pass() }
}
