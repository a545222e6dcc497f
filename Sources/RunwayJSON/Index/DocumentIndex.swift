// Every unsafe pointer of this module is in this file. Two kinds of memory are reached through pointers: the document's
// bytes, borrowed from an array for the length of one call, and the index's entries, allocated here and freed with the
// storage that owns them.

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The bytes of a document and the entries of its index; or, for a value that is not there, why it is not.
///
/// `@unchecked Sendable`: every property is a `let`, and the entries are written before `init` returns and never after.
final class JSONStorage: @unchecked Sendable {
    let bytes: [UInt8]
    let absence: JSONAbsence?
    private let entries: UnsafeMutablePointer<UInt64>

    /// Indexes a document, or returns nil when it is not valid or beyond a limit.
    init?(indexing bytes: [UInt8], limits: JSONLimits) {
        let entries = bytes.withUnsafeBufferPointer { IndexBuilder.index(of: $0, limits: limits) }
        guard let entries else { return nil }
        self.bytes = bytes
        self.entries = entries
        absence = nil
    }

    /// Stands for a value that is not there: its only entry is the one that says so.
    init(absence: JSONAbsence) {
        bytes = []
        self.absence = absence
        entries = IndexBuilder.allocate(1)
        entries.pointee = IndexEntry.missing.bits
    }

    deinit { free(entries) }

    /// The entry at an index, which must come from this storage: 0, or reached from an entry by its stride.
    @inline(__always)
    func entry(at index: Int) -> IndexEntry { IndexEntry(bits: entries[index]) }

    /// The value of the first member with a name, as an index; nil when the object at an index has none.
    func member(named name: UnsafeBufferPointer<UInt8>, ofObjectAt object: Int) -> Int? {
        // The entries from an object's opening to its closing one are inside the allocation, since the builder wrote
        // both. A name's bytes are inside the document, since the builder took offset and extent from it.
        let end = object &+ entry(at: object).extent
        var index = object &+ 1
        return bytes.withUnsafeBufferPointer { bytes in
            while index < end {
                let key = entry(at: index)
                if key.rawTag == IndexEntry.Tag.string.rawValue {
                    if key.extent == name.count,
                        name.count == 0 || memcmp(bytes.baseAddress! + key.offset, name.baseAddress!, name.count) == 0
                    {
                        return index &+ 1
                    }
                } else if StringText(entry: key).equals(name, in: self.bytes) {
                    return index &+ 1
                }
                index &+= 1 &+ entry(at: index &+ 1).stride
            }
            return nil
        }
    }

    /// A string made from well-formed bytes of the document without checking them again.
    func text(_ range: Range<Int>) -> String {
        bytes.withUnsafeBufferPointer { bytes in
            // The range is an entry's, so it is inside the document, which was checked to be well-formed as a whole and
            // in which quotation marks, its neighbours, are sequences of their own.
            let slice = UnsafeBufferPointer(rebasing: bytes[range])
            if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
                return String(copying: UTF8Span(unchecked: slice.span))
            }
            return String(decoding: slice, as: UTF8.self)
        }
    }
}

/// Checks a document against the grammar of RFC 8259 and writes its index, in one pass over the places that
/// ``BlockMasks`` found. It only says yes or no: ``GrammarCheck`` finds out where and why.
private struct IndexBuilder {
    private let bytes: UnsafePointer<UInt8>
    private let count: Int
    private let limits: JSONLimits
    private var scan = BlockScanState()
    private var scanned = 0

    /// Places found in the bytes scanned last, of which `placesUsed` were taken.
    private let places: UnsafeMutablePointer<UInt32>
    private var placeCount = 0
    private var placesUsed = 0

    private var entries: UnsafeMutablePointer<UInt64>
    private var entryCapacity: Int
    private var entryCount = 0

    /// For each open container the index of its entry and the number of its children so far.
    private var openContainers: [(entry: UInt32, children: UInt32)] = []
    private var valueCount = 1

    /// A chunk is scanned, then read, so that its bytes and places stay in the nearest cache.
    private static let chunkByteCount = 4096

    static func allocate(_ capacity: Int) -> UnsafeMutablePointer<UInt64> {
        guard let memory = malloc(capacity &* 8) else {
            preconditionFailure("out of memory")
        }
        return memory.bindMemory(to: UInt64.self, capacity: capacity)
    }

