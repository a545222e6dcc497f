import Dispatch
import Synchronization

/// An error of committing a group. If only one element causes it, the other elements are committed without that
/// element.
package protocol CommitError: Error {
    /// Whether the commit fails only because of one element: a value that the database does not accept, or a damaged
    /// row.
    var isOfOneElement: Bool { get }
}

/// Limits for the pending elements of a ``GroupCommit``, and for the elements that are committed together.
package struct CommitQueueLimits: Sendable, Hashable {
    package var maximumWaitingCount: Int
    /// The maximum size of the pending elements in bytes.
    package var maximumWaitingByteCount: Int
    /// The maximum number of elements in one transaction.
    package var maximumGroupCount: Int
    /// The maximum size of one transaction in bytes. A larger element is committed in its own transaction.
    package var maximumGroupByteCount: Int

    package init(
        maximumWaitingCount: Int, maximumWaitingByteCount: Int, maximumGroupCount: Int, maximumGroupByteCount: Int
    ) {
        self.maximumWaitingCount = max(1, maximumWaitingCount)
        self.maximumWaitingByteCount = max(1, maximumWaitingByteCount)
        self.maximumGroupCount = max(1, maximumGroupCount)
        self.maximumGroupByteCount = max(1, maximumGroupByteCount)
    }
}

/// Groups elements for a commit: the elements that arrive while the previous transaction is being committed.
struct CommitQueue<Element> {
    enum Addition: Equatable {
        /// The element is enqueued, and the caller must start a commit.
        case begins
        /// The element is enqueued until the current transaction ends.
        case waits
        /// The element is refused because a limit on pending elements is reached.
        case full
        /// The element is refused because the queue is closed.
        case closed
    }

    let limits: CommitQueueLimits
    private var waiting: [(element: Element, byteCount: Int)] = []
    private var waitingByteCount = 0
    private var isCommitting = false
    private var isClosed = false

    init(_ limits: CommitQueueLimits) { self.limits = limits }

    /// Adds an element. An empty queue accepts an element of any size.
    mutating func add(_ element: Element, byteCount: Int) -> Addition {
        if isClosed { return .closed }
        let isRoom =
            waiting.count < limits.maximumWaitingCount
            && (waiting.isEmpty || waitingByteCount + byteCount <= limits.maximumWaitingByteCount)
        guard isRoom else { return .full }
        waiting.append((element, byteCount))
        waitingByteCount += byteCount
        if isCommitting { return .waits }
        isCommitting = true
        return .begins
    }

    /// Returns the next group in the order of addition. If no element is pending, it returns an empty group, and no
    /// commit counts as running.
    mutating func next() -> [Element] {
        var (count, byteCount) = (0, 0)
        while count < min(waiting.count, limits.maximumGroupCount),
            count == 0 || byteCount + waiting[count].byteCount <= limits.maximumGroupByteCount
        {
            byteCount += waiting[count].byteCount
            count += 1
        }
        let group = waiting.prefix(count).map(\.element)
        waiting.removeFirst(count)
        waitingByteCount -= byteCount
        isCommitting = !group.isEmpty
        return group
    }

    /// Refuses further elements. Returns whether a commit is running; if so, its task also commits the pending
    /// elements.
    mutating func close() -> Bool {
        isClosed = true
        return isCommitting
    }
}

/// Commits the elements of many tasks in few transactions, on a thread that may block.
///
/// Elements that arrive while a transaction is being committed are enqueued for the next one. They share the cost of
/// one disk sync, or of one round trip to a database server. No element waits for a group to fill.
package final class GroupCommit<Element: Sendable, Value: Sendable>: Sendable {
    private struct Waiter {
        let element: Element
        let continuation: CheckedContinuation<Value, any Error>
    }

    private struct State {
        var queue: CommitQueue<Waiter>
        var closers: [CheckedContinuation<Void, Never>] = []
    }

    /// Guards the queue, and the callers of `close()` that wait until the queue is empty.
    private let state: Mutex<State>
    private let queue: DispatchQueue
    private let commit: @Sendable ([Element]) throws -> [Value]

    /// Creates a group commit with its own dispatch queue.
    ///
    /// - Parameters:
    ///   - label: The name of the dispatch queue.
    ///   - limits: The limits.
    ///   - commit: Commits a group in one transaction, and returns a value for each element, in order. It may block. An
    ///     error that it throws is thrown to every waiter of the group. If a ``CommitError`` concerns one element,
    ///     halves of the group are committed separately instead, down to the failing element.
    package init(
        label: String, limits: CommitQueueLimits,
        commit: @escaping @Sendable ([Element]) throws -> [Value]
    ) {
        state = Mutex(State(queue: CommitQueue(limits)))
        queue = DispatchQueue(label: label)
        self.commit = commit
    }

    /// Commits an element, and returns when its transaction is committed. Cancelling the task has no effect.
    ///
    /// - Throws: ``StoreRefusal/busy`` if too many elements are pending, `CancellationError` after ``close()``, or the
    ///   error of the commit.
    package func commit(_ element: Element, byteCount: Int) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            let addition = state.withLock {
                $0.queue.add(Waiter(element: element, continuation: continuation), byteCount: byteCount)
            }
            switch addition {
            case .begins: queue.async { self.run() }
            case .waits: break
            case .full: continuation.resume(throwing: StoreRefusal.busy)
            case .closed: continuation.resume(throwing: CancellationError())
            }
        }
    }

    /// Refuses further elements, and returns when each pending element is committed or has failed.
    package func close() async {
        await withCheckedContinuation { continuation in
            let isCommitting = state.withLock { state in
                let isCommitting = state.queue.close()
                if isCommitting { state.closers.append(continuation) }
                return isCommitting
            }
            if !isCommitting { continuation.resume() }
        }
    }

    private func run() {
        while true {
            let (group, closers) = state.withLock { state -> ([Waiter], [CheckedContinuation<Void, Never>]) in
                let group = state.queue.next()
                guard group.isEmpty else { return (group, []) }
                // One lock covers the end of the run and the removal of the callers of `close()` that wait for it,
                // since later callers may have to wait for another run.
                let closers = state.closers
                state.closers = []
                return (group, closers)
            }
            if group.isEmpty {
                for closer in closers { closer.resume() }
                return
            }
            run(group)
        }
    }

    private func run(_ group: [Waiter]) {
        switch Result(catching: { try commit(group.map(\.element)) }) {
        case .success(let values):
            precondition(values.count == group.count, "A commit returns a value for each element")
            for (waiter, value) in zip(group, values) { waiter.continuation.resume(returning: value) }
        case .failure(let error as any CommitError) where group.count > 1 && error.isOfOneElement:
            // The order within each half does not change. One failing element of 256 costs 16 more transactions.
            run(Array(group.prefix(group.count / 2)))
            run(Array(group.dropFirst(group.count / 2)))
        case .failure(let error): for waiter in group { waiter.continuation.resume(throwing: error) }
        }
    }
}
