#if Command
    import Synchronization

    /// The clock of the demo's app. It runs like the continuous clock, but a scene can stop and advance it.
    ///
    /// A scene stops the clock if its outcome depends on a wait of the app. The wait then ends when the scene decides,
    /// even on a slow machine.
    final class SessionClock: Clock, Sendable {
        typealias Instant = ContinuousClock.Instant

        private struct State {
            /// The time by which the running clock is ahead of the continuous clock.
            var lead = Duration.zero
            /// The instant at which the clock was stopped; `nil` while it runs.
            var heldAt: Instant?
            var count: UInt64 = 0
            /// The timers of the clock's sleepers. Each is cancelled and computed again when the clock is stopped,
            /// advanced or released.
            var timers: [UInt64: Task<Void, any Error>] = [:]

            var now: Instant { heldAt ?? .now + lead }
        }

        var minimumResolution: Duration { .nanoseconds(1) }
        var now: Instant { state.withLock { $0.now } }

        /// Guards the time and the timers.
        private let state = Mutex(State())

        /// Stops the clock while `body` runs. No sleeper wakes unless `body` advances the clock.
        func held<Value>(_ body: () async throws -> Value) async rethrows -> Value {
            change { $0.heldAt = $0.now }
            defer {
                change { state in
                    if let heldAt = state.heldAt { state.lead = ContinuousClock.now.duration(to: heldAt) }
                    state.heldAt = nil
                }
            }
            return try await body()
        }

        /// Advances the clock, and wakes the sleepers whose deadline has passed.
        func advance(by duration: Duration) {
            change { state in
                if let heldAt = state.heldAt { state.heldAt = heldAt + duration } else { state.lead += duration }
            }
        }

        func sleep(until deadline: Instant, tolerance: Duration?) async throws {
            try Task.checkCancellation()
            while let (id, timer) = startTimer(until: deadline) {
                await withTaskCancellationHandler {
                    _ = await timer.result
                } onCancel: {
                    timer.cancel()
                }
                state.withLock { _ = $0.timers.removeValue(forKey: id) }
                try Task.checkCancellation()
            }
        }

        /// Starts a timer for `deadline`, which never fires while the clock is stopped. Returns `nil` if the deadline
        /// has passed.
        private func startTimer(until deadline: Instant) -> (id: UInt64, timer: Task<Void, any Error>)? {
            state.withLock { state in
                let rest = state.now.duration(to: deadline)
                guard rest > .zero else { return nil }
                let isHeld = state.heldAt != nil
                let timer = Task {
                    repeat { try await ContinuousClock().sleep(for: isHeld ? .seconds(3600) : rest) } while isHeld
                }
                state.count += 1
                state.timers[state.count] = timer
                return (state.count, timer)
            }
        }

        private func change(_ body: (inout State) -> Void) {
            let timers = state.withLock { state in
                body(&state)
                defer { state.timers = [:] }
                return state.timers.values
            }
            for timer in timers { timer.cancel() }
        }
    }
#endif
