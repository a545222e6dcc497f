// All unsafe pointers of this module are in this file. They point to:
// - the bytes of a document or a name, borrowed for one call;
// - the scanned positions, the stack of open containers and a string's text, which live for one call;
// - the words of the index, which are freed with the storage that owns them.

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

/// The bytes of a document and the words of its index; or, for an absent value, the reason for its absence.
///
/// `@unchecked Sendable`: every property is a `let`, and the words are written before `init` returns and never after.
@usableFromInline
final class JSONStorage: @unchecked Sendable {
    let bytes: [UInt8]
    let absence: JSONAbsence?
    private let words: GrowingMemory<UInt32>
    /// The start of the document as errors show it. Created when the first error needs it.
    let bodyStartText = AtomicLazyReference<BodyStart>()

    /// Indexes a document. Returns `nil` if it is invalid or exceeds a limit.
    ///
    /// - Parameter scan: Finds the positions that the grammar must check. Default: the fastest scan that the processor
    ///   supports.
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

    /// Creates the storage of an absent value. Its index has one entry.
    init(absence: JSONAbsence) {
        bytes = []
        self.absence = absence
        words = Self.absentWords
    }

    /// The index that all absent values share. It is never freed.
    ///
    /// `nonisolated(unsafe)`: it is written before it can be reached, and never after.
    nonisolated(unsafe) private static let absentWords: GrowingMemory<UInt32> = {
        var words = GrowingMemory<UInt32>(capacity: IndexEntry.wordCount)
        words.write(.missing, at: 0)
        return words
    }()

    deinit { if absence == nil { words.deallocate() } }

    /// The size of the index in bytes, without the document.
    var indexByteCount: Int { words.capacity &* MemoryLayout<UInt32>.size }

    /// Returns the entry at a position of the index. The position must be 0, or be computed from an entry of this
    /// storage and its stride.
    @inline(__always)
    func entry(at index: Int) -> IndexEntry { words.entry(at: index) }

    @inline(__always)
    func name(ofValueAt index: Int) -> NameEntry { NameEntry(bits: words[index &- 1]) }

    /// Returns the index of the value of the first member named `name`. Returns -1 if the object has no such member, or
    /// the value at `object` is not an object.
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

    /// Returns the same as ``member(named:ofObjectAt:)``; the value must be an object. The lookup starts at the cursor
    /// and is fastest if the member follows soon after it.
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

