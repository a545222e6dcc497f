// Every unsafe pointer of this module is in this file. Three kinds of memory are reached through pointers: the document's
// bytes, borrowed from an array for the length of one call; the places that a scan found, allocated for the length of one
// call; and the index's entries, allocated here and freed with the storage that owns them.

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif
#if canImport(RunwayJSONSIMD)
    import RunwayJSONSIMD
#endif

/// The bytes of a document and the entries of its index; or, for a value that is not there, why it is not.
///
/// `@unchecked Sendable`: every property is a `let`, and the entries are written before `init` returns and never after.
final class JSONStorage: @unchecked Sendable {
    let bytes: [UInt8]
    let absence: JSONAbsence?
    private let entries: UnsafeMutablePointer<UInt64>

    /// Indexes a document, or returns nil when it is not valid or beyond a limit.
    ///
    /// - Parameter scan: What finds the places of the grammar. Default: the fastest that the processor runs.
    init?(indexing bytes: [UInt8], limits: JSONLimits, scan: PlaceScan = .fastest) {
        let entries = bytes.withUnsafeBufferPointer { IndexBuilder.index(of: $0, limits: limits, scan: scan) }
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
                    if key.extent == name.count, Self.isEqual(bytes, at: key.offset, name) { return index &+ 1 }
                } else if StringText(entry: key).equals(name, in: self.bytes) {
                    return index &+ 1
                }
                index &+= 1 &+ entry(at: index &+ 1).stride
            }
            return nil
        }
    }

    @inline(__always)
    private static func isEqual(
        _ bytes: UnsafeBufferPointer<UInt8>, at offset: Int, _ name: UnsafeBufferPointer<UInt8>
    ) -> Bool {
        guard let start = bytes.baseAddress, let nameStart = name.baseAddress else { return true }
        return memcmp(start + offset, nameStart, name.count) == 0
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

/// What finds the places of the grammar in a document.
enum PlaceScan {
    /// Byte by byte, in Swift.
    case portable
    #if canImport(RunwayJSONSIMD)
        /// By vectors, in C.
        case vector(runway_json_scan)
    #endif

    /// The fastest that the processor runs.
    static let fastest: PlaceScan = all[0]

    /// All that the processor runs, the fastest first.
    static var all: [PlaceScan] {
        var all: [PlaceScan] = []
        #if canImport(RunwayJSONSIMD)
            while let scan = runway_json_scan_number(all.count) { all.append(.vector(scan)) }
        #endif
        return all + [.portable]
    }
}

/// Finds the places of a document, a chunk at a time.
private struct PlaceScanner {
    private let bytes: UnsafePointer<UInt8>
    private let count: Int
    private let scan: PlaceScan
    private var scanned: Int
    private var isAtEnd = false
    private var portable = BlockScan()
    #if canImport(RunwayJSONSIMD)
        private var state = runway_json_scan_state()
    #endif

    /// So many bytes are scanned, then read, so that they and their places stay in the nearest cache.
    static let chunkBlockCount = 64
    /// Room for what a chunk adds: a place a byte, those of the last block, and what a scan may write behind them.
    static let chunkPlaceCount = 64 * (chunkBlockCount + 2)

    init(bytes: UnsafeBufferPointer<UInt8>, base: UnsafePointer<UInt8>, scan: PlaceScan) {
        self.bytes = base
        self.count = bytes.count
        self.scan = scan
        let hasByteOrderMark = bytes.starts(with: [0xEF, 0xBB, 0xBF])
        scanned = hasByteOrderMark ? 3 : 0
    }

    /// Whether no string is left open and no byte was met that strings or UTF-8 may not have. Asked at the end.
    var isSound: Bool {
        switch scan {
        case .portable:
            !portable.hasControlCharacter
                && UTF8Check.firstFault(in: UnsafeBufferPointer(start: bytes, count: count).span) == nil
        #if canImport(RunwayJSONSIMD)
            case .vector: state.faults == 0
        #endif
        }
    }

    /// Writes the places of the next chunk and the bytes at them, and returns their number; nil after the last chunk.
    ///
    /// There must be room for `chunkPlaceCount` of each.
    mutating func next(_ places: UnsafeMutablePointer<UInt32>, _ kinds: UnsafeMutablePointer<UInt8>) -> Int? {
        if isAtEnd { return nil }
        let blockCount = min((count &- scanned) / 64, Self.chunkBlockCount)
        var found = scan(bytes + scanned, blockCount, places, kinds)
        scanned &+= blockCount &* 64
        if blockCount < Self.chunkBlockCount {
            isAtEnd = true
            // The last block, even an empty one, is filled up with spaces: these add no place, and end what is cut off.
            withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 64) { block in
                block.initialize(repeating: 0x20)
                guard let start = block.baseAddress else { return }
                memcpy(start, bytes + scanned, count &- scanned)
                found &+= scan(start, 1, places + found, kinds + found)
            }
        }
        return found
    }

    private mutating func scan(
        _ blocks: UnsafePointer<UInt8>, _ blockCount: Int, _ places: UnsafeMutablePointer<UInt32>,
        _ kinds: UnsafeMutablePointer<UInt8>
    ) -> Int {
        #if canImport(RunwayJSONSIMD)
            if case .vector(let scan) = scan {
                return scan(&state, blocks, blockCount, UInt32(truncatingIfNeeded: scanned), places, kinds)
            }
        #endif
        var found = 0
        for number in 0..<blockCount {
            let block = blocks + number &* 64
            var mask = portable.places(of: UnsafeBufferPointer(start: block, count: 64).span)
            while mask != 0 {
                let place = mask.trailingZeroBitCount
                places[found] = UInt32(truncatingIfNeeded: scanned &+ number &* 64 &+ place)
                kinds[found] = block[place]
                found &+= 1
                mask &= mask &- 1
            }
        }
        return found
    }
}

