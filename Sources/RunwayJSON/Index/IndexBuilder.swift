/// Validates a document against the grammar of RFC 8259 and writes its index, in one pass over the scanned positions.
/// It returns only whether the document is valid: ``GrammarCheck`` finds the error and its position.
///
/// Bounds: each position produces at most one entry or one name. Before positions are scanned, space is reserved for
/// that many entries.
struct IndexBuilder {
    private var places: PlaceReader
    private let limits: JSONLimits
    private var words: GrowingMemory<UInt32>
    private var wordCount = 0

    private struct Container: BitwiseCopyable {
        /// The index of the container's opening entry.
        let index: Int
        let isObject: Bool
        var children = 0

        var closing: UInt8 { isObject ? UInt8(ascii: "}") : UInt8(ascii: "]") }
    }

    /// The containers that enclose the current one, outermost first.
    private var outer = GrowingMemory<Container>(capacity: 32)
    private var depth = 0
    private var valueCount = 1

    init(places: PlaceReader, byteCount: Int, limits: JSONLimits) {
        self.places = places
        self.limits = limits
        // One index word for four bytes of the document is enough for most documents, and memory that is never written
        // costs nothing.
        words = GrowingMemory(capacity: max(byteCount / 4, 32))
    }

    /// Returns the index, which the caller must free, or `nil` if the document is invalid or exceeds a limit.
    mutating func index() -> GrowingMemory<UInt32>? {
        defer { outer.deallocate() }
        if readDocument() {
            words.shrink(to: wordCount)
            return words
        }
        words.deallocate()
        return nil
    }

    @inline(__always)
    private mutating func refillIfNeeded() {
        guard places.refillIfNeeded() else { return }
        // A value takes at most five words. Checking the number of values while reading limits the memory that is
        // allocated.
        if wordCount / 5 > limits.maximumValueCount { places.skipRest() }
        words.reserve(wordCount &+ places.count &* IndexEntry.wordCount)
    }

    @inline(__always)
    private mutating func append(_ entry: IndexEntry) {
        words.write(entry, at: wordCount)
        wordCount &+= IndexEntry.wordCount
    }

    /// Reads the whole document: one value, and nothing after it.
    private mutating func readDocument() -> Bool {
        refillIfNeeded()
        if isOpening(places.kind()) {
            guard limits.maximumDepth > 0, readContainers(from: open()) else { return false }
        } else {
            guard readScalar() else { return false }
        }
        refillIfNeeded()
        return places.isEmpty && places.isSound && valueCount <= limits.maximumValueCount
    }

    /// Reads a container and all its children. The opening bracket was already read.
    private mutating func readContainers(from outermost: Container) -> Bool {
        var container = outermost
        while true {
            refillIfNeeded()
            if places.kind() == container.closing {
                close(container)
                guard depth > 0 else { return true }
                depth &-= 1
                container = outer[depth]
                continue
            }
            if container.children > 0 {
                guard places.kind() == UInt8(ascii: ",") else { return false }
                places.next &+= 1
            }
            if container.isObject {
                if readPlainMembers(of: &container) { continue }
                refillIfNeeded()
                guard places.kind() == UInt8(ascii: "\""), let name = readString(), places.kind() == UInt8(ascii: ":")
                else {
                    return false
                }
                let isEscaped = name.tag == .escapedString
                words[wordCount] = NameEntry(offset: name.offset, count: name.extent, isEscaped: isEscaped).bits
                wordCount &+= 1
                places.next &+= 1
                refillIfNeeded()
            }
            container.children &+= 1
            if isOpening(places.kind()) {
                guard push(container) else { return false }
                container = open()
            } else {
                guard readScalar() else { return false }
            }
        }
    }

    @inline(__always)
    private func isOpening(_ kind: UInt8) -> Bool { kind | 0x20 == UInt8(ascii: "{") }

