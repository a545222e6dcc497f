public import Foundation
public import Runway

// The waiting changes, and the decisions of the app about them.
extension OfflineQueue {
    /// Returns all changes, of all services and accounts, in the order of their calls. A change that has succeeded is
    /// no longer among them when its handler is called.
    ///
    /// - Throws: ``StorageError`` if the file can't be read.
    public func changes() async throws(StorageError) -> [QueuedChange] { try await list() }

    /// Returns the changes of the account that is signed in to a service, in the order of their calls, as
    /// ``changes()``.
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

    /// Returns the changes of one scope or, with `nil`, of all.
    private func list(_ scope: String? = nil) async throws(StorageError) -> [QueuedChange] {
        let (journal, drainer, _) = try parts()
        return try await journal.list(scope).filter { !drainer.isDelivered($0.id) }
    }

    /// Sends the waiting changes, for an app that asks for it or that goes to the background.
    ///
    /// The function returns when all changes are sent, or when no more can be sent now: an attempt failed, or there is
    /// no network. Pauses that servers asked for still apply, but not the delay by a `ChatClient` whose stream has not
    /// caught up (``delayChanges(of:in:for:owner:upTo:)``). The function also returns when the waiting task is
    /// cancelled; sending continues.
    ///
    /// While a handler of a result runs, calls of this function by the handler, and by tasks that it has started, do
    /// not wait: the next change is sent after the handler has returned. A call by a detached task waits, so that the
    /// handler must not wait for that task.
    ///
    /// The system's time in the background (`BackgroundGrace`) is taken before anything is read, and ended when the
    /// function returns.
    public func flush() async {
        guard let (_, drainer, link) = try? parts() else { return }
        let grace = link.beginGrace("OfflineQueue")
        defer { grace?.end() }
        await drainer.flush()
    }

    /// Removes a change that waits. One that is being sent is cancelled.
    ///
    /// - Returns: Whether the change certainly has no effect; `false` if it is being sent or the server may have taken
    ///   it, if it can't be decrypted, or if it is gone already.
    /// - Throws: ``StorageError`` if the file can't be written.
    @discardableResult
    public func cancel(_ id: UUID) async throws(StorageError) -> Bool {
        try await remove([id]).contains(id)
    }

    /// Replaces the call of a change, which keeps its position in the order.
    ///
    /// A change can be edited while the server certainly has not executed it: it never reached the server, or its only
    /// attempt was refused. It waits again, and has a new `Idempotency-Key`. A change that may have been executed can't
    /// be edited, unless the server says that it repeats its refusal or failure for the key (`Idempotency-Replayed`).
    ///
    /// - Parameters:
    ///   - id: The change.
    ///   - endpoint: The call in place of the former one, of an endpoint of the same service.
    /// - Throws: ``StorageError/Kind/rejected`` for a change that may have reached the server, that is gone or that
    ///   another account made, and for a call that can't be stored; other kinds if the file can't be written.
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

    /// Sends changes again that the server refused, or that expired. Each change keeps its position in the order.
    ///
    /// A change that the server may have executed keeps its `Idempotency-Key`, so that it has one effect. This holds
    /// for every kind of refusal: the refusal of a gateway, or of a server that has not yet looked up the key, shows
    /// nothing about an earlier attempt. Such a change can be sent again until it is ``OfflineQueueOptions/maximumAge``
    /// old: after that the server may have forgotten the key, and would execute the change again. The app then decides
    /// whether it only discards the change, or makes its call anew. All other changes get a new key.
    ///
    /// - Throws: ``StorageError/Kind/rejected`` if one of the changes may have been executed and is older than that,
    ///   and then none is sent again; other kinds if the file can't be written.
    public func retry(_ ids: Set<UUID>) async throws(StorageError) {
        let (journal, drainer, _) = try parts()
        try await journal.retry(ids)
        drainer.loop.change { $0.prompt() }
    }

    /// Removes changes, such as those that the server refused.
    ///
    /// - Parameters:
    ///   - ids: The changes.
    ///   - dependents: Whether the changes that are held because of them are removed, too; otherwise they are sent. The
    ///     default is `true`.
    /// - Throws: ``StorageError`` if the file can't be written.
    public func discard(_ ids: Set<UUID>, withDependents dependents: Bool = true) async throws(StorageError) {
        if dependents {
            try await remove(try parts().journal.withDependents(ids))
        } else {
            try await remove(ids)
        }
    }

    /// Removes all changes of an account, and overwrites their bytes in the file. The effects of changes that the
    /// server has executed stay.
    ///
    /// Call the function after a sign-out, since the queue stores waiting changes until the account signs in again. The
    /// system's time in the background (`BackgroundGrace`) is taken before anything is removed, and ended when the
    /// function returns.
    ///
    /// - Parameter account: The account, as in `ServiceSettings.account`; `nil` for changes that were made while no
    ///   account was signed in.
    /// - Throws: ``StorageError`` if the file can't be written; some changes may be removed then. On a full disk the
    ///   queue has space of its own for this; `docs/storage.md` says when that is not enough.
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
