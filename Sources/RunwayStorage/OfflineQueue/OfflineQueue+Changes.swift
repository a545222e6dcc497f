public import Foundation
public import Runway

// The waiting changes, and the app's decisions about them.
extension OfflineQueue {
    /// Returns all changes of all services and accounts, in the order of their calls. A change that has succeeded is
    /// removed from this list before its handler is called.
    ///
    /// - Throws: ``StorageError`` if the file can't be read.
    public func changes() async throws(StorageError) -> [QueuedChange] { try await list() }

    /// Returns the changes of a service's signed-in account, in the order of their calls; see ``changes()``.
    ///
    /// - Throws: ``StorageError`` if the file can't be read.
    public func changes<Service: APIService>(
        of service: Service.Type, on network: NetworkLayer
    ) async throws(StorageError) -> [QueuedChange] {
        let settings = network.settings(of: service)
        let scope = ChangeScope(
            service: service.name, environment: settings.environment.name, account: settings.account)
        return try await list(scope.text)
    }

    /// Returns the changes of a scope (an account of a service), or of all scopes if `scope` is `nil`.
    private func list(_ scope: String? = nil) async throws(StorageError) -> [QueuedChange] {
        let (journal, drainer, _) = try parts()
        return try await journal.list(scope).filter { !drainer.isDelivered($0.id) }
    }

    /// Sends the waiting changes. Call this function when the app goes to the background, or when its user asks for it.
    ///
    /// The function returns when all changes are sent, or when no more can be sent now because an attempt failed or
    /// there is no network. If its task is cancelled, it returns, too, and sending continues. Pauses that servers asked
    /// for still apply, but not the delay of a `ChatClient` (``delayChanges(of:in:for:owner:upTo:)``).
    ///
    /// If a result handler calls this function, or a task that the handler started, the function does not wait: the
    /// next change is sent after the handler has returned. A call in a detached task waits, so the handler must not
    /// wait for such a task.
    ///
    /// The function uses the background time that the system grants (`BackgroundGrace`), from its start to its return.
    public func flush() async {
        guard let (_, drainer, link) = try? parts() else { return }
        let grace = link.beginGrace("OfflineQueue")
        defer { grace?.end() }
        await drainer.flush()
    }

    /// Removes a waiting change. If the change is in flight, its call is cancelled.
    ///
    /// - Returns: Whether the change certainly has no effect. It is `false` if the change is in flight or may have
    ///   reached the server, can't be decrypted, or does not exist any more.
    /// - Throws: ``StorageError`` if the file can't be written.
    @discardableResult
    public func cancel(_ id: UUID) async throws(StorageError) -> Bool {
        try await remove([id]).contains(id)
    }

    /// Replaces the call of a change. The position of the change stays.
    ///
    /// A change can be edited if the server certainly has not executed it: it never reached the server, or its only
    /// attempt was refused. It waits again with a new `Idempotency-Key`. A change that may have been executed can't be
    /// edited, with one exception: the server's response states that it repeats a stored refusal or failure for the key
    /// (`Idempotency-Replayed`).
    ///
    /// - Parameters:
    ///   - id: The id of the change.
    ///   - endpoint: The new call, of an endpoint of the same service.
    /// - Throws: ``StorageError/Kind/rejected`` if the change may have been executed, does not exist any more or
    ///   belongs to another account, or if the call can't be stored. Other kinds if the file can't be written.
    public func edit<E: Endpoint>(_ id: UUID, to endpoint: E) async throws(StorageError) {
        let (journal, drainer, link) = try parts()
        guard accepts(E.self) else {
            throw StorageError(.rejected, "The queue does not know the endpoint \(E.name).")
        }
        let change: UnsentChange
        do throws(NetworkError) {
            change = try link.assemble(endpoint)
        } catch {
            throw StorageError(.rejected, error.detail)
        }
        try await journal.replace(id, with: change, at: link.clock.date)
        drainer.loop.wake()
    }

    /// Sends refused or expired changes again. Their positions stay.
    ///
    /// A change that may have been executed is sent with its previous `Idempotency-Key`, so that it has one effect.
    /// This includes every kind of refusal: a gateway, or a server that has not looked up the key yet, may refuse a
    /// request whose earlier attempt was executed. All other changes get a new key.
    ///
    /// A change with its previous key can be sent again until it is ``OfflineQueueOptions/maximumAge`` old. Later the
    /// server may have lost the key, and would execute the change twice. The app then either discards the change or
    /// makes its call again.
    ///
    /// - Throws: ``StorageError/Kind/rejected`` if one of the changes may have been executed and is too old; none is
    ///   sent then. Other kinds if the file can't be written.
    public func retry(_ ids: Set<UUID>) async throws(StorageError) {
        let (journal, drainer, _) = try parts()
        try await journal.retry(ids)
        drainer.loop.change { $0.prompt() }
    }

    /// Removes changes, for example those that the server refused.
    ///
    /// - Parameters:
    ///   - ids: The ids of the changes.
    ///   - dependents: Whether to remove the changes that are held because of them, too. If `false`, they are sent. The
    ///     default is `true`.
    /// - Throws: ``StorageError`` if the file can't be written.
    public func discard(_ ids: Set<UUID>, withDependents dependents: Bool = true) async throws(StorageError) {
        if dependents {
            try await remove(try parts().journal.withDependents(ids))
        } else {
            try await remove(ids)
        }
    }

    /// Removes all changes of an account, and overwrites their bytes in the file. Executed changes are not undone.
    ///
    /// Call this function after a sign-out. Otherwise waiting changes stay until the account signs in again. The
    /// function uses the background time that the system grants (`BackgroundGrace`), from its start to its return.
    ///
    /// - Parameter account: The account, as in `ServiceSettings.account`; `nil` for changes without an account.
    /// - Throws: ``StorageError`` if the file can't be written; some changes may be removed already. For a full disk,
    ///   the queue has reserved space; `docs/storage.md` describes its limits.
    public func erase(account: String?) async throws(StorageError) {
        let (journal, drainer, link) = try parts()
        let grace = link.beginGrace("OfflineQueue")
        defer { grace?.end() }
        try await journal.erase(account: account) { erased in
            drainer.cancel(erased)
            for id in erased { link.forget(id) }
            drainer.loop.wake()
        }
    }

    @discardableResult
    private func remove(_ ids: Set<UUID>) async throws(StorageError) -> Set<UUID> {
        let (journal, drainer, link) = try parts()
        let removed = try await journal.remove(ids)
        drainer.cancel(ids)
        for id in ids { link.forget(id) }
        drainer.loop.wake()
        return removed
    }
}
