import Foundation
import GRDB
import Synchronization

/// Knows whether GRDB interrupts transactions because the app is being suspended.
final class Suspension: Sendable {
    fileprivate struct State {
        var isSuspended = false
        var waiters: [AsyncStream<Void>.Continuation] = []
    }

    /// Guards whether the app is being suspended, and the writes that wait until it resumes.
    private let state = Mutex(State())
    /// Guards the registrations, which are removed with this object.
    private let observers = Mutex<[any NSObjectProtocol]>([])

    init() {
        observe(Database.suspendNotification) { $0.isSuspended = true }
        observe(Database.resumeNotification) { state in
            state.isSuspended = false
            for waiter in state.waiters { waiter.finish() }
            state.waiters = []
        }
    }

    deinit {
        observers.withLock { for observer in $0 { NotificationCenter.default.removeObserver(observer) } }
    }

    /// Whether the app is being suspended, or is suspended.
    var isActive: Bool { state.withLock { $0.isSuspended } }

    /// Returns when transactions are possible again; immediately if they are possible now.
    ///
    /// - Returns: `false` if the task was cancelled before.
    func waitForEnd() async -> Bool {
        let (stream, waiter) = AsyncStream<Void>.makeStream()
        state.withLock { state in
            if state.isSuspended { state.waiters.append(waiter) } else { waiter.finish() }
        }
        for await _ in stream {}
        return !Task.isCancelled
    }

    private func observe(_ name: Notification.Name, _ change: @escaping @Sendable (inout State) -> Void) {
        observers.withLock { observers in
            observers.append(
                NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) { [weak self] _ in
                    self?.state.withLock { change(&$0) }
                })
        }
    }
}
