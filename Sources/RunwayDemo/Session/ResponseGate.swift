#if Command
    import RunwayTesting
    import Synchronization

    /// The clock with which the demo's backend delays responses. Its time stands still, so a delayed response waits
    /// until the session opens the gate.
    ///
    /// The order of events thus depends on the session, and not on the speed of the machine.
    final class ResponseGate: Clock, Sendable {
        let now = ContinuousClock.now
        let minimumResolution = Duration.zero
        /// Guards the gate of the responses.
        private let gate = Mutex(ScriptedGate())

        /// Releases every delayed response. Later responses are not delayed until the gate is closed.
        func open() { gate.withLock { $0 }.open() }

        func close() { gate.withLock { $0 = ScriptedGate() } }

        func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
            try await gate.withLock { $0 }.pass()
        }
    }
#endif
