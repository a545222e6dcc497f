/// A dictionary with bounds on its count and bytes; it evicts the least recently used values first.
///
/// Every operation but the removal of all takes constant time. It is a value without a lock: whoever shares it locks.
package struct LeastRecentlyUsed<Key: Hashable, Value> {
    /// The neighbours of an entry in the order of use, stored separately from its key and value, so that a use changes
    /// only numbers.
    private struct Link {
        var newer = none
        var older = none
    }

    /// The index that means no entry.
    private static var none: Int { -1 }

    /// The most values.
    package let maximumCount: Int
    /// The most bytes that its values may have together.
    package let maximumByteCount: Int
    /// The number of insertions, changes and removals. While it is unchanged, a lookup would return the same as the
    /// last one.
    private(set) var changeCount: UInt64 = 0
    /// The bytes of all its values.
    package private(set) var byteCount = 0

    private var places: [Key: Int] = [:]
    /// The keys of all entries, stored apart from the values: reading a value copies no key.
    private var keysHeld: [Key?] = []
    private var values: [Value?] = []
    private var byteCounts: [Int] = []
    private var links: [Link] = []
    private var free: [Int] = []
    private var newest = none
    private var oldest = none

    /// Creates an empty dictionary. A bound below 0 is 0: nothing is stored.
    package init(maximumCount: Int, maximumByteCount: Int) {
        self.maximumCount = max(0, maximumCount)
        self.maximumByteCount = max(0, maximumByteCount)
    }

    /// The number of values.
    package var count: Int { places.count }

    /// The keys, the most recently used first.
    package var keys: [Key] {
        Array(
            sequence(first: newest) { place in links[place].older }
                .lazy.prefix { $0 != Self.none }.compactMap { keysHeld[$0] })
    }

    /// Returns the value of a key, which becomes the most recently used; `nil` if the key has none.
    mutating func value(for key: Key) -> Value? {
        guard let place = places[key] else { return nil }
        if place != newest { renew(place) }
        return values[place]
    }

    /// Changes the value of a key in place, which counts as use; returns `nil` if the key has none.
    package mutating func change<Result>(_ key: Key, _ body: (inout Value) -> Result) -> Result? {
        // Moved out first, so that it has one owner and is not copied.
        guard let place = places[key], var value = values[place].take() else { return nil }
        changeCount += 1
        defer { values[place] = value }
        if place != newest { renew(place) }
        return body(&value)
    }

    /// Returns the value of a key, without counting as use.
    package func peek(_ key: Key) -> Value? { places[key].flatMap { values[$0] } }

    /// The value that is evicted next; `nil` if there is none.
    package var oldestValue: Value? { oldest == Self.none ? nil : values[oldest] }

    /// Inserts or replaces the value of a key, and evicts least recently used values until the bounds hold.
    ///
    /// - Parameter byteCount: The value's size. A value larger than the bound is not inserted, and the previous value
    ///   is removed.
    package mutating func insert(_ value: Value, for key: Key, byteCount: Int) {
        remove(key)
        let byteCount = max(0, byteCount)
        guard byteCount <= maximumByteCount, maximumCount > 0 else { return }
        trim(toCount: maximumCount - 1, byteCount: maximumByteCount - byteCount)
        changeCount += 1
        let place = free.popLast() ?? values.endIndex
        if place == values.endIndex {
            keysHeld.append(key)
            values.append(value)
            byteCounts.append(byteCount)
            links.append(Link())
        } else {
            keysHeld[place] = key
            values[place] = value
            byteCounts[place] = byteCount
        }
        places[key] = place
        self.byteCount += byteCount
        link(place)
    }

    /// Removes and returns a key's value.
    @discardableResult
    package mutating func remove(_ key: Key) -> Value? {
        guard let place = places.removeValue(forKey: key) else { return nil }
        changeCount += 1
        let value = values[place]
        unlink(place)
        keysHeld[place] = nil
        values[place] = nil
        free.append(place)
        byteCount -= byteCounts[place]
        return value
    }

    /// Removes every value for which `shouldRemove` returns `true`.
    mutating func removeAll(where shouldRemove: (Key, Value) -> Bool) {
        for key in keys {
            if let value = peek(key), shouldRemove(key, value) { remove(key) }
        }
    }

    /// Removes everything.
    mutating func removeAll() {
        let count = changeCount
        self = LeastRecentlyUsed(maximumCount: maximumCount, maximumByteCount: maximumByteCount)
        changeCount = count + 1
    }

    /// Evicts least recently used values until at most this much is left.
    mutating func trim(toCount count: Int, byteCount: Int) {
        while self.count > count || self.byteCount > byteCount, oldest != Self.none, let key = keysHeld[oldest] {
            remove(key)
        }
    }

    /// Makes an entry the newest that is linked and not the newest: unlinks and links it in one step, since every use
    /// does this.
    private mutating func renew(_ place: Int) {
        let head = newest
        let former = links.withUnsafeMutableBufferPointer { links in
            let link = links[place]
            links[link.newer].older = link.older
            if link.older != Self.none { links[link.older].newer = link.newer }
            links[head].newer = place
            links[place] = Link(newer: Self.none, older: head)
            return link
        }
        if former.older == Self.none { oldest = former.newer }
        newest = place
    }

    /// Makes an entry that is not linked the newest.
    private mutating func link(_ place: Int) {
        links[place] = Link(newer: Self.none, older: newest)
        if newest == Self.none { oldest = place } else { links[newest].newer = place }
        newest = place
    }

    /// Unlinks an entry.
    private mutating func unlink(_ place: Int) {
        let link = links[place]
        if link.newer == Self.none { newest = link.older } else { links[link.newer].older = link.older }
        if link.older == Self.none { oldest = link.newer } else { links[link.older].newer = link.newer }
    }
}
