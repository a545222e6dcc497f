// Every unsafe pointer of this module is in this file. They reach the document's bytes and a name's, which are borrowed for
// the length of one call; the places that a scan found, the containers around the one that is read and a string's text,
// which live for one call too; and the index's words, which are freed with the storage that owns them.

import RunwayJSONSIMD
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

private typealias Bytes = UnsafeBufferPointer<UInt8>

/// The bytes of a document and the words of its index; or, for an absent value, why it is absent.
///
/// `@unchecked Sendable`: every property is a `let`, and the words are written before `init` returns and never after.
@usableFromInline
final class JSONStorage: @unchecked Sendable {
    let bytes: [UInt8]
    let absence: JSONAbsence?
    private let words: GrowingMemory<UInt32>
    /// The start of the document as errors show it, made for the first of them.
    let bodyStartText = AtomicLazyReference<BodyStart>()

    /// Indexes a document, or returns nil when it is not valid or beyond a limit.
    ///
    /// - Parameter scan: Finds the positions that matter to the grammar. Default: the fastest scan that the processor
    ///   runs.
    init?(indexing bytes: [UInt8], limits: JSONLimits, scan: PlaceScan = .fastest) {
        guard !bytes.isEmpty, bytes.count <= limits.effectiveByteCount else { return nil }
        let words = bytes.withUnsafeBufferPointer { bytes in
            let places = PlaceReader(BorrowedBytes(bytes), scan: scan)
            defer { places.deallocate() }
            var builder = IndexBuilder(places: places, byteCount: bytes.count, limits: limits)
            return builder.index()
        }
        guard let words else { return nil }
        self.bytes = bytes
        self.words = words
        absence = nil
    }

    /// Creates the storage of an absent value, with one entry.
    init(absence: JSONAbsence) {
        bytes = []
        self.absence = absence
        words = Self.absentWords
    }

    /// The index of everything that is not there, which is never freed.
    ///
    /// `nonisolated(unsafe)`: it is written before it can be reached, and never after.
    nonisolated(unsafe) private static let absentWords: GrowingMemory<UInt32> = {
        var words = GrowingMemory<UInt32>(capacity: IndexEntry.wordCount)
        words.write(.missing, at: 0)
        return words
    }()

    deinit { if absence == nil { words.deallocate() } }

    /// The bytes that the index takes in addition to the document.
    var indexByteCount: Int { words.capacity &* MemoryLayout<UInt32>.size }

    /// Returns the entry at an index, which must come from this storage: 0, or reached from an entry by its stride.
    @inline(__always)
    func entry(at index: Int) -> IndexEntry { words.entry(at: index) }

    /// Returns the name of the member whose value is at an index.
    @inline(__always)
    func name(ofValueAt index: Int) -> NameEntry { NameEntry(bits: words[index &- 1]) }

    /// Returns the index of the value of the first member with a name; -1 if the object has no such member, or the
    /// value at `index` is not an object.
    @usableFromInline
    func member(named name: String, ofObjectAt object: Int) -> Int {
        let opening = entry(at: object)
        guard opening.rawTag == IndexEntry.Tag.object.rawValue else { return -1 }
        let end = object &+ opening.extent
        return withBytes(of: name) { name, bytes in
            let found = search(name, in: bytes, from: object &+ IndexEntry.wordCount &+ 1, to: end)
            return found < end ? found : -1
        }
    }

    /// Returns the same as ``member(named:ofObjectAt:)`` for a known object; it is the faster the nearer the member is
    /// after the cursor.
    func member(named name: String, ofObjectAt object: Int, cursor: inout MemberCursor) -> Int {
        let first = object &+ IndexEntry.wordCount &+ 1
        let end = object &+ entry(at: object).extent
        var index = max(cursor.index, first)
        return withBytes(of: name) { name, bytes in
            if cursor.mayHavePassed(name.span) {
                let found = search(name, in: bytes, from: first, to: index)
                cursor.noteSearchBehind(words: found &- first)
                if found < index { return found }
            }
            let found = search(name, in: bytes, from: index, to: end)
            while index < end, index <= found {
                let passed = self.name(ofValueAt: index)
                index &+= 1 &+ entry(at: index).stride
                cursor.pass(passed, in: bytes.span, to: index)
            }
            return found < end ? found : -1
        }
    }

    @inline(__always)
    private func withBytes(of name: String, _ body: (_ name: Bytes, _ bytes: Bytes) -> Int) -> Int {
        bytes.withUnsafeBufferPointer { bytes in
            if let found = name.utf8.withContiguousStorageIfAvailable({ body($0, bytes) }) { return found }
            var name = name
            return name.withUTF8 { body($0, bytes) }
        }
    }

