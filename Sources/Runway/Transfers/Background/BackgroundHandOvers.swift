import Synchronization

/// The transfers that are being handed over to a background session. Records which transfers were cancelled before the
/// system had a task for them.
final class BackgroundHandOvers: Sendable {
    /// Guards the cancellations by transfer id. The lock is held while a task is created, named and started.
    private let isCancelled = Mutex<[String: Bool]>([:])

    /// Begins a hand-over.
    ///
    /// - Throws: ``NetworkError/Kind/invalidParameters`` if a hand-over with the same id is in progress.
    func begin(_ id: String) throws(NetworkError) {
        let isFree = isCancelled.withLock { handOvers in
            if handOvers[id] != nil { return false }
            handOvers[id] = false
            return true
        }
        if !isFree { throw BackgroundLedger.idInUse(id) }
    }

    /// Cancels a hand-over in progress, so that its task is not started.
    func cancel(_ id: String) {
        isCancelled.withLock { handOvers in if handOvers[id] != nil { handOvers[id] = true } }
    }

    /// Calls `start`, which must create, name and start the task of the transfer.
    ///
    /// - Throws: ``NetworkError/Kind/cancelled`` if the hand-over was cancelled. `start` is not called then.
    func start(_ id: String, _ start: () -> Void) throws(NetworkError) {
        let isStarted = isCancelled.withLock { handOvers in
            guard handOvers[id] == false else { return false }
            start()
            return true
        }
        if isStarted { return }
        throw NetworkError(
            .cancelled, in: .preparing, "The transfer was cancelled before the system had it.", sending: .notSent)
    }

    /// Ends a hand-over, whether or not its task was started.
    func end(_ id: String) { isCancelled.withLock { $0[id] = nil } }

    /// Calls `look` while no task is being started. Tasks without a name and suspended tasks then belong to a process
    /// that has ended.
    func betweenStarts(_ look: () -> Void) { isCancelled.withLock { _ in look() } }
}
