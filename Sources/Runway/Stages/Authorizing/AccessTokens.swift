import HTTPTypes
import Synchronization

/// The access tokens of a layer: the tokens in memory, their store, and the renewals in progress.
///
/// The tokens in memory take precedence. The store receives the same changes one at a time, in the same order. If the
/// account of a call has signed out since the call was made, the call neither reads nor changes a token.
final class AccessTokens: Sendable {
    /// The state of an account's token.
    enum Knowledge: Sendable {
        /// The store has not been read.
        case unknown
        case absent
        case held(HeldToken)
    }

    /// The functions of the layer that its tokens use.
    struct Owner: Sendable {
        /// Requests a new token from the service, to replace an old one.
        let refresh: @Sendable (any Credentials, AccessToken) async throws -> AccessToken
        /// Notifies the app that the user must log in for these calls.
        let askForLogin: @Sendable (TokenIdentity, [Flight]) -> Void
    }

    private struct Entry: Sendable {
        var knowledge = Knowledge.unknown
        /// A number that increases with every change of any token of the layer; 0 if the state is unknown.
        var version: UInt64 = 0
        /// The version of the token that the service refused.
        var refused: UInt64 = 0
        /// Whether the service had accepted the refused token before.
        var isRefusedAfterAcceptance = false
        /// The session in which the token was loaded or issued.
        var session: AccountSession?
        /// The session in which the app was last notified that a login is needed.
        var loginSession: AccountSession?
        var backoff = RenewalBackoff()
        var endpointBackoffs = EndpointBackoffs()

        /// Returns whether a refused token must be renewed before the next call.
        ///
        /// If an endpoint refused a new token before any endpoint accepted it, that endpoint may be the only one that
        /// refuses the token. Other calls then use the token until the delay before the next renewal has passed.
        func needsRenewal(_ held: HeldToken, at now: Duration) -> Bool {
            if held.version != refused { return false }
            return isRefusedAfterAcceptance || !held.acceptance.isAccepted && backoff.delay(at: now) == nil
        }

        /// Returns the token if a call can use it without a renewal.
        func usable(at now: Duration) -> HeldToken? {
            guard case .held(let held) = knowledge, held.isFresh(at: now), !needsRenewal(held, at: now) else {
                return nil
            }
            return held
        }
    }

    private struct State {
        var changeCount: UInt64 = 0
        var entries: LeastRecentlyUsed<TokenIdentity, Entry>
        /// The number of all waits for the store. `awaitedCount` is the number of waits whose caller still waits.
        var waitCount = 0
        var awaitedCount = 0

        mutating func update<Value>(_ identity: TokenIdentity, _ change: (inout Entry) -> Value) -> Value {
            var entry = entries.value(for: identity) ?? Entry()
            defer { entries.insert(entry, for: identity, byteCount: 0) }
            return change(&entry)
        }
    }

    let renewals: SharedWork<TokenRenewal, HeldToken>
    private let network: String
    private let store: TokenStoreQueue
    private let storeDeadline: Duration
    private let clock: LayerClock
    let timer: DeadlineTimer
    /// Guards the functions of the layer, which are set once, after the tokens are created.
    private let ownerBox = Mutex<Owner?>(nil)
    /// Guards the tokens, and the order of changes to the store.
    private let state: Mutex<State>

    /// Creates the tokens of a layer. ``LayerLimits`` describes the limits.
    init(
        network: String, store: any TokenStore, storeDeadline: Duration, maximumCallsPerRenewal: Int,
        maximumAccounts: Int, clock: LayerClock, timer: DeadlineTimer
    ) {
        self.network = network
        self.store = TokenStoreQueue(store)
        self.clock = clock
        self.timer = timer
        self.storeDeadline = min(max(storeDeadline, .zero), .seconds(86_400))
        renewals = SharedWork(
            in: .authorizing,
            SharedWorkRules(
                maximumListed: .max, maximumMembers: max(1, maximumCallsPerRenewal),
                overflow: .isRefused(detail: "Too many calls wait for the renewal of the access token."),
                abandonment: .isCompleted))
        let maximumCount = max(1, maximumAccounts)
        state = Mutex(State(entries: LeastRecentlyUsed(maximumCount: maximumCount, maximumByteCount: 0)))
    }

    /// The functions of the layer; `nil` before ``setOwner(_:)``.
    var owner: Owner? { ownerBox.withLock { $0 } }

    /// Connects the tokens to their layer, which is created after them.
    func setOwner(_ owner: Owner) { ownerBox.withLock { $0 = owner } }

    /// Returns the state of an account's token, and its version.
    func knowledge(of identity: TokenIdentity) -> (knowledge: Knowledge, version: UInt64) {
        state.withLock { state in
            let entry = state.entries.value(for: identity) ?? Entry()
            return (entry.knowledge, entry.version)
        }
    }

