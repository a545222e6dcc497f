/// The members of an object in document order, found during the iteration; it allocates nothing.
///
/// A name that occurs twice is contained twice.
public struct JSONMembers: Sequence, Sendable {
    @usableFromInline let object: JSONValue

    @inlinable
    init(object: JSONValue) { self.object = object }

    /// The number of members, known without going through them.
    @inlinable public var count: Int { object.kind == .object ? object.count : 0 }

    /// The number of members, known without going through them.
    @inlinable public var underestimatedCount: Int { count }

    /// Goes through the members from the first one.
    @inlinable
    public func makeIterator() -> Iterator { Iterator(object: object) }

    /// Goes through the members of one object.
    public struct Iterator: IteratorProtocol, Sendable {
        @usableFromInline let storage: JSONStorage
        /// The index of the next member's value.
        @usableFromInline var index: Int
        @usableFromInline let end: Int

        @inlinable
        init(object: JSONValue) {
            storage = object.storage
            index = object.storage.firstChild(at: object.index) &+ 1
            end = object.kind == .object ? object.storage.end(at: object.index) : 0
        }

        /// Returns the next member, or nil after the last.
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
    /// The member's value.
    public let value: JSONValue

    @inlinable
    init(value: JSONValue) { self.value = value }

    /// The member's name; the string is made here.
    public var key: String { value.storage.nameText(ofValueAt: value.index) }

    /// Whether the member's name is exactly these Unicode scalars; compares bytes and creates no string.
    public func hasKey(_ key: String) -> Bool { StringText(entry: name).equals(key.utf8, in: value.storage.bytes) }

    /// The position of the name in the document, with its quotation marks.
    public var keyByteRange: Range<Int> { (name.offset - 1)..<(name.offset + name.extent + 1) }

    private var name: IndexEntry { value.storage.name(ofValueAt: value.index).string(in: value.storage.bytes) }
}