    /// Searches a range of values, all written by the builder, each after its name, for the first with a name; returns
    /// an index at or after the end if there is none.
    @inline(__always)
    private func search(_ name: Bytes, in bytes: Bytes, from first: Int, to end: Int) -> Int {
        let length = NameEntry.length(of: name.count)
        var index = first
        while index < end {
            let candidate = self.name(ofValueAt: index)
            if candidate.length == length {
                // A name without escapes is equal if the same bytes end at its closing quotation mark, the first one after its
                // start. If the entry has the whole length, that is the next one; a longer name may end before, at a quotation
                // mark that the other name has too. A reverse solidus cannot precede it.
                let end = candidate.offset &+ name.count
                if end < bytes.count, bytes[end] == UInt8(ascii: "\""),
                    Self.isEqual(bytes, at: candidate.offset, name),
                    length < NameEntry.long || !Self.hasQuotationMark(name)
                {
                    return index
                }
            } else if candidate.length == NameEntry.escaped {
                if StringText(entry: candidate.string(in: self.bytes)).equals(name, in: self.bytes) { return index }
            }
            index &+= 1 &+ entry(at: index).stride
        }
        return index
    }

    private static func hasQuotationMark(_ name: Bytes) -> Bool {
        guard let start = name.baseAddress else { return false }
        return memchr(start, CInt(UInt8(ascii: "\"")), name.count) != nil
    }

    /// Whether a name's bytes are at an offset, after which the document has at least as many.
    @inline(__always)
    private static func isEqual(_ bytes: Bytes, at offset: Int, _ name: Bytes) -> Bool {
        guard let nameStart = name.baseAddress, let documentStart = bytes.baseAddress else { return name.count == 0 }
        let one = UnsafeRawPointer(documentStart + offset)
        let other = UnsafeRawPointer(nameStart)
        func isEqual<Word: FixedWidthInteger & BitwiseCopyable>(by word: Word.Type) -> Bool {
            let last = name.count &- MemoryLayout<Word>.size
            return one.loadUnaligned(as: word) == other.loadUnaligned(as: word)
                && (one + last).loadUnaligned(as: word) == (other + last).loadUnaligned(as: word)
        }
        // Names of 4 to 16 bytes are two loads each, which may overlap.
        switch name.count {
        case 8...16: return isEqual(by: UInt64.self)
        case 4..<8: return isEqual(by: UInt32.self)
        default: return memcmp(one, other, name.count) == 0
        }
    }

    /// Returns a string from well-formed bytes of the document without checking them again.
    func text(_ range: Range<Int>) -> String {
        // The range is an entry's, so it is inside the document, which was checked to be well-formed as a whole and in
        // which quotation marks, its neighbours, are sequences of their own.
        bytes.withUnsafeBufferPointer { Self.text(UnsafeBufferPointer(rebasing: $0[range])) }
    }

    private static func text(_ wellFormed: Bytes) -> String {
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
            return String(copying: UTF8Span(unchecked: wellFormed.span))
        }
        return String(decoding: wellFormed, as: UTF8.self)
    }

    /// Returns a string with its escapes undone.
    func text(unescaping text: StringText) -> String {
        let offset = text.entry.offset
        let end = offset &+ text.entry.extent
        // No escape is shorter than its bytes, so that at every position the output has at least as much space left as the
        // string has bytes, and well-formed text stays well-formed.
        return withUnsafeTemporaryAllocation(byteCount: text.entry.extent, alignment: 1) { output in
            bytes.withUnsafeBytes { bytes in
                var written = 0
                var place = offset
                while place < end {
                    var plain = bytes[place] == UInt8(ascii: "\\") ? 0 : 1
                    output[written] = bytes[place]
                    if place &+ 8 <= end {
                        let eight = bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)
                        output.storeBytes(of: eight, toByteOffset: written, as: UInt64.self)
                        plain = StringText.plainByteCount(UInt64(littleEndian: eight))
                    }
                    written &+= plain
                    place &+= plain
                    guard place < end, bytes[place] == UInt8(ascii: "\\") else { continue }
                    let (scalar, length) = text.escape(at: place, in: self.bytes)
                    for byte in UTF8.bytes(of: scalar) {
                        output[written] = byte
                        written &+= 1
                    }
                    place &+= length
                }
                return Self.text(UnsafeBufferPointer(rebasing: output.assumingMemoryBound(to: UInt8.self)[..<written]))
            }
        }
    }
}

/// Returns a value as the type that it has. The caller has compared the types: the bytes of both are equal.
@inline(__always)
func sameType<Value, T>(_ value: Value, as type: T.Type) -> T {
    precondition(Value.self == type)
    return withUnsafePointer(to: value) { UnsafeRawPointer($0).assumingMemoryBound(to: type).pointee }
}

/// Memory of the C library that grows. It is bounds-checked only in debug builds: each use states why its index is
/// inside.
struct GrowingMemory<Element: BitwiseCopyable> {
    private var base: UnsafeMutablePointer<Element>
    private(set) var capacity: Int

    init(capacity: Int) {
        base = Self.memory(nil, capacity)
        self.capacity = capacity
    }

    private static func memory(_ old: UnsafeMutableRawPointer?, _ capacity: Int) -> UnsafeMutablePointer<Element> {
        guard let memory = realloc(old, capacity &* MemoryLayout<Element>.stride) else {
            preconditionFailure("out of memory")
        }
        return memory.bindMemory(to: Element.self, capacity: capacity)
    }

