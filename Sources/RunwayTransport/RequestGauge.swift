import Runway
import Synchronization

/// Counts the requests in flight, so that a shutdown can wait for them.
final class RequestGauge: Sendable {
    fileprivate struct State {
        var count = 0
        var isClosed = false
        var idleWaiters: [UInt64: CheckedContinuation<Void, Never>] = [:]
        var waiterCount: UInt64 = 0
    }

    /// Guards the count, and the callers that wait until the count is zero.
    private let state = Mutex(State())

    /// Counts a new request. Returns `false` if the gauge is closed.
    func begin() -> Bool {
        state.withLock { state in
            if !state.isClosed { state.count += 1 }
            return !state.isClosed
        }
    }

    func end() {
        let waiters = state.withLock { state in
            state.count -= 1
            return state.count == 0 ? state.takeWaiters() : []
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Refuses further requests, and waits for those in flight, up to a maximum time, or until its task is cancelled.
    func close(waitingAtMost limit: Duration) async {
        state.withLock { $0.isClosed = true }
        guard limit > .zero else { return }
        await withTaskGroup { group in
            group.addTask { await self.idle() }
            // The sleep ends early only if no request is in flight or the caller was cancelled; the wait ends in both
            // cases.
            group.addTask { try? await LayerClock.system.sleep(until: limit) }
            await group.next()
            group.cancelAll()
        }
    }

    private func idle() async {
        let id = state.withLock { state in
            state.waiterCount += 1
            return state.waiterCount
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isIdle = state.withLock { state in
                    if state.count == 0 || Task.isCancelled { return true }
                    state.idleWaiters[id] = continuation
                    return false
                }
                if isIdle { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.idleWaiters.removeValue(forKey: id) }?.resume()
        }
    }
}

extension RequestGauge.State {
    fileprivate mutating func takeWaiters() -> [CheckedContinuation<Void, Never>] {
        defer { idleWaiters = [:] }
        return Array(idleWaiters.values)
    }
}