/// Checks a document against the grammar of RFC 8259 and writes its index, in one pass over its places. It only says yes
/// or no: ``GrammarCheck`` finds out where and why.
///
/// Bounds: a place is below `count`, since a scan's last block adds none behind it. `next` never passes `placeCount`,
/// behind which eight kinds of zero stand, so that eight kinds can be read from `next` at once. Each place makes at most
/// one entry, and before places are read there is room for as many entries.
private struct IndexBuilder {
    private let bytes: UnsafePointer<UInt8>
    private let count: Int
    private let limits: JSONLimits
    private var scanner: PlaceScanner

    private let places: UnsafeMutablePointer<UInt32>
    private let kinds: UnsafeMutablePointer<UInt8>
    private var placeCount = 0
    private var next = 0

    private var entries: UnsafeMutablePointer<UInt64>
    private var entryCapacity: Int
    private var entryCount = 0

    private struct Container {
        let entry: Int
        let isObject: Bool
        var children = 0
    }

    private var openContainers: [Container] = []
    private var valueCount = 1

    static func allocate(_ capacity: Int) -> UnsafeMutablePointer<UInt64> {
        guard let memory = malloc(capacity &* 8) else { preconditionFailure("out of memory") }
        return memory.bindMemory(to: UInt64.self, capacity: capacity)
    }

    static func index(
        of bytes: UnsafeBufferPointer<UInt8>, limits: JSONLimits, scan: PlaceScan
    ) -> UnsafeMutablePointer<UInt64>? {
        guard let base = bytes.baseAddress, bytes.count <= limits.effectiveByteCount else { return nil }
        // Sixteen places more than a chunk adds: those that were not read yet move to the front.
        let capacity = PlaceScanner.chunkPlaceCount + 16
        return withUnsafeTemporaryAllocation(of: UInt32.self, capacity: capacity) { places in
            withUnsafeTemporaryAllocation(of: UInt8.self, capacity: capacity) { kinds in
                guard let places = places.baseAddress, let kinds = kinds.baseAddress else { return nil }
                var builder = IndexBuilder(
                    bytes: base, count: bytes.count, limits: limits,
                    scanner: PlaceScanner(bytes: bytes, base: base, scan: scan), places: places, kinds: kinds)
                if builder.readDocument() { return builder.entries }
                free(builder.entries)
                return nil
            }
        }
    }

    private init(
        bytes: UnsafePointer<UInt8>, count: Int, limits: JSONLimits, scanner: PlaceScanner,
        places: UnsafeMutablePointer<UInt32>, kinds: UnsafeMutablePointer<UInt8>
    ) {
        self.bytes = bytes
        self.count = count
        self.limits = limits
        self.scanner = scanner
        self.places = places
        self.kinds = kinds
        // An entry for eight bytes is enough for most documents; memory that is not written is not used.
        entryCapacity = max(count / 8, 16)
        entries = Self.allocate(entryCapacity)
    }

