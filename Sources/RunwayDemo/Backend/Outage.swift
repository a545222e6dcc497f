#if Command
    import Synchronization

    /// Whether the backend is down: every request then gets status 503.
    final class Outage: Sendable {
        private let state = Atomic(false)

        var isOn: Bool { state.load(ordering: .acquiring) }

        func begin() { state.store(true, ordering: .releasing) }

        func end() { state.store(false, ordering: .releasing) }
    }
#endif
