import Synchronization

/// The hand-overs to a background session that are in progress: which of them were cancelled before the system has a
/// task.
final class BackgroundHandOvers: Sendable {
    /// Guards the ids, each with whether its hand-over was cancelled. It is held while a task is made, named and
    /// started.
    private let isCancelled = Mutex<[String: Bool]>([:])

    /// Begins a hand-over.
    ///
    /// - Throws: ``NetworkError/Kind/invalidParameters`` if one with the same id is in progress.
    func begin(_ id: String) throws(NetworkError) {
        let isFree = isCancelled.withLock { handOvers in
            if handOvers[id] != nil { return false }
            handOvers[id] = false
            return true
        }
        if !isFree { throw BackgroundLedger.idInUse(id) }
    }

    /// Cancels a hand-over that is in progress, so that its task is not started.
    func cancel(_ id: String) {
        isCancelled.withLock { handOvers in if handOvers[id] != nil { handOvers[id] = true } }
    }

    /// Makes, names and starts the task of a hand-over.
    ///
    /// - Throws: ``NetworkError/Kind/cancelled`` if the hand-over was cancelled: `start` is not called then.
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

    /// Looks at the tasks of the session while none is being started: a task without a name, or one that is suspended,
    /// is of a process that has ended.
    func betweenStarts(_ look: () -> Void) { isCancelled.withLock { _ in look() } }
}
