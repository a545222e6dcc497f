import Dispatch
import Synchronization

/// An error of a commit that may concern only one element: the others of its group are then committed without it.
package protocol CommitError: Error {
    /// Whether only the element can't be committed, for example because of a value that the database does not accept or
    /// a damaged row, and not the database as a whole.
    var isOfOneElement: Bool { get }
}

/// Limits for the elements that wait for a ``GroupCommit``, and for those that are committed together.
package struct CommitQueueLimits: Sendable, Hashable {
    /// The most elements that wait.
    package var maximumWaitingCount: Int
    /// The most bytes of elements that wait.
    package var maximumWaitingByteCount: Int
    /// The most elements of one transaction.
    package var maximumGroupCount: Int
    /// The most bytes of one transaction; a larger element is committed by itself.
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

/// Decides which elements are committed together: those that arrive while the previous transaction is being committed.
struct CommitQueue<Element> {
    /// The result of adding an element.
    enum Addition: Equatable {
        /// The element waits, and the owner of the queue must begin to commit.
        case begins
        /// The element waits for the end of the current transaction.
        case waits
        /// The element is refused: the limit on waiting elements is reached.
        case full
        /// The element is refused: the queue is closed.
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

    /// Returns the next group, in the order in which its elements were added; empty if no element waits. No commit
    /// counts as running after that.
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

    /// Refuses further elements. Returns whether a commit is running, which will commit the waiting elements.
    mutating func close() -> Bool {
        isClosed = true
        return isCommitting
    }
}

/// Commits elements of many tasks in few transactions, on a thread that may block.
///
/// Elements that arrive while one transaction is being committed wait for the next one. A sync of the disk, or a round
/// trip to a database server, is therefore paid once for all of them, and no element waits for a group to fill.
package final class GroupCommit<Element: Sendable, Value: Sendable>: Sendable {
    private struct Waiter {
        let element: Element
        let continuation: CheckedContinuation<Value, any Error>
    }

    private struct State {
        var queue: CommitQueue<Waiter>
        var closers: [CheckedContinuation<Void, Never>] = []
    }

    /// Guards the queue and the waiters for its end.
    private let state: Mutex<State>
    private let queue: DispatchQueue
    private let commit: @Sendable ([Element]) throws -> [Value]

    /// Commits groups of elements on a dispatch queue of its own.
    ///
    /// - Parameters:
    ///   - label: The name of the dispatch queue.
    ///   - limits: The bounds.
    ///   - commit: Commits a group in one transaction, and returns a value for each element, in order. It may block. An
    ///     error that it throws is thrown to every waiter of the group. A ``CommitError`` of one element is an
    ///     exception: halves of the group are then committed separately, down to the element that fails.
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
    /// - Throws: ``ActionLogSinkBusy`` if too many elements wait, `CancellationError` after ``close()``, or the error
    ///   of the commit.
    package func commit(_ element: Element, byteCount: Int) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            let addition = state.withLock {
                $0.queue.add(Waiter(element: element, continuation: continuation), byteCount: byteCount)
            }
            switch addition {
            case .begins: queue.async { self.run() }
            case .waits: break
            case .full: continuation.resume(throwing: ActionLogSinkBusy())
            case .closed: continuation.resume(throwing: CancellationError())
            }
        }
    }

    /// Refuses further elements, and returns when all waiting ones are committed or have failed.
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
                // In the same turn: a later caller of close may wait for another run.
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
            // Each half keeps its order. If one of 256 elements fails, that costs 16 more transactions.
            run(Array(group.prefix(group.count / 2)))
            run(Array(group.dropFirst(group.count / 2)))
        case .failure(let error): for waiter in group { waiter.continuation.resume(throwing: error) }
        }
    }
}
