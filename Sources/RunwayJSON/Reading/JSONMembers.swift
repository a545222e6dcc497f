/// The members of an object in document order, read lazily without allocation.
///
/// Members with equal names are all included.
public struct JSONMembers: Sequence, Sendable {
    @usableFromInline let object: JSONValue

    @inlinable
    init(object: JSONValue) { self.object = object }

    /// The number of members. Takes constant time.
    @inlinable public var count: Int { object.kind == .object ? object.count : 0 }

    /// The number of members. Takes constant time.
    @inlinable public var underestimatedCount: Int { count }

    /// Returns an iterator at the first member.
    @inlinable
    public func makeIterator() -> Iterator { Iterator(object: object) }

    /// Iterates over the members of one object.
    public struct Iterator: IteratorProtocol, Sendable {
        @usableFromInline let storage: JSONStorage
        @usableFromInline var index: Int
        @usableFromInline let end: Int

        @inlinable
        init(object: JSONValue) {
            storage = object.storage
            index = object.storage.firstChild(at: object.index) &+ 1
            end = object.kind == .object ? object.storage.end(at: object.index) : 0
        }

        /// Returns the next member, or `nil` after the last.
        @inlinable
        public mutating func next() -> JSONMember? {
            guard index < end else { return nil }
            let member = JSONMember(value: JSONValue(storage: storage, index: index))
            index &+= storage.stride(at: index) &+ 1
            return member
        }
    }
}

/// One member of an object: a name and a value.
public struct JSONMember: Sendable {
    /// The value of the member.
    public let value: JSONValue

    @inlinable
    init(value: JSONValue) { self.value = value }

    /// The member's name. Every access creates a string.
    public var key: String { value.storage.nameText(ofValueAt: value.index) }

    /// Returns whether the member's name is exactly the Unicode scalars of `key`. It creates no string.
    public func hasKey(_ key: String) -> Bool { StringText(entry: name).equals(key.utf8, in: value.storage.bytes) }

    /// The byte offsets of the name in the document, including its quotation marks.
    public var keyByteRange: Range<Int> { (name.offset - 1)..<(name.offset + name.extent + 1) }

    private var name: IndexEntry { value.storage.name(ofValueAt: value.index).string(in: value.storage.bytes) }
}
