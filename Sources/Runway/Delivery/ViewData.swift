/// A dictionary, with typed constants as keys, that holds the values that one view shows. The view can be, for example,
/// a row, a map pin or a screen.
///
/// ```swift
/// var row = ViewData()
/// row[PropertyListKeys.title] = item["title"].string
/// label.text = row[PropertyListKeys.title]
/// ```
///
/// Use it for the few values of one view, because a lookup is a linear search.
public struct ViewData: Sendable {
    /// One value with the name of its key and the hash of that name. The hash is compared first, because the names of
    /// related keys differ only at their ends.
    @usableFromInline
    struct Entry: Sendable {
        @usableFromInline let name: String
        @usableFromInline let hash: Int
        @usableFromInline var value: any Sendable

        @inlinable
        init(name: String, hash: Int, value: any Sendable) {
            self.name = name
            self.hash = hash
            self.value = value
        }
    }

    /// The values with their keys, in the order in which they were first set.
    @usableFromInline var entries: [Entry] = []

    /// Creates an empty collection. A reformer sets the values.
    public init() {}

    /// The value of a key; `nil` if no value is set. Setting `nil` removes the value.
    ///
    /// Setting up to eight values takes one allocation, in addition to the allocations of the values themselves.
    /// Reading allocates nothing.
    @inlinable
    public subscript<Value>(key: ViewKey<Value>) -> Value? {
        get {
            let index = index(of: key)
            return index < entries.count ? entries[index].value as? Value : nil
        }
        set {
            let index = index(of: key)
            switch (index < entries.count, newValue) {
            case (true, let value?): entries[index].value = value
            case (true, nil): entries.remove(at: index)
            case (false, let value?):
                // Reserving space for eight entries takes only one allocation, and most collections need no more.
                // Otherwise each doubling of the capacity would take one.
                if entries.isEmpty { entries.reserveCapacity(8) }
                entries.append(Entry(name: key.name, hash: key.hash, value: value))
            case (false, nil): break
            }
        }
    }

    /// Returns the index of a key's value, or the number of values if the key has none.
    @inlinable
    func index<Value>(of key: ViewKey<Value>) -> Int {
        var index = 0
        while index < entries.count {
            if entries[index].hash == key.hash, entries[index].name == key.name { break }
            index += 1
        }
        return index
    }

    /// The number of values that are set.
    public var count: Int { entries.count }
}
