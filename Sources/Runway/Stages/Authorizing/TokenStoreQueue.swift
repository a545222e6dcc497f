import Synchronization

/// The pending changes of a token store: of tokens, and of the signed-in accounts. They are made one at a time; for
/// each key only the newest pending change is made.
///
/// The queue is bounded, so that a store that hangs can't make it grow: a change for one key more than ``maximumKeys``
/// fails at once. A token that could not be removed from the store is not loaded again. If a save fails that replaced a
/// pending removal, or that follows a failed one, the queue removes the stored token, since it is from before a
/// sign-out.
final class TokenStoreQueue: Sendable {
    /// The most keys with a pending change, and the most with a failed removal.
    static let maximumKeys = 1000

    /// The end of a change. Any number of tasks may wait for it.
    typealias Completion = Task<Result<Void, any Error>, Never>

    enum Change: Sendable {
        case save(AccessToken)
        case remove
        case setAccount(String?)
    }

    /// The key of a change.
    fileprivate enum Subject: Sendable, Hashable {
        case token(TokenKey)
        case account(AccountKey)
    }

    fileprivate struct Pending: Sendable {
        let key: Subject
        var change: Change
        /// Whether the change replaces a removal that had not started.
        var replacesRemoval = false
        let outcome: Deferred<Result<Void, any Error>>
        let completion: Completion
    }

    fileprivate struct State {
        /// The changes that have not started, the oldest first.
        var pending: [Pending] = []
        /// The change that is being made.
        var current: Pending?
        /// The keys whose tokens could not be removed from the store.
        var unremoved: Set<TokenKey> = []
        /// The keys whose last change has succeeded since more removals had failed than ``unremoved`` may hold; tokens
        /// are then loaded for no other key. `nil` before that.
        var changed: Set<TokenKey>?

        func mayLoad(_ key: TokenKey) -> Bool { changed?.contains(key) ?? !unremoved.contains(key) }
    }

    private let store: any TokenStore
    /// Guards the changes.
    private let state = Mutex(State())

    init(_ store: any TokenStore) { self.store = store }

    /// Enqueues a change of a token after the earlier ones. Returns immediately. Enqueues a change of the signed-in
    /// account after the earlier ones. Returns immediately.
    func add(_ change: Change, at key: TokenKey) -> Completion { add(change, of: .token(key)) }

    /// Enqueues a change of the signed-in account after the earlier ones. Returns immediately.
    func setAccount(_ account: String?, at key: AccountKey) -> Completion {
        add(.setAccount(account), of: .account(key))
    }

    private func add(_ change: Change, of key: Subject) -> Completion {
        state.withLock { state in
            if let index = state.pending.firstIndex(where: { $0.key == key }) {
                if case .remove = state.pending[index].change { state.pending[index].replacesRemoval = true }
                state.pending[index].change = change
                return state.pending[index].completion
            }
            guard state.pending.count < Self.maximumKeys else {
                if case (.remove, .token(let key)) = (change, key) { state.distrust(key) }
                return Task { .failure(CrowdedTokenStore()) }
            }
            let outcome = Deferred<Result<Void, any Error>>()
            let pending = Pending(
                key: key, change: change, outcome: outcome, completion: Task.detached { await outcome.value })
            state.pending.append(pending)
            if state.current == nil, let first = state.begin() { Task.detached { await self.make(first) } }
            return pending.completion
        }
    }

    /// Returns the account that was signed in when the app ended. Reads the store at once, for as long as no account
    /// has signed in or out.
    func signedInAccount(at key: AccountKey) throws -> String? { try store.signedInAccount(at: key) }

    /// Returns the token in the store after all changes of the key are made; `nil` also if the store should have none.
    func load(_ key: TokenKey) async throws -> AccessToken? {
        while let completion = state.withLock({ $0.completion(of: .token(key)) }) { _ = await completion.value }
        guard state.withLock({ $0.mayLoad(key) }) else { return nil }
        return try await store.load(key)
    }

    /// Makes a change, and then all changes that are pending by that time.
    private func make(_ first: Pending) async {
        var next: Pending? = first
        while let pending = next {
            let result: Result<Void, any Error>
            do {
                switch (pending.change, pending.key) {
                case (.save(let token), .token(let key)): try await store.save(token, at: key)
                case (.setAccount(let account), .account(let key)): try await store.setSignedInAccount(account, at: key)
                case (_, .token(let key)): try await store.remove(key)
                case (_, .account): preconditionFailure("who is signed in is set, and neither saved nor removed")
                }
                result = .success(())
            } catch {
                result = .failure(error)
            }
            if case .token(let key) = pending.key { await settle(pending, of: key, after: result) }
            next = state.withLock { $0.begin() }
            pending.outcome.set(result)
        }
    }

    /// Decides whether the token in the store may be loaded after a change.
    private func settle(_ pending: Pending, of key: TokenKey, after result: Result<Void, any Error>) async {
        let needsRemoval = state.withLock { $0.needsRemoval(pending, of: key, after: result) }
        let isRemoved = needsRemoval ? await removeStaleToken(of: pending, at: key) : false
        state.withLock { state in
            if needsRemoval, !isRemoved {
                state.distrust(key)
            } else if isRemoved || (try? result.get()) != nil {
                state.trust(key)
            }
        }
    }

    /// Removes the token in the store if a new one could not be saved; returns whether it was removed. A failed removal
    /// is not repeated.
    private func removeStaleToken(of pending: Pending, at key: TokenKey) async -> Bool {
        guard case .save = pending.change else { return false }
        do {
            try await store.remove(key)
            return true
        } catch {
            return false
        }
    }
}

extension TokenStoreQueue.State {
    /// Removes and returns the next change, which becomes the current one.
    fileprivate mutating func begin() -> TokenStoreQueue.Pending? {
        current = pending.isEmpty ? nil : pending.removeFirst()
        return current
    }

    /// Returns the end of the last change of a key; `nil` if there is none to wait for.
    fileprivate func completion(of key: TokenStoreQueue.Subject) -> TokenStoreQueue.Completion? {
        (pending.last { $0.key == key } ?? current.flatMap { $0.key == key ? $0 : nil })?.completion
    }

    /// Returns whether a change left a token in the store that must not be loaded again.
    fileprivate func needsRemoval(
        _ pending: TokenStoreQueue.Pending, of key: TokenKey, after result: Result<Void, any Error>
    ) -> Bool {
        switch (pending.change, result) {
        case (_, .success), (.setAccount, .failure): false
        case (.remove, .failure): true
        case (.save, .failure): pending.replacesRemoval || !mayLoad(key)
        }
    }

    fileprivate mutating func trust(_ key: TokenKey) {
        unremoved.remove(key)
        if changed?.count ?? 0 < TokenStoreQueue.maximumKeys { changed?.insert(key) }
    }

    fileprivate mutating func distrust(_ key: TokenKey) {
        changed?.remove(key)
        if changed == nil { unremoved.insert(key) }
        if unremoved.count > TokenStoreQueue.maximumKeys { (unremoved, changed) = ([], []) }
    }
}

/// Too many changes wait for the token store.
struct CrowdedTokenStore: DescribedError {
    var description: String { "\(TokenStoreQueue.maximumKeys) other changes wait for the store" }
}
