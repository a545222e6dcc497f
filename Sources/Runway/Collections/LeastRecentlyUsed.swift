/// A dictionary with limits for the number and the size of its values. It evicts the least recently used values first.
///
/// Every operation takes constant time, except removing all values. The type has no lock: an owner that shares it must
/// lock.
package struct LeastRecentlyUsed<Key: Hashable, Value> {
    /// The neighbours of an entry in the order of use. Links are stored apart from keys and values, so a use changes
    /// only integers.
    private struct Link {
        var newer = none
        var older = none
    }

    /// An index that stands for "no entry".
    private static var none: Int { -1 }

    package let maximumCount: Int
    /// The maximum number of bytes of all values together.
    package let maximumByteCount: Int
    /// The number of insertions, changes and removals. While the count is unchanged, a repeated lookup returns the same
    /// value.
    private(set) var changeCount: UInt64 = 0
    /// The number of bytes of all values together.
    package private(set) var byteCount = 0

    private var places: [Key: Int] = [:]
    /// The keys of all entries. They are stored apart from the values, so reading a value copies no key.
    private var keysHeld: [Key?] = []
    private var values: [Value?] = []
    private var byteCounts: [Int] = []
    private var links: [Link] = []
    private var free: [Int] = []
    private var newest = none
    private var oldest = none

    /// Creates an empty dictionary. A limit of 0 or less stores nothing.
    package init(maximumCount: Int, maximumByteCount: Int) {
        self.maximumCount = max(0, maximumCount)
        self.maximumByteCount = max(0, maximumByteCount)
    }

    package var count: Int { places.count }

    /// The keys, most recently used first.
    package var keys: [Key] {
        Array(
            sequence(first: newest) { place in links[place].older }
                .lazy.prefix { $0 != Self.none }.compactMap { keysHeld[$0] })
    }

    /// Returns the value of a key and marks the value as most recently used. Returns `nil` if the key has no value.
    mutating func value(for key: Key) -> Value? {
        guard let place = places[key] else { return nil }
        if place != newest { renew(place) }
        return values[place]
    }

    /// Changes the value of a key in place and marks the value as most recently used. Returns `nil` if the key has no
    /// value.
    package mutating func change<Result>(_ key: Key, _ body: (inout Value) -> Result) -> Result? {
        // The value is moved out before the change, so it has one owner and is not copied.
        guard let place = places[key], var value = values[place].take() else { return nil }
        changeCount += 1
        defer { values[place] = value }
        if place != newest { renew(place) }
        return body(&value)
    }

    /// Returns the value of a key without marking the value as used.
    package func peek(_ key: Key) -> Value? { places[key].flatMap { values[$0] } }

    /// The least recently used value, which is evicted next; `nil` if the dictionary is empty.
    package var oldestValue: Value? { oldest == Self.none ? nil : values[oldest] }

    /// Inserts or replaces the value of a key. Evicts least recently used values until the limits hold.
    ///
    /// - Parameter byteCount: The size of the value. If it exceeds the limit, the value is not inserted, and the key's
    ///   previous value is removed.
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

    mutating func removeAll(where shouldRemove: (Key, Value) -> Bool) {
        for key in keys {
            if let value = peek(key), shouldRemove(key, value) { remove(key) }
        }
    }

    mutating func removeAll() {
        let count = changeCount
        self = LeastRecentlyUsed(maximumCount: maximumCount, maximumByteCount: maximumByteCount)
        changeCount = count + 1
    }

    /// Evicts least recently used values until at most `count` values with `byteCount` bytes remain.
    mutating func trim(toCount count: Int, byteCount: Int) {
        while self.count > count || self.byteCount > byteCount, oldest != Self.none, let key = keysHeld[oldest] {
            remove(key)
        }
    }

    /// Makes an entry of the list the most recently used one. It must not be the most recently used entry already. One
    /// step both unlinks and links the entry, because every use of a value calls this function.
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

    /// Links an entry that is not in the list as the most recently used one.
    private mutating func link(_ place: Int) {
        links[place] = Link(newer: Self.none, older: newest)
        if newest == Self.none { oldest = place } else { links[newest].newer = place }
        newest = place
    }

    private mutating func unlink(_ place: Int) {
        let link = links[place]
        if link.newer == Self.none { newest = link.older } else { links[link.newer].older = link.older }
        if link.older == Self.none { oldest = link.newer } else { links[link.older].newer = link.newer }
    }
}