    @inline(__always)
    private mutating func open() -> Container {
        let isObject = places.kind() == UInt8(ascii: "{")
        let container = Container(index: wordCount, isObject: isObject)
        append(IndexEntry(tag: isObject ? .object : .array, offset: Int(places.place()), extent: 0))
        places.next &+= 1
        return container
    }

    /// Pushes a container while a nested one is read. Returns `false` if the nesting is too deep.
    @inline(__always)
    private mutating func push(_ container: Container) -> Bool {
        guard depth &+ 1 < limits.maximumDepth else { return false }
        outer.reserve(depth &+ 1)
        outer[depth] = container
        depth &+= 1
        return true
    }

    @inline(__always)
    private mutating func close(_ container: Container) {
        let opening = words.entry(at: container.index)
        words.write(opening.with(extent: wordCount &- container.index), at: container.index)
        append(IndexEntry(tag: .end, offset: Int(places.place()), extent: container.children))
        valueCount &+= container.children
        places.next &+= 1
    }

    /// Reads members, beginning at a name, as long as eight positions are available. It stops at a member with an
    /// escape or with a container as its value. One comparison of eight bytes identifies a member. Returns `true` after
    /// a value, or `false` before a name that needs the general path.
    @inline(__always)
    private mutating func readPlainMembers(of container: inout Container) -> Bool {
        let quote = UInt64(UInt8(ascii: "\""))
        let nameAndColon = quote | quote &<< 8 | UInt64(UInt8(ascii: ":")) &<< 16
        var written = wordCount
        var isAfterValue = false
        while places.hasEight {
            let eight = places.eightKinds
            guard eight & 0xFF_FFFF == nameAndColon else { break }
            let kind = UInt8(truncatingIfNeeded: eight &>> 24)
            let place = Int(places.place(3))
            let value: IndexEntry
            var used = 4
            if kind == UInt8(ascii: "\"") {
                guard eight &>> 32 & 0xFF == quote else { break }
                value = IndexEntry(tag: .string, offset: place &+ 1, extent: Int(places.place(4)) &- place &- 1)
                used = 5
            } else {
                let scalar = ScalarGrammar.scalar(places.bytes, kind: kind, at: place, before: places.place(4))
                guard let scalar else { break }
                value = scalar
            }
            let start = Int(places.place()) &+ 1
            let count = Int(places.place(1)) &- start
            words[written] = NameEntry(offset: start, count: count, isEscaped: false).bits
            words.write(value, at: written &+ 1)
            written &+= 1 &+ IndexEntry.wordCount
            container.children &+= 1
            places.next &+= used
            guard places.kind() == UInt8(ascii: ",") else {
                isAfterValue = true
                break
            }
            places.next &+= 1
        }
        wordCount = written
        return isAfterValue
    }

    @inline(__always)
    private mutating func readScalar() -> Bool {
        if places.kind() == UInt8(ascii: "\"") {
            guard let string = readString() else { return false }
            append(string)
            return true
        }
        let scalar = ScalarGrammar.scalar(
            places.bytes, kind: places.kind(), at: Int(places.place()), before: places.place(1))
        guard let scalar else { return false }
        append(scalar)
        places.next &+= 1
        return true
    }

    /// Reads a string, from its opening quotation mark past its closing one. The positions between them are escapes,
    /// which are checked here.
    private mutating func readString() -> IndexEntry? {
        let start = Int(places.place()) &+ 1
        var tag = IndexEntry.Tag.string
        places.next &+= 1
        while true {
            refillIfNeeded()
            let place = Int(places.place())
            switch places.kind() {
            case UInt8(ascii: "\""):
                places.next &+= 1
                refillIfNeeded()
                return IndexEntry(tag: tag, offset: start, extent: place &- start)
            case UInt8(ascii: "\\"):
                guard ScalarGrammar.isEscape(places.bytes, at: place) else { return nil }
                tag = .escapedString
                places.next &+= 1
            default: return nil
            }
        }
    }
}