    /// Returns the token that a call can use now. Returns `nil` if a token must be loaded or renewed, or if the account
    /// of the call has signed out.
    func usableToken(for flight: Flight) -> HeldToken? { tokenState(for: flight).usable }

    /// Returns the token that a call can use now, if any, and the state that this decision is based on.
    func tokenState(for flight: Flight) -> (usable: HeldToken?, knowledge: Knowledge, version: UInt64) {
        state.withLock { state in
            let entry = state.entries.value(for: TokenIdentity(flight)) ?? Entry()
            let usable = flight.session.isOver ? nil : entry.usable(at: flight.clock.now)
            return (usable, entry.knowledge, entry.version)
        }
    }

    /// Records that the service refused the token of a call.
    ///
    /// - Returns: Whether the call must use another token; `false` if it is too soon for a renewal, see
    ///   ``RenewalBackoff`` and ``EndpointBackoffs``.
    @discardableResult
    func markRefused(_ held: HeldToken, in flight: Flight) -> Bool {
        let now = clock.now
        return state.withLock { state in
            state.update(TokenIdentity(flight)) { entry in
                // The token has already been replaced, or will be renewed anyway.
                guard entry.version == held.version, !entry.needsRenewal(held, at: now) else { return true }
                let isAccepted = held.acceptance.isAccepted
                if isAccepted {
                    if entry.endpointBackoffs.isTooSoon(for: flight.endpoint, at: now) { return false }
                    entry.endpointBackoffs.renewing(for: flight.endpoint, at: now)
                }
                if entry.refused != held.version || isAccepted {
                    entry.refused = held.version
                    entry.isRefusedAfterAcceptance = isAccepted
                    entry.backoff.refused(held, at: now)
                }
                return entry.needsRenewal(held, at: now)
            }
        }
    }

    /// Records that the service accepted the renewed token of a call.
    func markAccepted(_ held: HeldToken, in flight: Flight) {
        held.acceptance.accept()
        state.withLock { $0.update(TokenIdentity(flight)) { $0.endpointBackoffs.accepted(flight.endpoint) } }
    }

    /// Returns the delay before the next renewal. A delay is necessary if the service refuses tokens that it has just
    /// issued; otherwise returns `nil`.
    func renewalDelay(of identity: TokenIdentity) -> Duration? {
        let now = clock.now
        return state.withLock { state in
            guard let entry = state.entries.peek(identity), case .held(let held) = entry.knowledge,
                !held.acceptance.isAccepted
            else { return nil }
            return entry.backoff.delay(at: now)
        }
    }

    /// Records that the app is being notified of a needed login.
    ///
    /// - Returns: `false` if the app must not be notified: it was notified before in this session, the account has
    ///   signed out, or there is another token now.
    func beginsAskingForLogin(_ identity: TokenIdentity, in session: AccountSession, ifVersion version: UInt64) -> Bool
    {
        state.withLock { state in
            if session.isOver || state.entries.peek(identity)?.version ?? 0 != version { return false }
            return state.update(identity) { entry in
                defer { entry.loginSession = session }
                return entry.loginSession != session
            }
        }
    }
}

extension AccessTokens {
    /// Loads the token of a call's account from the store, if its state is unknown.
    ///
    /// - Throws: ``NetworkError/Kind/storage``.
    func load(for flight: Flight, _ credentials: any Credentials) async throws(NetworkError) {
        let identity = TokenIdentity(flight)
        guard let key = key(of: identity) else { return }
        let loaded: AccessToken?
        do {
            loaded = try await waiting { [store] in try await store.load(key) }
        } catch {
            throw NetworkError(
                .storage, in: .authorizing, "The access token can't be loaded: \(error.redactedDescription)",
                underlying: error)
        }
        let clock = flight.clock
        state.withLock { state in
            guard !flight.session.isOver, state.entries.peek(identity)?.version ?? 0 == 0 else { return }
            state.changeCount += 1
            let version = state.changeCount
            state.update(identity) { entry in
                entry.version = version
                entry.session = flight.session
                entry.knowledge = .absent
                guard let loaded, loaded.isUsable else { return }
                entry.knowledge = .held(
                    HeldToken(loaded, version: version, leeway: credentials.leeway, isNew: false, clock: clock))
            }
        }
    }

