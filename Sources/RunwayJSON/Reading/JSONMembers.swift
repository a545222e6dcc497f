/// The members of an object in document order, found as the sequence goes on; it allocates nothing.
///
/// A name that occurs twice is there twice.
public struct JSONMembers: Sequence, Sendable {
    private let object: JSONValue

    init(object: JSONValue) { self.object = object }

    /// The number of members, known without going through them.
    public var count: Int { object.kind == .object ? object.count : 0 }

    /// The number of members, known without going through them.
    public var underestimatedCount: Int { count }

    /// Goes through the members from the first one.
    public func makeIterator() -> Iterator { Iterator(object: object) }

    /// Goes through the members of one object.
    public struct Iterator: IteratorProtocol, Sendable {
        private let storage: JSONStorage
        private var index: Int
        private let end: Int

        init(object: JSONValue) {
            let entry = object.entry
            storage = object.storage
            index = object.index &+ 1
            end = entry.tag == .object ? object.index &+ entry.extent : 0
        }

        /// The next member, or nil after the last.
        public mutating func next() -> JSONMember? {
            guard index < end else { return nil }
            let member = JSONMember(value: JSONValue(storage: storage, index: index &+ 1))
            index &+= 1 &+ member.value.entry.stride
            return member
        }
    }
}

/// One member of an object: a name and a value.
public struct JSONMember: Sendable {
    /// The member's value.
    public let value: JSONValue

    /// The member's name; the string is made here.
    public var key: String { name.text(in: value.storage) }

    /// Whether the member's name is exactly these Unicode scalars; compares bytes and makes no string.
    public func hasKey(_ key: String) -> Bool { name.equals(key.utf8, in: value.storage.bytes) }

    /// Where the name stands in the document, with its quotation marks.
    public var keyByteRange: Range<Int> { nameValue.byteRange }

    private var nameValue: JSONValue { JSONValue(storage: value.storage, index: value.index - 1) }

    private var name: StringText { StringText(entry: nameValue.entry) }
}
