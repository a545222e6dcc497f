/// The elements of an array in document order, read lazily without allocation.
public struct JSONElements: Sequence, Sendable {
    @usableFromInline let array: JSONValue

    @inlinable
    init(array: JSONValue) { self.array = array }

    /// The number of elements. Takes constant time.
    @inlinable public var count: Int { array.kind == .array ? array.count : 0 }

    /// The number of elements. Takes constant time.
    @inlinable public var underestimatedCount: Int { count }

    /// Returns an iterator at the first element.
    @inlinable
    public func makeIterator() -> Iterator { Iterator(array: array) }

    /// Iterates over the elements of one array.
    public struct Iterator: IteratorProtocol, Sendable {
        @usableFromInline let storage: JSONStorage
        @usableFromInline var index: Int
        @usableFromInline let end: Int

        @inlinable
        init(array: JSONValue) {
            storage = array.storage
            index = array.storage.firstChild(at: array.index)
            end = array.kind == .array ? array.storage.end(at: array.index) : 0
        }

        /// Returns the next element, or `nil` after the last.
        @inlinable
        public mutating func next() -> JSONValue? {
            guard index < end else { return nil }
            let value = JSONValue(storage: storage, index: index)
            index &+= storage.stride(at: value.index)
            return value
        }
    }
}
