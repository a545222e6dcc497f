#if Command
    import Synchronization

    /// The clock by which the demo's backend delays responses. Its time stands still: a delayed response waits until
    /// the session opens the gate.
    ///
    /// So the session decides the order of events, and not the speed of the machine.
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

        /// Guards the waiting continuations, one for each delayed response.
        private let state = Mutex(State())

        /// Releases every delayed response, and lets later ones pass until the gate is closed.
        func open() {
            let waiters = state.withLock { state in
                state.isOpen = true
                defer { state.waiters = [:] }
                return state.waiters.values
            }
            for waiter in waiters { waiter.resume() }
        }

        /// Delays responses again.
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
#endif
