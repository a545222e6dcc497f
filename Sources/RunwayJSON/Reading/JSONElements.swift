/// The elements of an array in document order, found as the sequence goes on; it allocates nothing.
public struct JSONElements: Sequence, Sendable {
    private let array: JSONValue

    init(array: JSONValue) { self.array = array }

    /// The number of elements, known without going through them.
    public var count: Int { array.kind == .array ? array.count : 0 }

    /// The number of elements, known without going through them.
    public var underestimatedCount: Int { count }

    /// Goes through the elements from the first one.
    public func makeIterator() -> Iterator { Iterator(array: array) }

    /// Goes through the elements of one array.
    public struct Iterator: IteratorProtocol, Sendable {
        private let storage: JSONStorage
        private var index: Int
        private let end: Int

        init(array: JSONValue) {
            let entry = array.entry
            storage = array.storage
            index = array.index &+ 1
            end = entry.tag == .array ? array.index &+ entry.extent : 0
        }

        /// The next element, or nil after the last.
        public mutating func next() -> JSONValue? {
            guard index < end else { return nil }
            let value = JSONValue(storage: storage, index: index)
            index &+= value.entry.stride
            return value
        }
    }
}