    /// Returns the index of the value of the first member named `name` between `first` and `end`, or an index at or
    /// after `end` if no member there has the name.
    @inline(__always)
    private func search(_ name: Bytes, in bytes: Bytes, from first: Int, to end: Int) -> Int {
        let length = NameEntry.length(of: name.count)
        var index = first
        while index < end {
            let candidate = self.name(ofValueAt: index)
            if candidate.length == length {
                // A name without escapes ends at the first quotation mark after its start. The names are therefore
                // equal if the bytes of `name` and a quotation mark are there. The exception is a `name` that contains
                // a quotation mark: a name of 14 bytes or more in the document may end at that mark. A shorter one
                // cannot, since its entry has its full length.
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

    /// Whether a name's bytes are at an offset. The document must have at least as many bytes after the offset.
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
        // Names of 4 to 16 bytes are compared with two loads each. The loads may overlap.
        switch name.count {
        case 8...16: return isEqual(by: UInt64.self)
        case 4..<8: return isEqual(by: UInt32.self)
        default: return memcmp(one, other, name.count) == 0
        }
    }

    /// Returns a string from bytes of the document, which are known to be well-formed UTF-8.
    func text(_ range: Range<Int>) -> String {
        // The range comes from an entry, so it is inside the document, whose UTF-8 was checked as a whole. The bytes
        // next to the range are ASCII quotation marks, so it does not split a sequence.
        bytes.withUnsafeBufferPointer { Self.text(UnsafeBufferPointer(rebasing: $0[range])) }
    }

    private static func text(_ wellFormed: Bytes) -> String {
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
            return String(copying: UTF8Span(unchecked: wellFormed.span))
        }
        return String(decoding: wellFormed, as: UTF8.self)
    }

    func text(unescaping text: StringText) -> String {
        let offset = text.entry.offset
        let end = offset &+ text.entry.extent
        // An escape is never shorter than the bytes of its scalar. The output therefore always has space for the rest
        // of the string, and well-formed text stays well-formed.
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

/// Casts a value without a check. The caller has checked that both types are the same.
@inline(__always)
func sameType<Value, T>(_ value: Value, as type: T.Type) -> T {
    precondition(Value.self == type)
    return withUnsafePointer(to: value) { UnsafeRawPointer($0).assumingMemoryBound(to: type).pointee }
}

/// A growing array in memory of the C library. Its bounds are checked only in debug builds: each use states why its
/// index is in range.
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

    /// Reserves space for more elements and preserves the existing ones.
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

    /// Returns the address of a range of elements, which must be in bounds.
    @inline(__always)
    fileprivate func checked(_ place: Int, _ count: Int) -> Int {
        assert(place >= 0 && place &+ count <= capacity)
        return place
    }

    fileprivate func address(_ place: Int) -> UnsafeMutablePointer<Element> { base + place }

    /// Returns eight one-byte elements as an integer, the first one in the lowest byte.
    @inline(__always)
    func eight(at place: Int) -> UInt64 {
        assert(MemoryLayout<Element>.size == 1)
        return UInt64(littleEndian: UnsafeRawPointer(base + checked(place, 8)).loadUnaligned(as: UInt64.self))
    }
}

extension GrowingMemory<UInt32> {
    @inline(__always)
    func entry(at place: Int) -> IndexEntry {
        IndexEntry(bits: UnsafeRawPointer(base + checked(place, IndexEntry.wordCount)).loadUnaligned(as: UInt64.self))
    }

    @inline(__always)
    mutating func write(_ entry: IndexEntry, at place: Int) {
        UnsafeMutableRawPointer(base + checked(place, IndexEntry.wordCount)).storeBytes(of: entry.bits, as: UInt64.self)
    }
}

/// The bytes of a document, borrowed for one call. The pointer must not escape the call.
struct BorrowedBytes {
    private let bytes: UnsafeBufferPointer<UInt8>

    init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    @inline(__always) var count: Int { bytes.count }

    /// Returns the byte at a position. Bounds are checked.
    @inline(__always)
    subscript(place: Int) -> UInt8 {
        precondition(UInt(bitPattern: place) < UInt(bitPattern: bytes.count), "a place outside the document")
        return bytes[place]
    }

    /// Returns four bytes as an integer, the first one in the lowest byte. Bounds are checked.
    @inline(__always)
    func four(at place: Int) -> UInt32 {
        precondition(place >= 0 && place <= bytes.count &- 4, "a place outside the document")
        let start = UnsafeRawBufferPointer(bytes)
        return UInt32(littleEndian: start.loadUnaligned(fromByteOffset: place, as: UInt32.self))
    }

    /// The offset of the first ill-formed UTF-8 sequence, or `nil` if all bytes are well-formed.
    var firstFault: Int? { UTF8Check.firstFault(in: bytes.span) }

    /// Scans `blockCount` whole blocks from a position. `found` must have space for 64 positions per block and 64 more.
    func scanBlocks(_ blockCount: Int, from start: Int, by scan: inout ScanState, into found: inout FoundPlaces) {
        precondition(start >= 0 && start &+ blockCount &* 64 <= bytes.count, "blocks outside the document")
        guard let address = bytes.baseAddress else { return }
        Self.scanBlocks(address + start, blockCount, start, &scan, &found)
    }

    /// Scans the last, incomplete block, padded with spaces. Spaces add no position and end a truncated token. The
    /// function is also called if no byte is left.
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