    /// Starts to use a token that the service has just issued.
    ///
    /// - Parameters:
    ///   - session: The session in which the token was issued.
    ///   - renewed: The version of the old token if `token` is its renewal; otherwise `nil`. If the current version
    ///     differs, nothing changes.
    /// - Returns: The token in memory and the pending change of the store. `nil` if nothing changed, because the
    ///   session has ended or the old token is no longer in use.
    func hold(
        _ token: AccessToken, of identity: TokenIdentity, in session: AccountSession, leeway: Duration,
        clock: LayerClock, renewing renewed: UInt64? = nil
    ) -> (held: HeldToken, write: TokenStoreQueue.Completion?)? {
        state.withLock { state in
            if session.isOver { return nil }
            let entry = state.entries.peek(identity)
            // A token that was evicted has no version. Then only the session shows whether the new token is still
            // wanted.
            if let renewed, let entry, entry.version != renewed { return nil }
            state.changeCount += 1
            let held = HeldToken(token, version: state.changeCount, leeway: leeway, isNew: true, clock: clock)
            state.update(identity) { entry in
                // The new entry does not record an earlier notification. After a sign-in, the app may be notified of a
                // needed login again; before a renewal, there was nothing to notify of.
                let (backoff, endpointBackoffs) =
                    renewed == nil
                    ? (RenewalBackoff(), EndpointBackoffs())
                    : (entry.backoff.renewed(at: clock.now), entry.endpointBackoffs)
                entry = Entry(
                    knowledge: .held(held), version: held.version, session: session, backoff: backoff,
                    endpointBackoffs: endpointBackoffs)
            }
            return (held, key(of: identity).map { store.add(.save(token), at: $0) })
        }
    }

    /// Removes a token that the service will not renew.
    func drop(_ identity: TokenIdentity, ifVersion expected: UInt64) {
        state.withLock { state in
            guard state.entries.peek(identity)?.version == expected else { return }
            _ = drop(identity, &state)
        }
    }

    /// Removes the token of a session that has ended, and returns the pending change of the token store. The token of a
    /// later session is not removed.
    func drop(_ identity: TokenIdentity, of session: AccountSession) -> TokenStoreQueue.Completion? {
        state.withLock { state in
            if let owner = state.entries.peek(identity)?.session, owner != session, !owner.isOver { return nil }
            return drop(identity, &state)
        }
    }

    private func drop(_ identity: TokenIdentity, _ state: inout State) -> TokenStoreQueue.Completion? {
        state.changeCount += 1
        let version = state.changeCount
        // The token is recorded as absent, so that it is not loaded again before the store has removed it.
        state.update(identity) {
            $0 = Entry(
                knowledge: .absent, version: version, session: $0.session, loginSession: $0.loginSession)
        }
        return key(of: identity).map { store.add(.remove, at: $0) }
    }

    private func key(of identity: TokenIdentity) -> TokenKey? {
        identity.account.map {
            TokenKey(
                network: network, service: identity.service.name, environment: identity.environment.name, account: $0)
        }
    }
}

extension AccessTokens {
    var signedInAccounts: SignedInAccounts {
        @Sendable func key(_ service: String, _ environment: String) -> AccountKey {
            AccountKey(network: network, service: service, environment: environment)
        }
        return SignedInAccounts { [store] service, environment in
            do {
                return .success(try store.signedInAccount(at: key(service, environment)))
            } catch {
                let detail = "It can't be read who is signed in to \(service): \(error.redactedDescription)"
                return .failure(NetworkError(.storage, in: .authorizing, detail, underlying: error))
            }
        } store: { [store] account, service, environment in
            store.setAccount(account, at: key(service, environment))
        }
    }
}

extension AccessTokens {
    /// The maximum number of waits for the store that continue without a caller. When it is reached, the store counts
    /// as hanging.
    static let maximumAbandonedWaits = 8

    /// Waits until a change of the store is made, at most for the store's deadline.
    ///
    /// - Throws: The reason why the change was not made.
    func settle(_ write: TokenStoreQueue.Completion) async throws {
        try await waiting { try await write.value.get() }
    }

    /// Waits for the store, but at most for its deadline. After that the work continues without a caller.
    private func waiting<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
        let late = SlowTokenStore(limit: storeDeadline)
        let mayWait = state.withLock { state in
            guard state.waitCount - state.awaitedCount < Self.maximumAbandonedWaits else { return false }
            state.awaitedCount += 1
            return true
        }
        guard mayWait else { throw late }
        defer { state.withLock { $0.awaitedCount -= 1 } }
        let race = Race<Result<Value, any Error>>()
        let timeout = timer.schedule(at: clock.now + storeDeadline) { race.finish(.failure(late)) }
        defer { timer.remove(timeout) }
        return try await race.run(onCancel: .failure(CancellationError())) { [self] in
            state.withLock { $0.waitCount += 1 }
            defer { state.withLock { $0.waitCount -= 1 } }
            do { return .success(try await work()) } catch { return .failure(error) }
        }.get()
    }
}

struct SlowTokenStore: DescribedError {
    let limit: Duration

    var description: String { "the store did not respond within \(limit.text)" }
}

extension AccessToken {
    /// Whether the token can be sent in a header field.
    var isUsable: Bool { !value.isEmpty && HTTPField.isValidValue(value) }
}
