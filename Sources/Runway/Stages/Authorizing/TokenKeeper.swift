import HTTPTypes
import Synchronization

/// The access tokens of a layer: those in memory, the store behind them, and the renewals under way.
///
/// What is in memory counts; the store follows, one change after the other, in the order in which memory changed.
final class TokenKeeper: Sendable {
    /// What is known of an account's token.
    enum Knowledge: Sendable {
        /// The store has not been asked.
        case unknown
        /// There is none.
        case absent
        case held(HeldToken)
    }

    private struct Entry: Sendable {
        var knowledge = Knowledge.unknown
        /// Counted up with every change of any token of the layer; 0 where nothing is known.
        var version: UInt64 = 0
        /// The version of the token that the service refused.
        var refused: UInt64 = 0
        /// Whether the app was told that the user has to log in.
        var hasAskedForLogin = false
    }

    private struct State {
        var changeCount: UInt64 = 0
        var entries: LeastRecentlyUsed<TokenIdentity, Entry>
        /// The last change of the store that was asked for.
        var lastWrite: Task<Result<Void, any Error>, Never>?
        /// The waits for the store that are under way, and those of them that somebody still waits for.
        var waitCount = 0
        var awaitedCount = 0

        /// Changes what is known of an account.
        mutating func update<Value>(_ identity: TokenIdentity, _ change: (inout Entry) -> Value) -> Value {
            var entry = entries.value(for: identity) ?? Entry()
            defer { entries.insert(entry, for: identity, byteCount: 0) }
            return change(&entry)
        }
    }

    /// The renewals under way, by account.
    let renewals: SharedWork<TokenIdentity, HeldToken>
    private let network: String
    private let store: any TokenStore
    private let storeDeadline: Duration
    private let clock: LayerClock
    private let timer: DeadlineTimer
    /// Guards what is known, and the order of the store's changes.
    private let state: Mutex<State>

    init(
        network: String, store: any TokenStore, _ limits: AuthorizingLimits, clock: LayerClock, timer: DeadlineTimer
    ) {
        self.network = network
        self.store = store
        self.clock = clock
        self.timer = timer
        storeDeadline = min(max(limits.storeDeadline, .zero), .seconds(86_400))
        renewals = SharedWork(in: .stage(.authorizing), limits.rules)
        let maximumCount = max(1, limits.maximumAccounts)
        state = Mutex(State(entries: LeastRecentlyUsed(maximumCount: maximumCount, maximumByteCount: 0)))
    }

    /// What is known of an account's token, and the version of that knowledge.
    func knowledge(of identity: TokenIdentity) -> (knowledge: Knowledge, version: UInt64) {
        state.withLock { state in
            let entry = state.entries.value(for: identity) ?? Entry()
            return (entry.knowledge, entry.version)
        }
    }

    /// The token that calls can use now; `nil` where one has to be loaded or renewed.
    func usableToken(of identity: TokenIdentity, at now: Duration) -> HeldToken? {
        state.withLock { state in
            guard let entry = state.entries.value(for: identity), case .held(let held) = entry.knowledge,
                held.version != entry.refused, held.isFresh(at: now)
            else { return nil }
            return held
        }
    }

    /// The service refused a token: it is not used again.
    func markRefused(_ held: HeldToken, of identity: TokenIdentity) {
        state.withLock { state in
            state.update(identity) { if $0.version == held.version { $0.refused = held.version } }
        }
    }

    /// Notes that the app is told to ask for a login; `false` where it was told before, and nobody signed in since.
    func beginsAskingForLogin(_ identity: TokenIdentity) -> Bool {
        state.withLock { state in
            state.update(identity) { entry in
                defer { entry.hasAskedForLogin = true }
                return !entry.hasAskedForLogin
            }
        }
    }
}

extension TokenKeeper {
    /// What the store keeps for an account, if nothing is known of it yet.
    ///
    /// - Throws: ``NetworkError/Kind/storage``.
    func load(_ identity: TokenIdentity, for flight: Flight, _ credentials: any Credentials) async throws(NetworkError)
    {
        guard let place = place(of: identity) else { return }
        let lastWrite = state.withLock { $0.lastWrite }
        let loaded: AccessToken?
        do {
            loaded = try await waiting { [store] in
                _ = await lastWrite?.value
                return try await store.load(place)
            }
        } catch {
            throw NetworkError(
                .storage, in: .stage(.authorizing), "The access token can't be loaded: \(error.safeText)",
                underlying: error)
        }
        let clock = flight.clock
        state.withLock { state in
            guard state.entries.peek(identity)?.version ?? 0 == 0 else { return }
            state.changeCount += 1
            let version = state.changeCount
            state.update(identity) { entry in
                entry.version = version
                entry.knowledge = .absent
                guard let loaded, loaded.isUsable else { return }
                entry.knowledge = .held(
                    HeldToken(loaded, version: version, leeway: credentials.leeway, isNew: false, clock: clock))
            }
        }
    }

