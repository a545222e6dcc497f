/// The pending operations of the disk tier, which is written after the calls have ended.
///
/// A state machine without I/O: ``ResponseCache`` guards it and performs the operations that ``next()`` returns. Before
/// it searches the tier, it asks ``pending(for:)``.
struct WriteBehindQueue {
    /// Identifies an entry of the tier.
    enum EntryKey: Hashable {
        case call(CacheKey)
        case target(HTTPCacheURI, CachePartition)
    }

    /// The responses that are stored under a key.
    enum Value {
        case call(TimeToLiveResponse)
        case target(HTTPCacheURI, CachePartition, [HTTPStoredResponse])
    }

    /// One change of the tier.
    enum Operation {
        case store(Value)
        case remove(EntryKey)
        case removeTarget(HTTPCacheURI)
        case clear(CacheScope)
    }

    /// The state of a key in the tier after the pending operations.
    enum Pending {
        case stored(Value)
        case removed
    }

    /// The most pending responses.
    static let maximumStores = 256
    /// The most pending operations. Beyond it, all of them are replaced by one that clears everything.
    static let maximumCount = 512
    /// The most operations that the tier performs at once.
    static let maximumBatchCount = 32

    /// The most bytes of pending responses.
    let maximumByteCount: Int
    /// Whether a task performs the operations.
    private(set) var isPerforming = false
    private var current: [Operation] = []
    private var waiting = Backlog()

    init(maximumByteCount: Int) { self.maximumByteCount = maximumByteCount }

    /// Whether no operation is pending.
    var isEmpty: Bool { current.isEmpty && waiting.isEmpty }

    /// Adds an operation, and drops pending ones that it supersedes.
    mutating func add(_ operation: Operation) {
        waiting.removeSuperseded(by: operation)
        if case .store(let value) = operation, !hasRoom(for: value) {
            // A response that can't be written in time must not leave its predecessor in the tier.
            waiting.append(.remove(value.key))
        } else {
            waiting.append(operation)
        }
        if waiting.operations.count > Self.maximumCount {
            waiting = Backlog()
            waiting.append(.clear(.everything))
        }
    }

    /// Returns whether the caller has to perform the operations: there are some, and no task performs them.
    mutating func begin() -> Bool {
        if isPerforming || isEmpty { return false }
        isPerforming = true
        return true
    }

    /// Returns the operations to perform next, at once; empty if there are none.
    mutating func next() -> [Operation] {
        if isPerforming, current.isEmpty { current = waiting.takeFirst(Self.maximumBatchCount) }
        if current.isEmpty { isPerforming = false }
        return isPerforming ? current : []
    }

    /// Records that the current operations succeeded.
    mutating func succeed() { current = [] }

    /// Records that the current operations failed. Stores are replaced by removals; if all are removals, they are
    /// repeated first at the next ``begin()``.
    ///
    /// - Returns: Whether to continue.
    mutating func fail() -> Bool {
        isPerforming = false
        current = current.map { operation in
            guard case .store(let value) = operation else { return operation }
            isPerforming = true
            return .remove(value.key)
        }
        return isPerforming
    }

    /// Returns the state of a key in the tier after the pending operations; `nil` if no pending operation concerns the
    /// key.
    func pending(for key: EntryKey) -> Pending? {
        waiting.result(for: key) ?? current.latestResult(for: key)
    }

    private func hasRoom(for value: Value) -> Bool {
        waiting.storeCount < Self.maximumStores && waiting.byteCount + value.byteCount <= maximumByteCount
    }

    /// Operations in their order, with their keys and totals, so that adding one does not read all of them.
    private struct Backlog {
        private(set) var operations: [Operation] = []
        /// The keys of the operations that concern one entry. A key has one operation at most, since a later one
        /// supersedes it.
        private var keys: Set<EntryKey> = []
        /// The number of responses to be stored, and their bytes.
        private(set) var storeCount = 0
        private(set) var byteCount = 0

        var isEmpty: Bool { operations.isEmpty }

        mutating func append(_ operation: Operation) {
            operations.append(operation)
            if let key = operation.key { keys.insert(key) }
            count(operation, 1)
        }

        mutating func removeSuperseded(by operation: Operation) {
            if let key = operation.key, !keys.contains(key) { return }
            forget(operations.removeAndReturnAll(where: operation.supersedes))
        }

