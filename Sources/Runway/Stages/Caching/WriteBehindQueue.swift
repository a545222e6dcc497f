/// What is still to be done in the tier below memory, which is written behind the calls, and what that means for who looks there
/// meanwhile.
///
/// A pure state: ``ResponseCache`` holds it under its lock and performs what ``next()`` gives.
struct WriteBehindQueue {
    /// One change of the tier.
    enum Operation {
        case keep(KeptAnswer)
        case remove(CacheKey)
        case clear(CacheScope)
    }

    /// What the operations to come make of a key.
    enum Prospect {
        case kept(KeptAnswer)
        case gone
    }

    /// The most answers that wait to be written.
    static let maximumKeeps = 256
    /// The most operations that wait; past that all of them become one, which clears everything.
    static let maximumCount = 512

    /// The most bytes that wait to be written.
    let maximumByteCount: Int
    /// Whether somebody takes operations and performs them.
    private(set) var isPerforming = false
    private var current: Operation?
    private var waiting: [Operation] = []

    init(maximumByteCount: Int) { self.maximumByteCount = maximumByteCount }

    /// Whether nothing is left to do.
    var isEmpty: Bool { current == nil && waiting.isEmpty }

    /// Adds an operation, and drops those before it that it makes pointless.
    mutating func add(_ operation: Operation) {
        waiting.removeAll { operation.supersedes($0) }
        if case .keep(let kept) = operation, !hasRoom(for: kept) {
            // What can't be written in time must not leave its predecessor behind.
            waiting.append(.remove(kept.key))
        } else {
            waiting.append(operation)
        }
        if waiting.count > Self.maximumCount { waiting = [.clear(.everything)] }
    }

    /// Whether the caller has to perform what waits: there is something, and nobody does.
    mutating func begin() -> Bool {
        if isPerforming || isEmpty { return false }
        isPerforming = true
        return true
    }

    /// The operation to perform now; `nil` ends the performing.
    mutating func next() -> Operation? {
        if isPerforming, current == nil, !waiting.isEmpty { current = waiting.removeFirst() }
        if current == nil { isPerforming = false }
        return isPerforming ? current : nil
    }

    /// The current operation is done.
    mutating func succeed() { current = nil }

    /// The current operation failed. What could not be kept is removed instead; a removal stays first in line, for the next who begins.
    ///
    /// - Returns: Whether to go on.
    mutating func fail() -> Bool {
        if case .keep(let kept) = current {
            current = .remove(kept.key)
        } else {
            isPerforming = false
        }
        return isPerforming
    }

    /// What the operations to come make of a key; `nil` where they leave it alone.
    func prospect(of key: CacheKey) -> Prospect? {
        for operation in waiting.reversed() {
            if let prospect = operation.prospect(of: key) { return prospect }
        }
        return current?.prospect(of: key)
    }

    private func hasRoom(for kept: KeptAnswer) -> Bool {
        var count = 1
        var byteCount = kept.byteCount
        for case .keep(let other) in waiting {
            count += 1
            byteCount += other.byteCount
        }
        return count <= Self.maximumKeeps && byteCount <= maximumByteCount
    }
}

extension WriteBehindQueue.Operation {
    /// What this operation makes of a key; `nil` where it leaves it alone.
    fileprivate func prospect(of key: CacheKey) -> WriteBehindQueue.Prospect? {
        switch self {
        case .keep(let kept): kept.key == key ? .kept(kept) : nil
        case .remove(let removed): removed == key ? .gone : nil
        case .clear(let scope): scope.covers(key) ? .gone : nil
        }
    }

    /// Whether an earlier operation need not be done when this one is.
    fileprivate func supersedes(_ earlier: WriteBehindQueue.Operation) -> Bool {
        switch earlier {
        case .keep(let kept): prospect(of: kept.key) != nil
        case .remove(let key): prospect(of: key) != nil
        case .clear(let scope): if case .clear(let own) = self { own == scope || own == .everything } else { false }
        }
    }
}
