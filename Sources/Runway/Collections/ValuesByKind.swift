/// Values of several kinds, each kind in a ``LeastRecentlyUsed`` dictionary of its own, so that none evicts the values
/// of another.
///
/// A key has one value, of whatever kind. Kinds without a bound of their own share one dictionary. There are few kinds:
/// a lookup that does not know the kind asks each dictionary.
package struct ValuesByKind<Kind: Hashable, Key: Hashable, Value> {
    /// The first has the values of all kinds without a bound of their own.
    private var shares: [LeastRecentlyUsed<Key, Value>]
    private let indices: [Kind: Int]

    /// Creates an empty collection.
    ///
    /// - Parameters:
    ///   - maximumCount: The most values of each kind.
    ///   - maximumByteCount: The most bytes that the values of all kinds that `byteCounts` leaves out may have
    ///     together.
    ///   - byteCounts: The most bytes of the values of each other kind.
    package init(maximumCount: Int, maximumByteCount: Int, byteCounts: [Kind: Int]) {
        shares = [LeastRecentlyUsed(maximumCount: maximumCount, maximumByteCount: maximumByteCount)]
        var indices: [Kind: Int] = [:]
        for (kind, byteCount) in byteCounts {
            indices[kind] = shares.endIndex
            shares.append(LeastRecentlyUsed(maximumCount: maximumCount, maximumByteCount: byteCount))
        }
        self.indices = indices
    }

    /// The number of values.
    package var count: Int { shares.reduce(0) { $0 + $1.count } }
    /// The number of insertions, changes and removals; see ``LeastRecentlyUsed/changeCount``.
    var changeCount: UInt64 { shares.count == 1 ? shares[0].changeCount : shares.reduce(0) { $0 + $1.changeCount } }
    /// The bytes of all values.
    package var byteCount: Int { shares.reduce(0) { $0 + $1.byteCount } }
    /// The keys, grouped by kind, the most recently used of each kind first.
    package var keys: [Key] { shares.count == 1 ? shares[0].keys : shares.flatMap(\.keys) }

    /// Returns the most bytes that a value of a kind may have.
    package func maximumByteCount(of kind: Kind) -> Int { shares[index(of: kind)].maximumByteCount }

    /// Returns whether a value of a kind could be inserted, if others of its budget were evicted for it.
    package func canHold(_ kind: Kind, byteCount: Int) -> Bool {
        let share = index(of: kind)
        return byteCount <= shares[share].maximumByteCount && shares[share].maximumCount > 0
    }

    /// Returns the value that has to be evicted next to insert one of a kind; `nil` if there is room for it.
    package func valueToEvict(for kind: Kind, byteCount: Int) -> Value? {
        let share = index(of: kind)
        let hasRoom =
            shares[share].count < shares[share].maximumCount
            && shares[share].byteCount + byteCount <= shares[share].maximumByteCount
        return hasRoom ? nil : shares[share].oldestValue
    }

    private func index(of kind: Kind) -> Int { indices.isEmpty ? 0 : indices[kind] ?? 0 }

    /// Returns the value of a key, which becomes the most recently used of its kind; `nil` if the key has none.
    mutating func value(for key: Key) -> Value? {
        for index in shares.indices {
            if let value = shares[index].value(for: key) { return value }
        }
        return nil
    }

    /// Changes the value of a key in place, which counts as use; returns `nil` if the key has none.
    package mutating func change<Result>(_ key: Key, _ body: (inout Value) -> Result) -> Result? {
        for index in shares.indices where shares[index].peek(key) != nil { return shares[index].change(key, body) }
        return nil
    }

    /// Returns the value of a key, without counting as use.
    package func peek(_ key: Key) -> Value? {
        for share in shares {
            if let value = share.peek(key) { return value }
        }
        return nil
    }

    /// Inserts or replaces the value of a key, and evicts least recently used values of its kind until the bounds hold;
    /// see ``LeastRecentlyUsed/insert(_:for:byteCount:)``.
    package mutating func insert(_ value: Value, for key: Key, of kind: Kind, byteCount: Int) {
        let own = index(of: kind)
        for other in shares.indices where other != own { shares[other].remove(key) }
        shares[own].insert(value, for: key, byteCount: byteCount)
    }

    /// Removes and returns a key's value.
    @discardableResult
    package mutating func remove(_ key: Key) -> Value? {
        for index in shares.indices {
            if let value = shares[index].remove(key) { return value }
        }
        return nil
    }

    /// Removes every value for which `shouldRemove` returns `true`.
    mutating func removeAll(where shouldRemove: (Key, Value) -> Bool) {
        for index in shares.indices { shares[index].removeAll(where: shouldRemove) }
    }

    /// Removes everything.
    mutating func removeAll() {
        for index in shares.indices { shares[index].removeAll() }
    }

    /// Evicts least recently used values until at most this much is left, of each kind the same part.
    mutating func trim(toCount count: Int, byteCount: Int) {
        let (allCount, allByteCount) = (self.count, self.byteCount)
        for index in shares.indices {
            shares[index].trim(
                toCount: Self.part(shares[index].count, of: allCount, if: count),
                byteCount: Self.part(shares[index].byteCount, of: allByteCount, if: byteCount))
        }
    }

    /// Returns the share of `own` that remains if only `limit` of `all` remains.
    private static func part(_ own: Int, of all: Int, if limit: Int) -> Int {
        if all <= limit { return own }
        return own == all ? limit : Int(Double(own) * (Double(limit) / Double(all)))
    }
}