    static func index(of bytes: UnsafeBufferPointer<UInt8>, limits: JSONLimits) -> UnsafeMutablePointer<UInt64>? {
        guard let base = bytes.baseAddress, bytes.count <= limits.effectiveByteCount else { return nil }
        guard UTF8Check.firstFault(in: bytes.span) == nil else { return nil }
        return withUnsafeTemporaryAllocation(of: UInt32.self, capacity: chunkByteCount) { places in
            var builder = IndexBuilder(
                bytes: base, count: bytes.count, limits: limits, places: places.baseAddress!)
            if builder.run() { return builder.entries }
            free(builder.entries)
            return nil
        }
    }

    private init(
        bytes: UnsafePointer<UInt8>, count: Int, limits: JSONLimits, places: UnsafeMutablePointer<UInt32>
    ) {
        self.bytes = bytes
        self.count = count
        self.limits = limits
        self.places = places
        if count >= 3, bytes[0] == 0xEF, bytes[1] == 0xBB, bytes[2] == 0xBF { scanned = 3 }
        entryCapacity = max(count / 8, 16)
        entries = Self.allocate(entryCapacity)
    }

    /// The next place, or -1 after the last.
    @inline(__always)
    private mutating func nextPlace() -> Int {
        while placesUsed == placeCount {
            if !scanChunk() { return -1 }
        }
        placesUsed &+= 1
        return Int(places[placesUsed &- 1])
    }

