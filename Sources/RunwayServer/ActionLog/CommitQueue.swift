import Dispatch
import Synchronization

/// An error of a commit that may be one element's: the others of its group are then committed without it.
package protocol CommitError: Error {
    /// Whether the element itself can't be committed, such as for a value that the database does not take or a row that
    /// is damaged, and not the database as a whole.
    var isOfOneElement: Bool { get }
}

/// How much may wait for a ``GroupCommit``, and how much is committed together.
package struct CommitQueueLimits: Sendable, Hashable {
    /// The most elements that wait.
    package var maximumWaitingCount: Int
    /// The most bytes of elements that wait.
    package var maximumWaitingByteCount: Int
    /// The most elements of one transaction.
    package var maximumGroupCount: Int
    /// The most bytes of one transaction; a larger element is committed alone.
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

/// Decides which elements are committed together: what came while the last transaction was being committed.
struct CommitQueue<Element> {
    /// What becomes of a new element.
    enum Addition: Equatable {
        /// It waits, and the owner must begin to commit.
        case begins
        /// It waits for the transaction under way.
        case waits
        /// It does not wait, since too much does.
        case full
        /// It does not wait, since the queue is closed.
        case closed
    }

    let limits: CommitQueueLimits
    private var waiting: [(element: Element, byteCount: Int)] = []
    private var waitingByteCount = 0
    private var isCommitting = false
    private var isClosed = false

    init(_ limits: CommitQueueLimits) { self.limits = limits }

    /// Adds an element. An empty queue takes one of any size.
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

    /// Returns the next group, in the order in which its elements came; empty if nothing waits, and then no commit is
    /// under way any more.
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

    /// Lets nothing more wait. Returns whether a commit is under way, which commits what waits.
    mutating func close() -> Bool {
        isClosed = true
        return isCommitting
    }
}

/// Commits elements of many tasks in few transactions, on a thread that may block.
///
/// While one transaction is being committed, what comes waits for the next one. So a sync of the disk, or a round trip
/// to a database server, is paid once for all that came meanwhile, and nobody waits longer for a group to fill.
package final class GroupCommit<Element: Sendable, Value: Sendable>: Sendable {
    private struct Waiter {
        let element: Element
        let continuation: CheckedContinuation<Value, any Error>
    }

    private struct State {
        var queue: CommitQueue<Waiter>
        var closers: [CheckedContinuation<Void, Never>] = []
    }

    /// Guards the queue and who waits for its end.
    private let state: Mutex<State>
    private let queue: DispatchQueue
    private let commit: @Sendable ([Element]) throws -> [Value]

    /// Commits groups of elements on a dispatch queue of its own.
    ///
    /// - Parameters:
    ///   - label: The name of the dispatch queue.
    ///   - limits: The bounds.
    ///   - commit: Commits a group in one transaction, and returns a value for each element, in order. It may block.
    ///     What it throws is thrown to every waiter of the group, except a ``CommitError`` of one element: halves of
    ///     the group are then committed, down to the element that fails alone.
    package init(
        label: String, limits: CommitQueueLimits,
        commit: @escaping @Sendable ([Element]) throws -> [Value]
    ) {
        state = Mutex(State(queue: CommitQueue(limits)))
        queue = DispatchQueue(label: label)
        self.commit = commit
    }

    /// Commits an element, and returns when its transaction is committed. The cancellation of the task has no
    /// influence.
    ///
    /// - Throws: ``ActionLogSinkBusy`` if too much waits, `CancellationError` after ``close()``, or what the commit
    ///   throws.
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

    /// Takes nothing more, and returns when all that waited is committed or has failed.
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
                // In the same turn: who closes after it may wait for another run.
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
            // Each half keeps its order. One of 256 that fails costs 16 more transactions.
            run(Array(group.prefix(group.count / 2)))
            run(Array(group.dropFirst(group.count / 2)))
        case .failure(let error): for waiter in group { waiter.continuation.resume(throwing: error) }
        }
    }
}
