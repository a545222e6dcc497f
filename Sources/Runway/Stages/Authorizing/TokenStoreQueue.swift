import Synchronization

/// The pending changes of a token store, to tokens and to the signed-in accounts. They are made one at a time. For each
/// key only the latest pending change is made.
///
/// The queue can't grow without limit if the store hangs: beyond ``maximumKeys`` keys a change fails at once. A token
/// that could not be removed from the store is not loaded again. If a save fails after a removal that was pending or
/// failed, the stored token is from before a sign-out, so the queue removes it.
final class TokenStoreQueue: Sendable {
    /// The maximum number of keys with a pending change, and of keys with a failed removal.
    static let maximumKeys = 1000

    /// The result of a change. Any number of tasks may wait for it.
    typealias Completion = Task<Result<Void, any Error>, Never>

    enum Change: Sendable {
        case save(AccessToken)
        case remove
        case setAccount(String?)
    }

    fileprivate enum Subject: Sendable, Hashable {
        case token(TokenKey)
        case account(AccountKey)
    }

    fileprivate struct Pending: Sendable {
        let key: Subject
        var change: Change
        /// Whether the change replaced a removal that had not started.
        var replacesRemoval = false
        let outcome: Deferred<Result<Void, any Error>>
        let completion: Completion
    }

    fileprivate struct State {
        /// The changes that have not started, oldest first.
        var pending: [Pending] = []
        /// The change in progress.
        var current: Pending?
        /// The keys whose tokens could not be removed from the store.
        var unremoved: Set<TokenKey> = []
        /// The keys whose last change succeeded after ``unremoved`` had become full. Tokens are then loaded only for
        /// these keys. `nil` while ``unremoved`` is not full.
        var changed: Set<TokenKey>?

        func mayLoad(_ key: TokenKey) -> Bool { changed?.contains(key) ?? !unremoved.contains(key) }
    }

    private let store: any TokenStore
    /// Guards the changes.
    private let state = Mutex(State())

    init(_ store: any TokenStore) { self.store = store }

    /// Enqueues a change of a token after the earlier changes. Returns immediately.
    func add(_ change: Change, at key: TokenKey) -> Completion { add(change, of: .token(key)) }

    /// Enqueues a change of the signed-in account after the earlier changes. Returns immediately.
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

    /// Returns the account that was signed in when the app ended. Reads the store directly. Used only until an account
    /// signs in or out.
    func signedInAccount(at key: AccountKey) throws -> String? { try store.signedInAccount(at: key) }

    /// Returns the token in the store, after all changes of its key are made. Returns `nil` if there is none, or if the
    /// token should have been removed.
    func load(_ key: TokenKey) async throws -> AccessToken? {
        while let completion = state.withLock({ $0.completion(of: .token(key)) }) { _ = await completion.value }
        guard state.withLock({ $0.mayLoad(key) }) else { return nil }
        return try await store.load(key)
    }

    /// Makes a change, and then all changes that are pending when it ends.
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

    /// Decides after a change whether the token in the store may be loaded.
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

    /// Removes the token in the store if a new one could not be saved. Returns whether it was removed. A failed removal
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
    /// Removes the next pending change from the queue and makes it the current one.
    fileprivate mutating func begin() -> TokenStoreQueue.Pending? {
        current = pending.isEmpty ? nil : pending.removeFirst()
        return current
    }

    /// Returns the result of the last pending change of a key, or `nil` if there is none to wait for.
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

struct CrowdedTokenStore: DescribedError {
    var description: String { "\(TokenStoreQueue.maximumKeys) other changes wait for the store" }
}