    /// Scans the next chunk, or returns false when there is none. At most one place a byte is written, so that the
    /// places of a chunk always fit; as many entries are made room for, as a place makes at most one.
    private mutating func scanChunk() -> Bool {
        guard scanned < count else { return false }
        placeCount = 0
        placesUsed = 0
        let end = min(scanned &+ Self.chunkByteCount, count)
        while scanned < end {
            if end &- scanned >= 64 {
                let block = UnsafeBufferPointer(start: bytes + scanned, count: 64)
                write(places: BlockMasks(block: block.span).places(&scan), of: scanned)
            } else {
                // The last block is filled up with spaces, which add no place.
                withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 64) { block in
                    block.initialize(repeating: 0x20)
                    memcpy(block.baseAddress!, bytes + scanned, end &- scanned)
                    let masks = BlockMasks(block: UnsafeBufferPointer(block).span)
                    write(places: masks.places(&scan), of: scanned)
                }
            }
            scanned &+= 64
        }
        scanned = min(scanned, end)
        if entryCount &+ placeCount > entryCapacity {
            entryCapacity = max(entryCapacity &* 2, entryCount &+ placeCount)
            guard let grown = realloc(entries, entryCapacity &* 8) else { preconditionFailure("out of memory") }
            entries = grown.bindMemory(to: UInt64.self, capacity: entryCapacity)
        }
        return true
    }

    private mutating func write(places mask: UInt64, of start: Int) {
        var mask = mask
        while mask != 0 {
            places[placeCount] = UInt32(truncatingIfNeeded: start &+ mask.trailingZeroBitCount)
            placeCount &+= 1
            mask &= mask &- 1
        }
    }

    @inline(__always)
    private mutating func append(_ tag: IndexEntry.Tag, _ offset: Int, _ extent: Int) {
        entries[entryCount] = IndexEntry(tag: tag, offset: offset, extent: extent).bits
        entryCount &+= 1
    }

    /// The whole document: one value, and nothing after it.
    private mutating func run() -> Bool {
        guard readValue(at: nextPlace()) else { return false }
        while let container = openContainers.last {
            let isObject = IndexEntry(bits: entries[Int(container.entry)]).tag == .object
            let place = nextPlace()
            guard place >= 0 else { return false }
            if bytes[place] == (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) {
                close(at: place)
                continue
            }
            var first = place
            if container.children > 0 {
                guard bytes[place] == UInt8(ascii: ",") else { return false }
                first = nextPlace()
            }
            openContainers[openContainers.count - 1].children &+= 1
            if isObject {
                guard readName(at: first) else { return false }
                first = nextPlace()
            }
            guard readValue(at: first) else { return false }
        }
        return nextPlace() < 0 && !scan.hasControlCharacter && scan.insideString == 0
            && valueCount <= limits.maximumValueCount
    }

    private mutating func close(at place: Int) {
        let container = openContainers.removeLast()
        let index = Int(container.entry)
        let opening = IndexEntry(bits: entries[index])
        entries[index] =
            IndexEntry(tag: opening.tag, offset: opening.offset, extent: entryCount &- index).bits
        append(.end, place, Int(container.children))
        valueCount &+= Int(container.children)
    }

    private mutating func readName(at place: Int) -> Bool {
        guard place >= 0, bytes[place] == UInt8(ascii: "\""), readString(at: place) else { return false }
        let colon = nextPlace()
        return colon >= 0 && bytes[colon] == UInt8(ascii: ":")
    }

    private mutating func readValue(at place: Int) -> Bool {
        guard place >= 0 else { return false }
        switch bytes[place] {
        case UInt8(ascii: "\""): return readString(at: place)
        case UInt8(ascii: "{"): return open(.object, at: place)
        case UInt8(ascii: "["): return open(.array, at: place)
        case UInt8(ascii: "t"): return readLiteral(.true, "true", at: place)
        case UInt8(ascii: "f"): return readLiteral(.false, "false", at: place)
        case UInt8(ascii: "n"): return readLiteral(.null, "null", at: place)
        default: return readNumber(at: place)
        }
    }

    private mutating func open(_ tag: IndexEntry.Tag, at place: Int) -> Bool {
        guard openContainers.count < limits.maximumDepth else { return false }
        openContainers.append((entry: UInt32(truncatingIfNeeded: entryCount), children: 0))
        append(tag, place, 0)
        return true
    }

    /// From one quotation mark to the other; the places between are escapes, which are checked here.
    private mutating func readString(at place: Int) -> Bool {
        var tag = IndexEntry.Tag.string
        while true {
            let next = nextPlace()
            guard next >= 0 else { return false }
            if bytes[next] == UInt8(ascii: "\"") {
                append(tag, place &+ 1, next &- place &- 1)
                return true
            }
            tag = .escapedString
            guard isEscape(at: next) else { return false }
        }
    }

    private func isEscape(at place: Int) -> Bool {
        guard place &+ 1 < count else { return false }
        switch bytes[place &+ 1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            return true
        case UInt8(ascii: "u"):
            guard place &+ 5 < count else { return false }
            return (2...5).allSatisfy { StringText.hexValue(bytes[place &+ $0]) != nil }
        default:
            return false
        }
    }

    private mutating func readLiteral(_ tag: IndexEntry.Tag, _ literal: StaticString, at place: Int) -> Bool {
        let length = literal.utf8CodeUnitCount
        guard place &+ length <= count, memcmp(bytes + place, literal.utf8Start, length) == 0,
            isDelimited(at: place &+ length)
        else { return false }
        append(tag, place, length)
        return true
    }

    private mutating func readNumber(at place: Int) -> Bool {
        var end = place
        var tag = IndexEntry.Tag.integer
        if bytes[end] == UInt8(ascii: "-") { end &+= 1 }
        guard end < count else { return false }
        if bytes[end] == UInt8(ascii: "0") {
            end &+= 1
        } else {
            guard skipDigits(&end) else { return false }
        }
        if end < count, bytes[end] == UInt8(ascii: ".") {
            end &+= 1
            tag = .number
            guard skipDigits(&end) else { return false }
        }
        if end < count, bytes[end] | 0x20 == UInt8(ascii: "e") {
            end &+= 1
            tag = .number
            if end < count, bytes[end] == UInt8(ascii: "+") || bytes[end] == UInt8(ascii: "-") { end &+= 1 }
            guard skipDigits(&end) else { return false }
        }
        guard isDelimited(at: end) else { return false }
        append(tag, place, end &- place)
        return true
    }

    /// Goes past digits, of which there must be at least one.
    @inline(__always)
    private func skipDigits(_ end: inout Int) -> Bool {
        let start = end
        while end < count, bytes[end] &- UInt8(ascii: "0") <= 9 { end &+= 1 }
        return end > start
    }

    /// Whether a literal or number may end before a place. What follows white space or an operator is checked as the
    /// next place is.
    @inline(__always)
    private func isDelimited(at place: Int) -> Bool {
        guard place < count else { return true }
        switch bytes[place] {
        case 0x20, 0x09, 0x0A, 0x0D, UInt8(ascii: ","), UInt8(ascii: "]"), UInt8(ascii: "}"), UInt8(ascii: ":"),
            UInt8(ascii: "["), UInt8(ascii: "{"):
            return true
        default: return false
        }
    }
}
