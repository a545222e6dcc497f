import RunwayJSONSIMD

/// A scan that finds the offsets of structural characters and values in a document.
enum PlaceScan {
    /// The scan with vector instructions, in C.
    case vector(runway_json_scan)
    /// Byte by byte, in Swift.
    case portable

    /// The fastest scan that the processor supports.
    static let fastest: PlaceScan = all[0]

    /// All scans that the processor supports, the fastest first.
    static var all: [PlaceScan] {
        var all: [PlaceScan] = []
        while let scan = runway_json_scan_number(all.count) { all.append(.vector(scan)) }
        return all + [.portable]
    }
}

/// The state that a scan passes from block to block.
struct ScanState {
    let scan: PlaceScan
    var vector = runway_json_scan_state()
    var portable = BlockScan()
}
