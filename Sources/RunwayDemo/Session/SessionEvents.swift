#if Command
    import Runway

    /// Lets a session wait for events elsewhere: a landing, a record, a request that arrives.
    @MainActor
    final class SessionEvents {
        /// The longest that anything is waited for.
        let patience: Duration
        private let signals: AsyncStream<Void>
        private let signal: AsyncStream<Void>.Continuation

        init(patience: Duration) {
            self.patience = patience
            // One signal is enough: each woken task checks its own condition.
            (signals, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        }

        /// Signals that something happened. Call it afterwards, on any thread.
        nonisolated func happened() { signal.yield() }

        /// Waits until a condition holds, and checks it after every signal.
        ///
        /// - Parameter what: The awaited state, to follow "waited for".
        /// - Throws: ``Stalled`` if it does not hold within the ``patience``, `CancellationError` when the task is
        ///   cancelled.
        func wait(for what: String, until condition: () -> Bool) async throws {
            if condition() { return }
            let clock = ContinuousClock()
            let limit = clock.now + patience
            let alarm = Task { [signal] in
                try await clock.sleep(until: limit)
                signal.yield()
            }
            defer { alarm.cancel() }
            var signals = signals.makeAsyncIterator()
            while !condition() {
                guard clock.now < limit else { throw Stalled(what: what, patience: patience) }
                guard await signals.next(isolation: #isolation) != nil else { throw CancellationError() }
            }
        }
    }

    /// Something that should have happened did not.
    struct Stalled: DescribedError {
        let what: String
        let patience: Duration
        var description: String { "waited \(patience) in vain for \(what)" }
    }
#endif
