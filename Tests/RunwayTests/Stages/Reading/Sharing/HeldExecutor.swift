import Dispatch
import RunwayTesting
import Synchronization

/// Runs the tasks that prefer it, one at a time, until a test holds it: then what they would go on with waits.
final class HeldExecutor: TaskExecutor {
    private struct State {
        var due: [UnownedJob] = []
        var isRunning = false
        var isHeld = false
    }

    /// Guards what is to run.
    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "held executor")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        state.withLock { $0.due.append(job) }
        queue.async { self.runNext() }
    }

    /// Runs nothing from now on. What was running has come to its next wait when this returns.
    func hold() async throws {
        state.withLock { $0.isHeld = true }
        try await waitUntil { !state.withLock({ $0.isRunning }) }
    }

    /// Runs everything again.
    func release() {
        let count = state.withLock { state in
            state.isHeld = false
            return state.due.count
        }
        for _ in 0..<count { queue.async { self.runNext() } }
    }

    private func runNext() {
        let job = state.withLock { state -> UnownedJob? in
            if state.isHeld || state.due.isEmpty { return nil }
            state.isRunning = true
            return state.due.removeFirst()
        }
        guard let job else { return }
        job.runSynchronously(on: asUnownedTaskExecutor())
        state.withLock { $0.isRunning = false }
    }
}
