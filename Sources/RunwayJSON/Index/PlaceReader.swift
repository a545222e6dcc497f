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

/// Finds the places of a document, a chunk at a time, and hands them out in order with the bytes at them.
///
/// Bounds: a place is below the document's size, since what fills up its last block adds none. `next` never passes the
/// number of places at hand, behind which eight kinds of zero stand, so that what a token may have, up to eight places, can
/// be looked at from `next` on after ``refillIfNeeded()``. Who takes a place has seen that its kind is not zero.
struct PlaceReader {
    let bytes: BorrowedBytes
    private var scan: ScanState
    private var scanned = 0
    private var isAtEnd = false
    private var found = FoundPlaces(capacity: capacity)
    /// Which of the places at hand comes next.
    var next = 0

    /// So many bytes are scanned, then read, so that they and their places stay in the nearest cache.
    private static let chunkBlockCount = 64
    /// Room for what a chunk adds: a place a byte, those of the last block, what a scan may write behind them, and
    /// before all the less than eight that were left.
    private static let capacity = 64 * (chunkBlockCount + 2) + 16

    /// What stands behind the last place: beyond every document, and an `Int` of 32 bits holds it.
    static let noPlace = UInt32(Int32.max)

    init(_ bytes: BorrowedBytes, scan: PlaceScan) {
        self.bytes = bytes
        self.scan = ScanState(scan: scan)
        // A byte order mark is gone past.
        if bytes.count >= 3, bytes[0] == 0xEF, bytes[1] == 0xBB, bytes[2] == 0xBF { scanned = 3 }
    }

    func deallocate() { found.deallocate() }

    /// How many places are at hand.
    @inline(__always) var count: Int { found.count }

    /// The place so many behind the next.
    @inline(__always)
    func place(_ ahead: Int = 0) -> UInt32 { found.places[next &+ ahead] }

    /// The byte at the place so many behind the next; 0 behind the last.
    @inline(__always)
    func kind(_ ahead: Int = 0) -> UInt8 { found.kinds[next &+ ahead] }

    /// The bytes at the next eight places, the first one lowest.
    @inline(__always)
    var eightKinds: UInt64 { found.kinds.eight(at: next) }

    /// Whether all places were taken, asked after ``refillIfNeeded()``.
    var isEmpty: Bool { next == count }

    /// Whether no byte was met that strings or UTF-8 may not have. Asked at the end.
    var isSound: Bool {
        if case .vector = scan.scan { return scan.vector.faults == 0 }
        return !scan.portable.hasControlCharacter && bytes.firstFault == nil
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
