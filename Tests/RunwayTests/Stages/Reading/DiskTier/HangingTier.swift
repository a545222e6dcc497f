import Runway
import Synchronization

/// A tier whose lookups hang and ignore cancellation, until a test releases them.
final class HangingTier: CacheTier {
    private struct State {
        var looks: [CheckedContinuation<Void, Never>] = []
        var lookCount = 0
        var hangs = true
    }

    /// Guards the looks that are under way.
    private let state = Mutex(State())
    private let isHeld: @Sendable (CacheTierKey) -> Bool

    init(mayHold isHeld: @escaping @Sendable (CacheTierKey) -> Bool = { _ in true }) { self.isHeld = isHeld }

    func mayHold(_ key: CacheTierKey) -> Bool { isHeld(key) }

    /// How many looks were begun.
    var lookCount: Int { state.withLock { $0.lookCount } }

    func find(_ key: CacheTierKey) async throws -> CacheTierEntry? {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                state.lookCount += 1
                if state.hangs { state.looks.append(continuation) }
                return !state.hangs
            }
            if isOver { continuation.resume() }
        }
        return nil
    }

    /// Lets all looks end, those that are under way and those to come.
    func release() {
        let looks = state.withLock { state in
            state.hangs = false
            defer { state.looks = [] }
            return state.looks
        }
        for look in looks { look.resume() }
    }

    func apply(_ changes: [CacheTierChange]) async throws {}
}
