import Synchronization

/// The clock by which the demo's backend puts answers off. Its time stands still: what is put off waits until the session lets it go.
///
/// So it is the session that decides what comes before what, and not how fast the machine is.
final class ResponseGate: Clock, Sendable {
    struct Instant: InstantProtocol {
        var offset: Duration

        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private struct State {
        var isOpen = false
        var count: UInt64 = 0
        var waiters: [UInt64: CheckedContinuation<Void, Never>] = [:]
    }

    let now = Instant(offset: .zero)
    let minimumResolution = Duration.zero

    /// Guards who waits, one for each request whose response is put off.
    private let state = Mutex(State())

    /// Lets go of every response that is put off, and of those to come until the gate is closed.
    func open() {
        let waiters = state.withLock { state in
            state.isOpen = true
            defer { state.waiters = [:] }
            return state.waiters.values
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Lets answers be put off again.
    func close() {
        state.withLock { $0.isOpen = false }
    }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let id = state.withLock { state in
            state.count += 1
            return state.count
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let mustWait = state.withLock { state in
                    // A task is marked cancelled before its handler runs: either this sees it, or the handler finds the waiter.
                    guard !state.isOpen, !Task.isCancelled else { return false }
                    state.waiters[id] = continuation
                    return true
                }
                if !mustWait { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: id) }?.resume()
        }
        try Task.checkCancellation()
    }
}
