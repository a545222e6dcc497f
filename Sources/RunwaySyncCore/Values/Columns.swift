/// A map from names of columns to values, ordered by the bytes of the names, so that the order is the same on every
/// device.
package struct Columns<Value> {
    private var pairs: [(name: String, value: Value)] = []

    package init() {}

    package init(_ pairs: some Sequence<(String, Value)>) {
        self.pairs.reserveCapacity(pairs.underestimatedCount)
        for (name, value) in pairs { self[name] = value }
    }

    private init(sorted pairs: [(name: String, value: Value)]) { self.pairs = pairs }

    /// The value of a column; `nil` if it is absent.
    package subscript(name: String) -> Value? {
        get {
            let index = index(of: name)
            return index < pairs.count && pairs[index].name.isSame(as: name) ? pairs[index].value : nil
        }
        set {
            let index = index(of: name)
            let isPresent = index < pairs.count && pairs[index].name.isSame(as: name)
            switch (newValue, isPresent) {
            case (let value?, true): pairs[index].value = value
            case (let value?, false): pairs.insert((name, value), at: index)
            case (nil, true): pairs.remove(at: index)
            case (nil, false): break
            }
        }
    }

    private func index(of name: String) -> Int {
        // Names mostly come in their order.
        if pairs.last.map({ $0.name.utf8.lexicographicallyPrecedes(name.utf8) }) ?? true { return pairs.count }
        var (low, high) = (0, pairs.count)
        while low < high {
            let middle = (low + high) / 2
            if pairs[middle].name.utf8.lexicographicallyPrecedes(name.utf8) { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Sets all columns of another map.
    package mutating func merge(_ other: Self) {
        for (name, value) in other { self[name] = value }
    }

    package func mapValues<Other>(_ transform: (Value) -> Other) -> Columns<Other> {
        Columns<Other>(sorted: pairs.map { ($0.name, transform($0.value)) })
    }

    package func filter(_ isIncluded: (String, Value) -> Bool) -> Self {
        Self(sorted: pairs.filter { isIncluded($0.name, $0.value) })
    }
}

// For other modules, in which the initialiser for any values finds out their type for each of them.
extension Columns where Value == SyncValue {
    package init(values: [(String, SyncValue)]) { self.init(values) }
}

extension Columns where Value == Cell {
    package init(cells: [(String, Cell)]) { self.init(cells) }
}

extension Columns: Sequence {
    package func makeIterator() -> some IteratorProtocol<(name: String, value: Value)> { pairs.makeIterator() }
    package var isEmpty: Bool { pairs.isEmpty }
    package var count: Int { pairs.count }
}

extension Columns: ExpressibleByDictionaryLiteral {
    package init(dictionaryLiteral elements: (String, Value)...) { self.init(elements) }
}

extension Columns: Sendable where Value: Sendable {}

extension Columns: Equatable where Value: Equatable {
    package static func == (left: Self, right: Self) -> Bool {
        if left.pairs.count != right.pairs.count { return false }
        for index in left.pairs.indices {
            let (one, other) = (left.pairs[index], right.pairs[index])
            if one.value != other.value || !one.name.isSame(as: other.name) { return false }
        }
        return true
    }
}

extension Columns: Hashable where Value: Hashable {
    package func hash(into hasher: inout Hasher) {
        for pair in pairs {
            hasher.combine(pair.name)
            hasher.combine(pair.value)
        }
    }
}

/// The identity of a row: its table and its id.
package struct RowKey: Hashable, Comparable, Sendable {
    package let table: String
    package let id: Identifier

    package init(_ table: String, _ id: Identifier) { (self.table, self.id) = (table, id) }

    /// Orders by the bytes of the table, and then by the id.
    package static func < (left: Self, right: Self) -> Bool {
        if left.isIn(right.table) { return left.id < right.id }
        return left.table.utf8.lexicographicallyPrecedes(right.table.utf8)
    }

    package static func == (left: Self, right: Self) -> Bool { left.id == right.id && left.isIn(right.table) }

    /// Whether the row is one of a table.
    package func isIn(_ table: String) -> Bool { self.table.isSame(as: table) }
}

extension String {
    /// Returns whether two texts have the same bytes. Databases compare names of tables and columns so; Swift takes two
    /// forms of one accent for equal.
    package func isSame(as other: String) -> Bool { utf8.count == other.utf8.count && utf8.elementsEqual(other.utf8) }
}
