/// A dictionary that holds so many values and so many bytes, and lets go first of what was not used for longest.
///
/// Every deed takes the same time however much it holds. It is a value without a lock: whoever shares it locks.
struct LeastRecentlyUsed<Key: Hashable, Value> {
    private struct Node {
        var key: Key
        var value: Value
        var byteCount: Int
        var newer: Int
        var older: Int
    }

    /// Stands for no node.
    private static var none: Int { -1 }

    /// The most values that it holds.
    let maximumCount: Int
    /// The most bytes that its values may have together.
    let maximumByteCount: Int
    /// The bytes of all its values.
    private(set) var byteCount = 0

    private var places: [Key: Int] = [:]
    private var nodes: [Node?] = []
    private var free: [Int] = []
    private var newest = none
    private var oldest = none

    /// Makes an empty one. A bound below 0 is 0: nothing is held.
    init(maximumCount: Int, maximumByteCount: Int) {
        self.maximumCount = max(0, maximumCount)
        self.maximumByteCount = max(0, maximumByteCount)
    }

    /// The number of values.
    var count: Int { places.count }

    /// The keys, the most recently used first.
    var keys: [Key] {
        Array(
            sequence(first: newest) { place in node(place)?.older }
                .lazy.prefix { $0 != Self.none }.compactMap { node($0)?.key })
    }

    /// The value of a key, which is then the most recently used; `nil` if there is none.
    mutating func value(for key: Key) -> Value? {
        guard let place = places[key] else { return nil }
        if place != newest {
            unlink(place)
            link(place)
        }
        return node(place)?.value
    }

    /// The value of a key, without counting as use.
    func peek(_ key: Key) -> Value? { places[key].flatMap { node($0)?.value } }

    /// Keeps a value in the place of the key's last one, and lets go of the oldest until the bounds hold again.
    ///
    /// - Parameter byteCount: The value's size. One that is larger than the bound is not kept, and its predecessor is let go.
    mutating func insert(_ value: Value, for key: Key, byteCount: Int) {
        remove(key)
        let byteCount = max(0, byteCount)
        guard byteCount <= maximumByteCount, maximumCount > 0 else { return }
        trim(toCount: maximumCount - 1, byteCount: maximumByteCount - byteCount)
        let node = Node(key: key, value: value, byteCount: byteCount, newer: Self.none, older: Self.none)
        let place = free.popLast() ?? nodes.endIndex
        if place == nodes.endIndex { nodes.append(node) } else { nodes[place] = node }
        places[key] = place
        self.byteCount += byteCount
        link(place)
    }

    /// Lets go of a key's value, and gives it.
    @discardableResult
    mutating func remove(_ key: Key) -> Value? {
        guard let place = places.removeValue(forKey: key), let node = node(place) else { return nil }
        unlink(place)
        nodes[place] = nil
        free.append(place)
        byteCount -= node.byteCount
        return node.value
    }

    /// Lets go of every value that `shouldRemove` names.
    mutating func removeAll(where shouldRemove: (Key, Value) -> Bool) {
        for key in keys {
            if let value = peek(key), shouldRemove(key, value) { remove(key) }
        }
    }

    /// Lets go of everything.
    mutating func removeAll() {
        self = LeastRecentlyUsed(maximumCount: maximumCount, maximumByteCount: maximumByteCount)
    }

    /// Lets go of the oldest until at most this much is left.
    mutating func trim(toCount count: Int, byteCount: Int) {
        while self.count > count || self.byteCount > byteCount, let key = node(oldest)?.key { remove(key) }
    }

    private func node(_ place: Int) -> Node? { place == Self.none ? nil : nodes[place] }

    /// Makes a node that is in no row the newest.
    private mutating func link(_ place: Int) {
        nodes[place]?.newer = Self.none
        nodes[place]?.older = newest
        if newest == Self.none { oldest = place } else { nodes[newest]?.newer = place }
        newest = place
    }

    /// Takes a node out of the row.
    private mutating func unlink(_ place: Int) {
        guard let node = node(place) else { return }
        if node.newer == Self.none { newest = node.older } else { nodes[node.newer]?.older = node.older }
        if node.older == Self.none { oldest = node.newer } else { nodes[node.older]?.newer = node.newer }
    }
}