    /// Scans until eight places are at hand or the document is at its end. Called with less than eight at hand.
    @inline(never)
    private mutating func refill() {
        let rest = placeCount &- next
        for place in 0..<rest {
            places[place] = places[next &+ place]
            kinds[place] = kinds[next &+ place]
        }
        next = 0
        placeCount = rest
        while placeCount < 8, let found = scanner.next(places + placeCount, kinds + placeCount) { placeCount &+= found }
        for place in placeCount..<(placeCount &+ 8) {
            places[place] = .max
            kinds[place] = 0
        }
        if entryCount &+ placeCount > entryCapacity {
            entryCapacity = max(entryCapacity &* 2, entryCount &+ placeCount)
            guard let grown = realloc(entries, entryCapacity &* 8) else { preconditionFailure("out of memory") }
            entries = grown.bindMemory(to: UInt64.self, capacity: entryCapacity)
        }
    }

    @inline(__always)
    private mutating func refillIfNeeded() {
        if placeCount &- next < 8 { refill() }
    }

    @inline(__always)
    private mutating func append(_ tag: IndexEntry.Tag, _ offset: Int, _ extent: Int) {
        entries[entryCount] = IndexEntry(tag: tag, offset: offset, extent: extent).bits
        entryCount &+= 1
    }

    /// The whole document: one value, and nothing after it.
    private mutating func readDocument() -> Bool {
        refillIfNeeded()
        guard readValue() else { return false }
        while let container = openContainers.popLast() {
            guard container.isObject ? readMembers(of: container) : readElements(of: container) else { return false }
        }
        refillIfNeeded()
        return next == placeCount && scanner.isSound && valueCount <= limits.maximumValueCount
    }

    /// Goes on with an object until it ends or a container opens in it.
    private mutating func readMembers(of container: Container) -> Bool {
        var container = container
        while true {
            refillIfNeeded()
            if kinds[next] == UInt8(ascii: "}") {
                close(container)
                return true
            }
            if container.children > 0 {
                guard kinds[next] == UInt8(ascii: ",") else { return false }
                next &+= 1
            }
            if readPlainMembers(of: &container) { continue }
            refillIfNeeded()
            guard kinds[next] == UInt8(ascii: "\""), readString(), kinds[next] == UInt8(ascii: ":") else { return false }
            next &+= 1
            container.children &+= 1
            refillIfNeeded()
            if kinds[next] | 0x20 == UInt8(ascii: "{") {
                openContainers.append(container)
                return readValue()
            }
            guard readValue() else { return false }
        }
    }

    /// Goes on with an array until it ends or a container opens in it.
    private mutating func readElements(of container: Container) -> Bool {
        var container = container
        while true {
            refillIfNeeded()
            if kinds[next] == UInt8(ascii: "]") {
                close(container)
                return true
            }
            if container.children > 0 {
                guard kinds[next] == UInt8(ascii: ",") else { return false }
                next &+= 1
            }
            container.children &+= 1
            if kinds[next] | 0x20 == UInt8(ascii: "{") {
                openContainers.append(container)
                return readValue()
            }
            guard readValue() else { return false }
        }
    }

    /// Members without escapes and containers, from a name on, as long as eight places are at hand; one look at eight
    /// kinds says what a member is. True after a value, false before a name that is left to the general way.
    @inline(__always)
    private mutating func readPlainMembers(of container: inout Container) -> Bool {
        let quote = UInt64(UInt8(ascii: "\""))
        let nameAndColon = quote | quote &<< 8 | UInt64(UInt8(ascii: ":")) &<< 16
        var next = next
        var written = entryCount
        var isAfterValue = false
        while placeCount &- next >= 8 {
            let eight = UInt64(littleEndian: UnsafeRawPointer(kinds + next).loadUnaligned(as: UInt64.self))
            guard eight & 0xFF_FFFF == nameAndColon else { break }
            let kind = eight &>> 24 & 0xFF
            let place = Int(places[next &+ 3])
            var used = 4
            if kind == quote {
                guard eight &>> 32 & 0xFF == quote else { break }
                entries[written &+ 1] = Self.string(from: place, to: places[next &+ 4])
                used = 5
            } else {
                guard let scalar = scalar(kind: UInt8(truncatingIfNeeded: kind), at: place, before: places[next &+ 4])
                else { break }
                entries[written &+ 1] = scalar.bits
            }
            entries[written] = Self.string(from: Int(places[next]), to: places[next &+ 1])
            written &+= 2
            container.children &+= 1
            next &+= used
            guard kinds[next] == UInt8(ascii: ",") else {
                isAfterValue = true
                break
            }
            next &+= 1
        }
        self.next = next
        entryCount = written
        return isAfterValue
    }

    @inline(__always)
    private static func string(from quote: Int, to end: UInt32) -> UInt64 {
        IndexEntry(tag: .string, offset: quote &+ 1, extent: Int(end) &- quote &- 1).bits
    }

