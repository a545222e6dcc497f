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

/// The bytes of a document and the words of its index; or, for a value that is not there, why it is not.
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
    /// - Parameter scan: What finds the places of the grammar. Default: the fastest that the processor runs.
    init?(indexing bytes: [UInt8], limits: JSONLimits, scan: PlaceScan = .fastest) {
        guard !bytes.isEmpty, bytes.count <= limits.effectiveByteCount else { return nil }
        let words = bytes.withUnsafeBufferPointer { bytes in
            let places = PlaceReader(bytes, scan: scan)
            defer { places.deallocate() }
            var builder = IndexBuilder(places: places, byteCount: bytes.count, limits: limits)
            return builder.index()
        }
        guard let words else { return nil }
        self.bytes = bytes
        self.words = words
        absence = nil
    }

    /// Stands for a value that is not there: its only entry is the one that says so.
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

    /// The entry at an index, which must come from this storage: 0, or reached from an entry by its stride.
    @inline(__always)
    func entry(at index: Int) -> IndexEntry { words.entry(at: index) }

    /// The name of the member whose value is at an index.
    @inline(__always)
    func name(ofValueAt index: Int) -> NameEntry { NameEntry(bits: words[index &- 1]) }

    /// The value of the first member with a name, as an index; -1 when the object at an index has none, or when it is no
    /// object.
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

    /// The same as ``member(named:ofObjectAt:)`` for what is known to be an object, the quicker the nearer behind the
    /// cursor the member is.
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

    /// Looks from one value to another, all of which the builder wrote, each with its name before it, for the first with
    /// a name; gives what is not before the end when there is none.
    @inline(__always)
    private func search(_ name: Bytes, in bytes: Bytes, from first: Int, to end: Int) -> Int {
        let length = NameEntry.length(of: name.count)
        var index = first
        while index < end {
            let candidate = self.name(ofValueAt: index)
            if candidate.length == length {
                // A name without escapes is the same when the same bytes end at its closing quotation mark, the first one
                // behind its start. Where the entry has the whole length, that is the next one; a longer name may end
                // before, at a quotation mark that the other name has too. A reverse solidus cannot stand before it.
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

    /// Whether a name's bytes stand at an offset, from which on the document has as many.
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

    /// A string made from well-formed bytes of the document without checking them again.
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

    /// A string with its escapes undone.
    func text(unescaping text: StringText) -> String {
        let offset = text.entry.offset
        let end = offset &+ text.entry.extent
        // No escape is shorter than the bytes that it stands for, so that at every place as much room is left in the
        // output as bytes are in the string, and what is well-formed stays so.
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

/// A value as the type that it is of, which the caller has found out by comparing types: the bytes of both are the same.
@inline(__always)
func sameType<Value, T>(_ value: Value, as type: T.Type) -> T {
    precondition(Value.self == type)
    return withUnsafePointer(to: value) { UnsafeRawPointer($0).assumingMemoryBound(to: type).pointee }
}

/// Memory of the C library that grows, and is not checked except in debug builds: who uses it says why a place is inside.
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

    /// Makes room for so many elements, and keeps those there are.
    @inline(__always)
    mutating func reserve(_ count: Int) {
        if count > capacity { grow(to: max(count, capacity &* 2)) }
    }

    @inline(never)
    private mutating func grow(to capacity: Int) {
        base = Self.memory(base, capacity)
        self.capacity = capacity
    }

    func deallocate() { free(base) }

    @inline(__always)
    subscript(place: Int) -> Element {
        get { base[checked(place, 1)] }
        set { base[checked(place, 1)] = newValue }
    }

    /// A place from which on so many elements are inside.
    @inline(__always)
    fileprivate func checked(_ place: Int, _ count: Int) -> Int {
        assert(place >= 0 && place &+ count <= capacity)
        return place
    }

    /// Where an element is, for a scan to write to.
    fileprivate func address(_ place: Int) -> UnsafeMutablePointer<Element> { base + place }

    /// The eight elements of one byte from a place on, the first one lowest.
    @inline(__always)
    fileprivate func eight(at place: Int) -> UInt64 {
        assert(MemoryLayout<Element>.size == 1)
        return UInt64(littleEndian: UnsafeRawPointer(base + checked(place, 8)).loadUnaligned(as: UInt64.self))
    }
}

extension GrowingMemory<UInt32> {
    /// The entry in the two words from a place on.
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

/// Finds the places of a document, a chunk at a time, and hands them out in order with the bytes at them.
///
/// Bounds: a place is below the document's size, since what fills up its last block adds none. `next` never passes
/// `count`, behind which eight kinds of zero stand, so that what a token may have, up to eight places, can be looked at
/// from `next` on after ``refillIfNeeded()``. Who takes a place has seen that its kind is not zero.
struct PlaceReader {
    /// The document.
    let bytes: UnsafeBufferPointer<UInt8>
    private let scan: PlaceScan
    private var scanned = 0
    private var isAtEnd = false
    private var portable = BlockScan()
    private var state = runway_json_scan_state()
    private var places: GrowingMemory<UInt32>
    private var kinds: GrowingMemory<UInt8>
    /// How many places are at hand, and which comes next.
    private(set) var count = 0
    var next = 0

    /// So many bytes are scanned, then read, so that they and their places stay in the nearest cache.
    private static let chunkBlockCount = 64
    /// Room for what a chunk adds: a place a byte, those of the last block, what a scan may write behind them, and
    /// before all the less than eight that were left.
    private static let capacity = 64 * (chunkBlockCount + 2) + 16

    init(_ bytes: UnsafeBufferPointer<UInt8>, scan: PlaceScan) {
        self.bytes = bytes
        self.scan = scan
        places = GrowingMemory(capacity: Self.capacity)
        kinds = GrowingMemory(capacity: Self.capacity)
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { scanned = 3 }
    }

    func deallocate() {
        places.deallocate()
        kinds.deallocate()
    }

    /// The place so many behind the next.
    @inline(__always)
    func place(_ ahead: Int = 0) -> UInt32 { places[next &+ ahead] }

    /// The byte at the place so many behind the next; 0 behind the last.
    @inline(__always)
    func kind(_ ahead: Int = 0) -> UInt8 { kinds[next &+ ahead] }

    /// The bytes at the next eight places, the first one lowest.
    @inline(__always)
    var eightKinds: UInt64 { kinds.eight(at: next) }

    /// Whether all places were taken, asked after ``refillIfNeeded()``.
    var isEmpty: Bool { next == count }

    /// Whether no byte was met that strings or UTF-8 may not have. Asked at the end.
    var isSound: Bool {
        if case .vector = scan { return state.faults == 0 }
        return !portable.hasControlCharacter && UTF8Check.firstFault(in: bytes.span) == nil
    }

    /// Whether eight places are at hand.
    @inline(__always)
    var hasEight: Bool { count &- next >= 8 }

    /// Scans until eight places are at hand or the document is at its end, and says whether it scanned.
    @inline(__always)
    mutating func refillIfNeeded() -> Bool {
        if hasEight { return false }
        refill()
        return true
    }

    /// Ends the reading as if the document were at its end.
    mutating func skipRest() {
        (next, isAtEnd) = (count, true)
        refill()
    }

    @inline(never)
    private mutating func refill() {
        let rest = count &- next
        for place in 0..<rest {
            places[place] = places[next &+ place]
            kinds[place] = kinds[next &+ place]
        }
        next = 0
        count = rest
        while count < 8, !isAtEnd { scanChunk() }
        for place in count..<(count &+ 8) {
            places[place] = .max
            kinds[place] = 0
        }
    }

    private mutating func scanChunk() {
        guard let start = bytes.baseAddress else { return }
        let blockCount = min((bytes.count &- scanned) / 64, Self.chunkBlockCount)
        scanBlocks(start + scanned, blockCount)
        scanned &+= blockCount &* 64
        guard blockCount < Self.chunkBlockCount else { return }
        isAtEnd = true
        // The last block, even an empty one, is filled up with spaces: these add no place, and end what is cut off.
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 64) { block in
            block.initialize(repeating: 0x20)
            guard let blockStart = block.baseAddress else { return }
            memcpy(blockStart, start + scanned, bytes.count &- scanned)
            scanBlocks(blockStart, 1)
        }
    }

    private mutating func scanBlocks(_ blocks: UnsafePointer<UInt8>, _ blockCount: Int) {
        if case .vector(let scan) = scan {
            let start = UInt32(truncatingIfNeeded: scanned)
            count &+= scan(&state, blocks, blockCount, start, places.address(count), kinds.address(count))
            return
        }
        for number in 0..<blockCount {
            let block = blocks + number &* 64
            var mask = portable.places(of: UnsafeBufferPointer(start: block, count: 64).span)
            while mask != 0 {
                let place = mask.trailingZeroBitCount
                places[count] = UInt32(truncatingIfNeeded: scanned &+ number &* 64 &+ place)
                kinds[count] = block[place]
                count &+= 1
                mask &= mask &- 1
            }
        }
    }
}
