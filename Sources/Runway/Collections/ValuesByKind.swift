/// Values of several kinds. Each kind with its own limit has a separate ``LeastRecentlyUsed`` dictionary, so its values
/// never evict values of another kind. All other kinds share one dictionary.
///
/// A key has at most one value, whatever the kind. A lookup without a kind searches each dictionary, which is fast
/// because there are few kinds.
package struct ValuesByKind<Kind: Hashable, Key: Hashable, Value> {
    /// The dictionaries of the values. The first holds the values of all kinds without their own limit.
    private var shares: [LeastRecentlyUsed<Key, Value>]
    private let indices: [Kind: Int]

    /// Creates an empty collection.
    ///
    /// - Parameters:
    ///   - maximumCount: The maximum number of values of each kind.
    ///   - maximumByteCount: The maximum number of bytes of all kinds together that have no limit in `byteCounts`.
    ///   - byteCounts: The maximum number of bytes of each kind that has its own limit.
    package init(maximumCount: Int, maximumByteCount: Int, byteCounts: [Kind: Int]) {
        shares = [LeastRecentlyUsed(maximumCount: maximumCount, maximumByteCount: maximumByteCount)]
        var indices: [Kind: Int] = [:]
        for (kind, byteCount) in byteCounts {
            indices[kind] = shares.endIndex
            shares.append(LeastRecentlyUsed(maximumCount: maximumCount, maximumByteCount: byteCount))
        }
        self.indices = indices
    }

    package var count: Int { shares.reduce(0) { $0 + $1.count } }
    /// The number of insertions, changes and removals; see ``LeastRecentlyUsed/changeCount``.
    var changeCount: UInt64 { shares.count == 1 ? shares[0].changeCount : shares.reduce(0) { $0 + $1.changeCount } }
    /// The number of bytes of all values together.
    package var byteCount: Int { shares.reduce(0) { $0 + $1.byteCount } }
    /// The keys, grouped by kind; within a kind, most recently used first.
    package var keys: [Key] { shares.count == 1 ? shares[0].keys : shares.flatMap(\.keys) }

    /// Returns the maximum number of bytes that one value of a kind may have.
    package func maximumByteCount(of kind: Kind) -> Int { shares[index(of: kind)].maximumByteCount }

    /// Returns whether a value of this size fits within the limit of its kind, if necessary after other values are
    /// evicted.
    package func canHold(_ kind: Kind, byteCount: Int) -> Bool {
        let share = index(of: kind)
        return byteCount <= shares[share].maximumByteCount && shares[share].maximumCount > 0
    }

    /// Returns the next value to evict before a value of a kind is inserted, or `nil` if there is room.
    package func valueToEvict(for kind: Kind, byteCount: Int) -> Value? {
        let share = index(of: kind)
        let hasRoom =
            shares[share].count < shares[share].maximumCount
            && shares[share].byteCount + byteCount <= shares[share].maximumByteCount
        return hasRoom ? nil : shares[share].oldestValue
    }

    private func index(of kind: Kind) -> Int { indices.isEmpty ? 0 : indices[kind] ?? 0 }

    /// Returns the value of a key and marks the value as the most recently used of its kind. Returns `nil` if the key
    /// has no value.
    mutating func value(for key: Key) -> Value? {
        for index in shares.indices {
            if let value = shares[index].value(for: key) { return value }
        }
        return nil
    }

    /// Changes the value of a key in place and marks the value as most recently used. Returns `nil` if the key has no
    /// value.
    package mutating func change<Result>(_ key: Key, _ body: (inout Value) -> Result) -> Result? {
        for index in shares.indices where shares[index].peek(key) != nil { return shares[index].change(key, body) }
        return nil
    }

    /// Returns the value of a key without marking the value as used.
    package func peek(_ key: Key) -> Value? {
        for share in shares {
            if let value = share.peek(key) { return value }
        }
        return nil
    }

    /// Inserts or replaces the value of a key. Evicts least recently used values of the kind until the limits hold; see
    /// ``LeastRecentlyUsed/insert(_:for:byteCount:)``.
    package mutating func insert(_ value: Value, for key: Key, of kind: Kind, byteCount: Int) {
        let own = index(of: kind)
        for other in shares.indices where other != own { shares[other].remove(key) }
        shares[own].insert(value, for: key, byteCount: byteCount)
    }

    @discardableResult
    package mutating func remove(_ key: Key) -> Value? {
        for index in shares.indices {
            if let value = shares[index].remove(key) { return value }
        }
        return nil
    }

    mutating func removeAll(where shouldRemove: (Key, Value) -> Bool) {
        for index in shares.indices { shares[index].removeAll(where: shouldRemove) }
    }

    mutating func removeAll() {
        for index in shares.indices { shares[index].removeAll() }
    }

    /// Evicts least recently used values until at most `count` values with `byteCount` bytes remain. Every kind shrinks
    /// by the same proportion.
    mutating func trim(toCount count: Int, byteCount: Int) {
        let (allCount, allByteCount) = (self.count, self.byteCount)
        for index in shares.indices {
            shares[index].trim(
                toCount: Self.part(shares[index].count, of: allCount, if: count),
                byteCount: Self.part(shares[index].byteCount, of: allByteCount, if: byteCount))
        }
    }

    /// Scales `own` down in the proportion in which `all` shrinks to `limit`.
    private static func part(_ own: Int, of all: Int, if limit: Int) -> Int {
        if all <= limit { return own }
        return own == all ? limit : Int(Double(own) * (Double(limit) / Double(all)))
    }
}
