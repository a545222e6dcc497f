/// The pending operations of the disk tier, which are performed after the calls have ended.
///
/// The type is a state machine without I/O. ``ResponseCache`` guards it, and performs the operations that ``next()``
/// returns. The cache checks ``pending(for:)`` before it searches the tier.
struct WriteBehindQueue {
    enum EntryKey: Hashable {
        case call(CacheKey)
        case target(HTTPCacheURI, CachePartition)
    }

    enum Value {
        case call(TimeToLiveResponse)
        case target(HTTPCacheURI, CachePartition, [HTTPStoredResponse])
    }

    enum Operation {
        case store(Value)
        case remove(EntryKey)
        case removeTarget(HTTPCacheURI)
        case clear(CacheScope)
    }

    /// The state that a key will have in the tier after the pending operations.
    enum Pending {
        case stored(Value)
        case removed
    }

    /// The maximum number of pending responses.
    static let maximumStores = 256
    /// The maximum number of pending operations. If more are added, a single operation that clears everything replaces
    /// them all.
    static let maximumCount = 512
    /// The maximum number of operations that the tier receives at once.
    static let maximumBatchCount = 32

    /// The maximum number of bytes of pending responses.
    let maximumByteCount: Int
    /// Whether a task is performing the operations.
    private(set) var isPerforming = false
    private var current: [Operation] = []
    private var waiting = Backlog()

    init(maximumByteCount: Int) { self.maximumByteCount = maximumByteCount }

    var isEmpty: Bool { current.isEmpty && waiting.isEmpty }

    /// Adds an operation, and drops pending operations that it supersedes.
    mutating func add(_ operation: Operation) {
        waiting.removeSuperseded(by: operation)
        if case .store(let value) = operation, !hasRoom(for: value) {
            // The response can't be written in time, but the older response in the tier must still be removed.
            waiting.append(.remove(value.key))
        } else {
            waiting.append(operation)
        }
        if waiting.operations.count > Self.maximumCount {
            waiting = Backlog()
            waiting.append(.clear(.everything))
        }
    }

    /// Returns whether the caller must perform the operations: some are pending, and no task is performing them.
    mutating func begin() -> Bool {
        if isPerforming || isEmpty { return false }
        isPerforming = true
        return true
    }

    /// Returns the operations to perform next; empty if none are pending.
    mutating func next() -> [Operation] {
        if isPerforming, current.isEmpty { current = waiting.takeFirst(Self.maximumBatchCount) }
        if current.isEmpty { isPerforming = false }
        return isPerforming ? current : []
    }

    mutating func succeed() { current = [] }

    /// Records that the current operations failed. Stores are replaced by removals. If all of them are already
    /// removals, they are repeated first at the next ``begin()``.
    ///
    /// - Returns: Whether the caller should continue with ``next()``.
    mutating func fail() -> Bool {
        isPerforming = false
        current = current.map { operation in
            guard case .store(let value) = operation else { return operation }
            isPerforming = true
            return .remove(value.key)
        }
        return isPerforming
    }

    /// Returns the state that a key will have in the tier after the pending operations, or `nil` if none of them
    /// concerns the key.
    func pending(for key: EntryKey) -> Pending? {
        waiting.result(for: key) ?? current.latestResult(for: key)
    }

    private func hasRoom(for value: Value) -> Bool {
        waiting.storeCount < Self.maximumStores && waiting.byteCount + value.byteCount <= maximumByteCount
    }

    /// Operations in order, with their keys and totals, so that adding one takes constant time.
    private struct Backlog {
        private(set) var operations: [Operation] = []
        /// The keys of the operations that concern one entry. A key has at most one operation, because a later one
        /// supersedes it.
        private var keys: Set<EntryKey> = []
        /// The number of responses to store. `byteCount` is the number of their bytes.
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
            // If every operation concerns a single key, and none concerns this one, no search is needed.
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
    /// Returns the state that a key will have in the tier after these operations, or `nil` if none of them concerns the
    /// key.
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
    /// The key that the tier receives; `nil` if it has no meaning in another launch of the app.
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
    /// The key of the entry that the operation concerns; `nil` if it may concern several entries.
    fileprivate var key: WriteBehindQueue.EntryKey? {
        switch self {
        case .store(let value): value.key
        case .remove(let key): key
        case .removeTarget, .clear: nil
        }
    }

    /// Returns the state that a key will have in the tier after this operation, or `nil` if the operation does not
    /// concern the key.
    fileprivate func result(for key: WriteBehindQueue.EntryKey) -> WriteBehindQueue.Pending? {
        switch self {
        case .store(let value): value.key == key ? .stored(value) : nil
        case .remove(let removed): removed == key ? .removed : nil
        case .removeTarget(let target): if case .target(target, _) = key { .removed } else { nil }
        case .clear(let scope): key.isIn(scope) ? .removed : nil
        }
    }

    /// Returns whether this operation makes an earlier one unnecessary.
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

    /// Returns the change that the tier receives for this operation, or `nil` if the tier never stores the entry that
    /// the operation concerns.
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
