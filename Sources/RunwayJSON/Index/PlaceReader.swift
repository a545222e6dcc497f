import RunwayJSONSIMD

/// The scanned positions of a document, and the byte at each.
struct FoundPlaces {
    var places: GrowingMemory<UInt32>
    var kinds: GrowingMemory<UInt8>
    var count = 0

    init(capacity: Int) {
        places = GrowingMemory(capacity: capacity)
        kinds = GrowingMemory(capacity: capacity)
    }

    func deallocate() {
        places.deallocate()
        kinds.deallocate()
    }

    @inline(__always)
    mutating func append(_ place: UInt32, _ kind: UInt8) {
        places[count] = place
        kinds[count] = kind
        count &+= 1
    }
}

/// Scans a document in chunks, and returns the found positions in order with the byte at each.
///
/// Bounds: every position is below the document's size, because the padding of the last block yields no positions.
/// `next` never exceeds the number of available positions. Eight zero bytes follow the bytes of the available
/// positions. After ``refillIfNeeded()``, up to eight entries from `next` on can therefore be examined. An entry is
/// consumed only if its byte is non-zero.
struct PlaceReader {
    let bytes: BorrowedBytes
    private var scan: ScanState
    private var scanned = 0
    private var isAtEnd = false
    private var found = FoundPlaces(capacity: capacity)
    var next = 0

    /// The number of blocks that are scanned before they are read. A chunk and its positions fit in the L1 cache.
    private static let chunkBlockCount = 64
    /// Space for the positions of a chunk, with one position per byte; for one more block; for the overrun of a scan;
    /// and for up to seven positions left from the previous chunk.
    private static let capacity = 64 * (chunkBlockCount + 2) + 16

    /// The value that marks the end of the positions. It is larger than every position in a document, and small enough
    /// for a 32-bit `Int`.
    static let noPlace = UInt32(Int32.max)

    init(_ bytes: BorrowedBytes, scan: PlaceScan) {
        self.bytes = bytes
        self.scan = ScanState(scan: scan)
        // Skips a byte order mark.
        if bytes.count >= 3, bytes[0] == 0xEF, bytes[1] == 0xBB, bytes[2] == 0xBF { scanned = 3 }
    }

    func deallocate() { found.deallocate() }

    @inline(__always) var count: Int { found.count }

    /// Returns the scanned position that is `distance` positions after the next unread one.
    @inline(__always)
    func place(_ ahead: Int = 0) -> UInt32 { found.places[next &+ ahead] }

    /// Returns the byte at the scanned position that is `distance` positions after the next unread one; 0 after the
    /// last.
    @inline(__always)
    func kind(_ ahead: Int = 0) -> UInt8 { found.kinds[next &+ ahead] }

    /// The bytes at the next eight unread positions, the first one in the lowest byte.
    @inline(__always)
    var eightKinds: UInt64 { found.kinds.eight(at: next) }

    /// Whether all positions were consumed. Valid after ``refillIfNeeded()``.
    var isEmpty: Bool { next == count }

    /// Whether all strings are free of control characters and the UTF-8 is well-formed. Valid after the last position.
    var isSound: Bool {
        if case .vector = scan.scan { return scan.vector.faults == 0 }
        return !scan.portable.hasControlCharacter && bytes.firstFault == nil
    }

    /// Whether eight positions are available.
    @inline(__always)
    var hasEight: Bool { count &- next >= 8 }

    /// Scans until eight positions are available or the document ends. Returns whether it scanned.
    @inline(__always)
    mutating func refillIfNeeded() -> Bool {
        if hasEight { return false }
        refill()
        return true
    }

    /// Skips the rest of the document.
    mutating func skipRest() {
        (next, isAtEnd) = (count, true)
        refill()
    }

    @inline(never)
    private mutating func refill() {
        let rest = count &- next
        for place in 0..<rest {
            found.places[place] = found.places[next &+ place]
            found.kinds[place] = found.kinds[next &+ place]
        }
        next = 0
        found.count = rest
        while count < 8, !isAtEnd { scanChunk() }
        for place in count..<(count &+ 8) {
            found.places[place] = Self.noPlace
            found.kinds[place] = 0
        }
    }

    private mutating func scanChunk() {
        let blockCount = min((bytes.count &- scanned) / 64, Self.chunkBlockCount)
        bytes.scanBlocks(blockCount, from: scanned, by: &scan, into: &found)
        scanned &+= blockCount &* 64
        guard blockCount < Self.chunkBlockCount else { return }
        isAtEnd = true
        bytes.scanLastBlock(from: scanned, by: &scan, into: &found)
    }
}