    /// Takes a token in use that the service gave just now.
    ///
    /// - Parameter expected: The version that the change is made of; where there is another by now nothing changes.
    /// - Returns: The token as it is held, and the change of the store; `nil` where nothing changed.
    func hold(
        _ token: AccessToken, of identity: TokenIdentity, leeway: Duration, clock: LayerClock,
        ifVersion expected: UInt64?
    ) -> (held: HeldToken, write: Task<Result<Void, any Error>, Never>)? {
        state.withLock { state in
            if let expected, let version = state.entries.peek(identity)?.version, version != expected { return nil }
            state.changeCount += 1
            let held = HeldToken(token, version: state.changeCount, leeway: leeway, isNew: true, clock: clock)
            state.update(identity) { entry in
                // After a sign-in the app may be told again; after a renewal there was nothing to tell.
                entry = Entry(knowledge: .held(held), version: held.version)
            }
            return (held, write(.save(token), of: identity, &state))
        }
    }

    /// Forgets a token. Where the version is another than expected nothing changes.
    func drop(
        _ identity: TokenIdentity, ifVersion expected: UInt64? = nil
    ) -> Task<Result<Void, any Error>, Never>? {
        state.withLock { state in
            if let expected, state.entries.peek(identity)?.version != expected { return nil }
            state.changeCount += 1
            let version = state.changeCount
            // Remembered as absent, so that what is not removed from the store yet is not loaded again.
            state.update(identity) { entry in
                entry.knowledge = .absent
                entry.version = version
            }
            return write(.remove, of: identity, &state)
        }
    }

    /// Lets the app be told again that nobody is signed in.
    func resetAskingForLogin(_ identity: TokenIdentity) {
        state.withLock { $0.update(identity) { $0.hasAskedForLogin = false } }
    }

    private enum Change: Sendable {
        case save(AccessToken)
        case remove
    }

    /// Lines up a change of the store behind those that were asked for before.
    private func write(
        _ change: Change, of identity: TokenIdentity, _ state: inout State
    ) -> Task<Result<Void, any Error>, Never> {
        let (last, place) = (state.lastWrite, place(of: identity))
        let task = Task.detached { [store] () async -> Result<Void, any Error> in
            _ = await last?.value
            guard let place else { return .success(()) }
            do {
                switch change {
                case .save(let token): try await store.save(token, at: place)
                case .remove: try await store.remove(place)
                }
                return .success(())
            } catch {
                return .failure(error)
            }
        }
        state.lastWrite = task
        return task
    }

    private func place(of identity: TokenIdentity) -> TokenPlace? {
        identity.account.map {
            TokenPlace(
                network: network, service: identity.service.name, environment: identity.environment.name, account: $0)
        }
    }
}

extension TokenKeeper {
    /// The most waits for the store that may be left behind. As long as there are so many, it is taken for one that does not answer.
    static let maximumForsakenWaits = 8

    /// Waits until a change of the store is done, no longer than the store may take.
    ///
    /// - Throws: Why it is not done.
    func settle(_ write: Task<Result<Void, any Error>, Never>) async throws {
        try await waiting { try await write.value.get() }
    }

    /// Waits for the store, no longer than it may take. What was left behind then goes on by itself.
    private func waiting<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
        let late = SlowTokenStore(limit: storeDeadline)
        let mayWait = state.withLock { state in
            guard state.waitCount - state.awaitedCount < Self.maximumForsakenWaits else { return false }
            state.awaitedCount += 1
            return true
        }
        guard mayWait else { throw late }
        defer { state.withLock { $0.awaitedCount -= 1 } }
        let race = Race<Result<Value, any Error>>()
        let alarm = timer.schedule(at: clock.now + storeDeadline) { race.finish(.failure(late)) }
        defer { timer.remove(alarm) }
        return try await race.run(onCancel: .failure(CancellationError())) { [self] in
            state.withLock { $0.waitCount += 1 }
            defer { state.withLock { $0.waitCount -= 1 } }
            do { return .success(try await work()) } catch { return .failure(error) }
        }.get()
    }
}

/// The token store has not answered in time.
struct SlowTokenStore: DescribedError {
    let limit: Duration

    var description: String { "the store gave no word within \(limit)" }
}

extension AccessToken {
    /// Whether the token can stand in a header field at all.
    var isUsable: Bool { !value.isEmpty && HTTPField.isValidValue(value) }
}
