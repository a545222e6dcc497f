import RunwayJSONSIMD

/// Places that a scan found, with the bytes at them, in order.
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

/// Finds the places of a document, a chunk at a time, and returns them in order with the bytes at them.
///
/// Bounds: a place is below the document's size, since the padding of its last block adds none. `next` never exceeds
/// the number of available places, which are followed by eight zero kinds, so that up to eight places of a token can be
/// examined from `next` on after ``refillIfNeeded()``. A place is consumed only after its kind was seen to be non-zero.
struct PlaceReader {
    let bytes: BorrowedBytes
    private var scan: ScanState
    private var scanned = 0
    private var isAtEnd = false
    private var found = FoundPlaces(capacity: capacity)
    /// The index of the next available place.
    var next = 0

    /// The number of blocks that are scanned and then read at once, so that they and their positions stay in the
    /// nearest cache.
    private static let chunkBlockCount = 64
    /// Space for the positions in a chunk: one for each byte, plus those of the last block, the overrun of a scan, and
    /// up to seven positions that were left.
    private static let capacity = 64 * (chunkBlockCount + 2) + 16

    /// The sentinel after the last place: beyond every document, and small enough for an `Int` of 32 bits.
    static let noPlace = UInt32(Int32.max)

    init(_ bytes: BorrowedBytes, scan: PlaceScan) {
        self.bytes = bytes
        self.scan = ScanState(scan: scan)
        // A byte order mark is gone past.
        if bytes.count >= 3, bytes[0] == 0xEF, bytes[1] == 0xBB, bytes[2] == 0xBF { scanned = 3 }
    }

    func deallocate() { found.deallocate() }

    /// The number of available places.
    @inline(__always) var count: Int { found.count }

    /// Returns the place at a distance from the next one.
    @inline(__always)
    func place(_ ahead: Int = 0) -> UInt32 { found.places[next &+ ahead] }

    /// Returns the byte at the place at a distance from the next one; 0 after the last.
    @inline(__always)
    func kind(_ ahead: Int = 0) -> UInt8 { found.kinds[next &+ ahead] }

    /// The bytes at the next eight places, the first one lowest.
    @inline(__always)
    var eightKinds: UInt64 { found.kinds.eight(at: next) }

    /// Whether all places were consumed; valid after ``refillIfNeeded()``.
    var isEmpty: Bool { next == count }

    /// Whether no byte was met that strings or UTF-8 may not have. Asked at the end.
    var isSound: Bool {
        if case .vector = scan.scan { return scan.vector.faults == 0 }
        return !scan.portable.hasControlCharacter && bytes.firstFault == nil
    }

    /// Whether eight places are available.
    @inline(__always)
    var hasEight: Bool { count &- next >= 8 }

    /// Scans until eight places are available or the document ends; returns whether it scanned.
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
