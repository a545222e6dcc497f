/// The pending operations of the disk tier, which is written after the calls have ended.
///
/// A state machine without I/O: ``ResponseCache`` guards it and performs what ``next()`` returns. A lookup calls
/// ``pending(for:)`` first.
struct WriteBehindQueue {
    /// One change of the tier.
    enum Operation {
        case store(CachedResponse)
        case remove(CacheKey)
        case clear(CacheScope)
    }

    /// What the tier will hold for a key after the pending operations.
    enum Pending {
        case stored(CachedResponse)
        case removed
    }

    /// The most pending responses.
    static let maximumStores = 256
    /// The most pending operations. Beyond it, all of them are replaced by one that clears everything.
    static let maximumCount = 512

    /// The most bytes of pending responses.
    let maximumByteCount: Int
    /// Whether a task performs the operations.
    private(set) var isPerforming = false
    private var current: Operation?
    private var waiting: [Operation] = []

    init(maximumByteCount: Int) { self.maximumByteCount = maximumByteCount }

    /// Whether no operation is pending.
    var isEmpty: Bool { current == nil && waiting.isEmpty }

    /// Adds an operation, and drops pending ones that it supersedes.
    mutating func add(_ operation: Operation) {
        waiting.removeAll { operation.supersedes($0) }
        if case .store(let response) = operation, !hasRoom(for: response) {
            // A response that can't be written in time must not leave its predecessor in the tier.
            waiting.append(.remove(response.key))
        } else {
            waiting.append(operation)
        }
        if waiting.count > Self.maximumCount { waiting = [.clear(.everything)] }
    }

    /// Returns whether the caller has to perform the operations: there are some, and no task performs them.
    mutating func begin() -> Bool {
        if isPerforming || isEmpty { return false }
        isPerforming = true
        return true
    }

    /// The operation to perform next; `nil` if there is none.
    mutating func next() -> Operation? {
        if isPerforming, current == nil, !waiting.isEmpty { current = waiting.removeFirst() }
        if current == nil { isPerforming = false }
        return isPerforming ? current : nil
    }

    /// Records that the current operation succeeded.
    mutating func succeed() { current = nil }

    /// Records that the current operation failed. A store is replaced by a removal; a removal is repeated first at the next
    /// ``begin()``.
    ///
    /// - Returns: Whether to continue.
    mutating func fail() -> Bool {
        if case .store(let response) = current {
            current = .remove(response.key)
        } else {
            isPerforming = false
        }
        return isPerforming
    }

    /// What the tier will hold for a key; `nil` if no pending operation concerns it.
    func pending(for key: CacheKey) -> Pending? {
        for operation in waiting.reversed() {
            if let pending = operation.result(for: key) { return pending }
        }
        return current?.result(for: key)
    }

    private func hasRoom(for response: CachedResponse) -> Bool {
        var count = 1
        var byteCount = response.byteCount
        for case .store(let other) in waiting {
            count += 1
            byteCount += other.byteCount
        }
        return count <= Self.maximumStores && byteCount <= maximumByteCount
    }
}

extension WriteBehindQueue.Operation {
    /// What the tier holds for a key after this operation; `nil` if it does not concern the key.
    fileprivate func result(for key: CacheKey) -> WriteBehindQueue.Pending? {
        switch self {
        case .store(let response): response.key == key ? .stored(response) : nil
        case .remove(let removed): removed == key ? .removed : nil
        case .clear(let scope): scope.covers(key) ? .removed : nil
        }
    }

    /// Whether an earlier operation need not be performed if this one is.
    fileprivate func supersedes(_ earlier: WriteBehindQueue.Operation) -> Bool {
        switch earlier {
        case .store(let response): result(for: response.key) != nil
        case .remove(let key): result(for: key) != nil
        case .clear(let scope): if case .clear(let own) = self { own == scope || own == .everything } else { false }
        }
    }
}
