import RunwayJSONSIMD

/// What finds the places of the grammar in a document.
enum PlaceScan {
    /// By vectors, in C.
    case vector(runway_json_scan)
    /// Byte by byte, in Swift.
    case portable

    /// The fastest that the processor runs.
    static let fastest: PlaceScan = all[0]

    /// All that the processor runs, the fastest first.
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