    /// Reserves space for more elements, and preserves the existing ones.
    @inline(__always)
    mutating func reserve(_ count: Int) {
        if count > capacity { resize(to: max(count, capacity &* 2)) }
    }

    @inline(never)
    private mutating func resize(to capacity: Int) {
        base = Self.memory(base, capacity)
        self.capacity = capacity
    }

    /// Releases the memory beyond the first `count` elements.
    mutating func shrink(to count: Int) {
        if count < capacity { resize(to: max(count, 1)) }
    }

    func deallocate() { free(base) }

    @inline(__always)
    subscript(place: Int) -> Element {
        get { base[checked(place, 1)] }
        set { base[checked(place, 1)] = newValue }
    }

    /// Returns the address of a range of elements that is inside.
    @inline(__always)
    fileprivate func checked(_ place: Int, _ count: Int) -> Int {
        assert(place >= 0 && place &+ count <= capacity)
        return place
    }

    /// Returns the address of an element, for a scan to write to.
    fileprivate func address(_ place: Int) -> UnsafeMutablePointer<Element> { base + place }

    /// Returns the eight elements of one byte from a place on, the first one lowest.
    @inline(__always)
    func eight(at place: Int) -> UInt64 {
        assert(MemoryLayout<Element>.size == 1)
        return UInt64(littleEndian: UnsafeRawPointer(base + checked(place, 8)).loadUnaligned(as: UInt64.self))
    }
}

extension GrowingMemory<UInt32> {
    /// Returns the entry in the two words from a place on.
    @inline(__always)
    func entry(at place: Int) -> IndexEntry {
        IndexEntry(bits: UnsafeRawPointer(base + checked(place, IndexEntry.wordCount)).loadUnaligned(as: UInt64.self))
    }

    /// Writes an entry to the two words from a place on.
    @inline(__always)
    mutating func write(_ entry: IndexEntry, at place: Int) {
        UnsafeMutableRawPointer(base + checked(place, IndexEntry.wordCount)).storeBytes(of: entry.bits, as: UInt64.self)
    }
}

/// The bytes of a document, borrowed for the length of one call: they must not escape it.
struct BorrowedBytes {
    private let bytes: UnsafeBufferPointer<UInt8>

    init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    @inline(__always) var count: Int { bytes.count }

    /// The byte at a place, which is checked.
    @inline(__always)
    subscript(place: Int) -> UInt8 {
        precondition(UInt(bitPattern: place) < UInt(bitPattern: bytes.count), "a place outside the document")
        return bytes[place]
    }

    /// Returns the four bytes from a place on, the first one lowest, which are checked to be inside.
    @inline(__always)
    func four(at place: Int) -> UInt32 {
        precondition(place >= 0 && place <= bytes.count &- 4, "a place outside the document")
        let start = UnsafeRawBufferPointer(bytes)
        return UInt32(littleEndian: start.loadUnaligned(fromByteOffset: place, as: UInt32.self))
    }

    /// The first byte of the first ill-formed sequence of UTF-8, or nil when all bytes are well-formed.
    var firstFault: Int? { UTF8Check.firstFault(in: bytes.span) }

    /// Scans `blockCount` whole blocks from a position on. `found` has space for 64 positions for each block and 64
    /// more.
    func scanBlocks(_ blockCount: Int, from start: Int, by scan: inout ScanState, into found: inout FoundPlaces) {
        precondition(start >= 0 && start &+ blockCount &* 64 <= bytes.count, "blocks outside the document")
        guard let address = bytes.baseAddress else { return }
        Self.scanBlocks(address + start, blockCount, start, &scan, &found)
    }

    /// Scans the rest from a position on, less than a block, padded with spaces: these add no place, and end a
    /// truncated token, even if no byte is left.
    func scanLastBlock(from start: Int, by scan: inout ScanState, into found: inout FoundPlaces) {
        let rest = bytes.count &- start
        precondition(start >= 0 && rest >= 0 && rest < 64, "no last block")
        guard let address = bytes.baseAddress else { return }
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 64) { block in
            block.initialize(repeating: 0x20)
            guard let blockStart = block.baseAddress else { return }
            memcpy(blockStart, address + start, rest)
            Self.scanBlocks(blockStart, 1, start, &scan, &found)
        }
    }

    private static func scanBlocks(
        _ blocks: UnsafePointer<UInt8>, _ blockCount: Int, _ start: Int, _ state: inout ScanState,
        _ found: inout FoundPlaces
    ) {
        assert(found.count &+ 64 &* (blockCount &+ 1) <= min(found.places.capacity, found.kinds.capacity))
        if case .vector(let scan) = state.scan {
            found.count &+= scan(
                &state.vector, blocks, blockCount, UInt32(truncatingIfNeeded: start), found.places.address(found.count),
                found.kinds.address(found.count))
            return
        }
        for number in 0..<blockCount {
            let block = blocks + number &* 64
            var mask = state.portable.places(of: UnsafeBufferPointer(start: block, count: 64).span)
            while mask != 0 {
                let place = mask.trailingZeroBitCount
                found.append(UInt32(truncatingIfNeeded: start &+ number &* 64 &+ place), block[place])
                mask &= mask &- 1
            }
        }
    }
}
