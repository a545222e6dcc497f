import RunwayJSONSIMD

/// A scan that finds the structural characters and the first bytes of values in a document.
enum PlaceScan {
    /// A scan in C with vector instructions.
    case vector(runway_json_scan)
    /// The byte-by-byte scan in Swift.
    case portable

    /// The fastest scan that the processor supports.
    static let fastest: PlaceScan = all[0]

    /// All scans that the processor supports, fastest first.
    static var all: [PlaceScan] {
        var all: [PlaceScan] = []
        while let scan = runway_json_scan_number(all.count) { all.append(.vector(scan)) }
        return all + [.portable]
    }
}

/// State that a scan carries from one block to the next.
struct ScanState {
    let scan: PlaceScan
    var vector = runway_json_scan_state()
    var portable = BlockScan()
}