    /// Reads a value, or opens a container.
    private mutating func readValue() -> Bool {
        let place = Int(places[next])
        switch kinds[next] {
        case UInt8(ascii: "\""): return readString()
        case UInt8(ascii: "{"): return open(.object, at: place)
        case UInt8(ascii: "["): return open(.array, at: place)
        case let kind:
            guard let scalar = scalar(kind: kind, at: place, before: places[next &+ 1]) else { return false }
            entries[entryCount] = scalar.bits
            entryCount &+= 1
            next &+= 1
            return true
        }
    }

    private mutating func open(_ tag: IndexEntry.Tag, at place: Int) -> Bool {
        guard openContainers.count < limits.maximumDepth else { return false }
        openContainers.append(Container(entry: entryCount, isObject: tag == .object))
        append(tag, place, 0)
        next &+= 1
        return true
    }

    private mutating func close(_ container: Container) {
        let opening = IndexEntry(bits: entries[container.entry])
        let extent = entryCount &- container.entry
        entries[container.entry] = IndexEntry(tag: opening.tag, offset: opening.offset, extent: extent).bits
        append(.end, Int(places[next]), container.children)
        valueCount &+= container.children
        next &+= 1
    }

    /// From one quotation mark past the other; the places between are escapes, which are checked here.
    private mutating func readString() -> Bool {
        let start = Int(places[next]) &+ 1
        var tag = IndexEntry.Tag.string
        next &+= 1
        while true {
            refillIfNeeded()
            let place = Int(places[next])
            switch kinds[next] {
            case UInt8(ascii: "\""):
                append(tag, start, place &- start)
                next &+= 1
                refillIfNeeded()
                return true
            case UInt8(ascii: "\\"):
                guard isEscape(at: place) else { return false }
                tag = .escapedString
                next &+= 1
            default: return false
            }
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

    /// The entry of a literal or number at a place, or nil when it is none. `following` is the next place.
    @inline(__always)
    private func scalar(kind: UInt8, at place: Int, before following: UInt32) -> IndexEntry? {
        switch kind {
        case UInt8(ascii: "t"): literal(.true, "true", at: place, before: following)
        case UInt8(ascii: "f"): literal(.false, "false", at: place, before: following)
        case UInt8(ascii: "n"): literal(.null, "null", at: place, before: following)
        default: number(at: place, before: following)
        }
    }

    @inline(__always)
    private func literal(
        _ tag: IndexEntry.Tag, _ literal: StaticString, at place: Int, before following: UInt32
    ) -> IndexEntry? {
        let length = literal.utf8CodeUnitCount
        guard place &+ length <= count, memcmp(bytes + place, literal.utf8Start, length) == 0,
            isDelimited(at: place &+ length, before: following)
        else { return nil }
        return IndexEntry(tag: tag, offset: place, extent: length)
    }

    @inline(__always)
    private func number(at place: Int, before following: UInt32) -> IndexEntry? {
        guard place < count else { return nil }
        var end = place
        var tag = IndexEntry.Tag.integer
        if bytes[end] == UInt8(ascii: "-") { end &+= 1 }
        if end < count, bytes[end] == UInt8(ascii: "0") {
            end &+= 1
        } else {
            guard skipDigits(&end) else { return nil }
        }
        if end < count, bytes[end] == UInt8(ascii: ".") {
            end &+= 1
            tag = .number
            guard skipDigits(&end) else { return nil }
        }
        if end < count, bytes[end] | 0x20 == UInt8(ascii: "e") {
            end &+= 1
            tag = .number
            if end < count, bytes[end] == UInt8(ascii: "+") || bytes[end] == UInt8(ascii: "-") { end &+= 1 }
            guard skipDigits(&end) else { return nil }
        }
        return isDelimited(at: end, before: following) ? IndexEntry(tag: tag, offset: place, extent: end &- place) : nil
    }

    /// Goes past digits, of which there must be at least one.
    @inline(__always)
    private func skipDigits(_ end: inout Int) -> Bool {
        let start = end
        while end < count, bytes[end] &- UInt8(ascii: "0") <= 9 { end &+= 1 }
        return end > start
    }

    /// Whether a literal or number may end before a byte: white space, or the next place, which is checked in its turn.
    @inline(__always)
    private func isDelimited(at end: Int, before following: UInt32) -> Bool {
        if end == Int(following) || end == count { return true }
        switch bytes[end] {
        case 0x20, 0x09, 0x0A, 0x0D: return true
        default: return false
        }
    }
}
