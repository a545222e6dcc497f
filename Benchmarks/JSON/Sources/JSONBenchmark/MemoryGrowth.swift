import Foundation

/// By how much one pass grows a process at its peak.
enum MemoryGrowth {
    /// The growth of the peak resident size, in KiB, after a pass over a small document has loaded what is loaded once.
    ///
    /// Pages of the program's own files, which are loaded when more of its code runs, are not counted: how many there are
    /// depends on what is linked, not on the document.
    static func kibibytes(of peer: Peer, _ bytes: [UInt8]) throws -> Int {
        let small = ListingDocument.bytes(itemCount: 1)
        _ = try peer.read(small, Data(small))
        let data = Data(bytes)
        let before = try figures()
        _ = try peer.read(bytes, data)
        let after = try figures()
        return after.peak - before.peak - (after.files - before.files)
    }

    private static func figures() throws -> (peak: Int, files: Int) {
        let lines = try String(contentsOfFile: "/proc/self/status", encoding: .utf8).split(separator: "\n")
        func figure(_ name: String) -> Int {
            lines.first { $0.hasPrefix(name) }.flatMap { Int($0.filter(\.isNumber)) } ?? 0
        }
        return (figure("VmHWM:"), figure("RssFile:"))
    }
}