        mutating func takeFirst(_ count: Int) -> [Operation] {
            let taken = Array(operations.prefix(count))
            operations.removeFirst(taken.count)
            forget(taken)
            return taken
        }

        func result(for key: EntryKey) -> Pending? {
            // Only an operation on several entries, such as a clear, concerns a key that has no operation of its own.
            if operations.count == keys.count, !keys.contains(key) { return nil }
            return operations.latestResult(for: key)
        }

        private mutating func forget(_ removed: [Operation]) {
            for operation in removed {
                if let key = operation.key { keys.remove(key) }
                count(operation, -1)
            }
        }

        private mutating func count(_ operation: Operation, _ sign: Int) {
            guard case .store(let value) = operation else { return }
            storeCount += sign
            byteCount += sign * value.byteCount
        }
    }
}

extension [WriteBehindQueue.Operation] {
    /// Returns the state of a key in the tier after these operations; `nil` if no operation concerns the key.
    fileprivate func latestResult(for key: WriteBehindQueue.EntryKey) -> WriteBehindQueue.Pending? {
        for operation in reversed() {
            if let pending = operation.result(for: key) { return pending }
        }
        return nil
    }

    fileprivate mutating func removeAndReturnAll(where isRemoved: (Element) -> Bool) -> [Element] {
        let removed = filter(isRemoved)
        if !removed.isEmpty { removeAll(where: isRemoved) }
        return removed
    }
}

extension WriteBehindQueue.EntryKey {
    /// The key as the tier sees it; `nil` if it has no meaning in another launch of the app.
    var tierKey: CacheTierKey? {
        switch self {
        case .call(let key): key.isPersistable ? CacheTierKey(key) : nil
        case .target(let uri, let partition): partition.isPersistable ? CacheTierKey(uri, partition) : nil
        }
    }

    fileprivate func isIn(_ scope: CacheScope) -> Bool {
        switch self {
        case .call(let key): scope.covers(key)
        case .target(_, let partition): scope.covers(partition)
        }
    }
}

extension WriteBehindQueue.Value {
    var key: WriteBehindQueue.EntryKey {
        switch self {
        case .call(let response): .call(response.key)
        case .target(let uri, let partition, _): .target(uri, partition)
        }
    }

    fileprivate var byteCount: Int {
        switch self {
        case .call(let response): response.byteCount
        case .target(_, _, let responses): responses.reduce(0) { $0 + $1.byteCount }
        }
    }
}

extension WriteBehindQueue.Operation {
    /// The key of the entry that the operation concerns; `nil` if the operation may concern several entries.
    fileprivate var key: WriteBehindQueue.EntryKey? {
        switch self {
        case .store(let value): value.key
        case .remove(let key): key
        case .removeTarget, .clear: nil
        }
    }

    /// Returns the state of a key in the tier after this operation; `nil` if it does not concern the key.
    fileprivate func result(for key: WriteBehindQueue.EntryKey) -> WriteBehindQueue.Pending? {
        switch self {
        case .store(let value): value.key == key ? .stored(value) : nil
        case .remove(let removed): removed == key ? .removed : nil
        case .removeTarget(let target): if case .target(target, _) = key { .removed } else { nil }
        case .clear(let scope): key.isIn(scope) ? .removed : nil
        }
    }

    /// Whether an earlier operation need not be performed if this one is.
    fileprivate func supersedes(_ earlier: WriteBehindQueue.Operation) -> Bool {
        switch earlier {
        case .store(let value): result(for: value.key) != nil
        case .remove(let key): result(for: key) != nil
        case .removeTarget(let target):
            switch self {
            case .removeTarget(let own): own == target
            case .clear(let own): own == .everything
            case .store, .remove: false
            }
        case .clear(let scope): if case .clear(let own) = self { own == scope || own == .everything } else { false }
        }
    }

    /// Returns the operation as the tier performs it; `nil` if the tier never stores the entry that the operation
    /// concerns.
    ///
    /// - Parameter launch: Identifies this launch; see ``TargetRecord``.
    func change(launch: UInt64) -> CacheTierChange? {
        switch self {
        case .store(let value): value.key.tierKey.map { .store(CacheTierEntry(value, launch: launch), for: $0) }
        case .remove(let key): key.tierKey.map { .remove($0) }
        case .removeTarget(let target): .removeTarget(target.text)
        case .clear(let scope): .clear(scope)
        }
    }
}
