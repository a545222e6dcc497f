import Foundation

/// By how much one pass grows a process at its peak.
enum MemoryGrowth {
    /// The growth of the peak resident size, in KiB, after a pass over the smaller document, of several chunks, has loaded what
    /// is loaded once: code and metadata, which are the same for a document of any size.
    static func kibibytes(of peer: Peer, _ bytes: [UInt8]) throws -> Int {
        let small = ListingDocument.bytes(itemCount: 30)
        _ = try peer.read(small, Data(small))
        let data = Data(bytes)
        let before = try peak()
        _ = try peer.read(bytes, data)
        return try peak() - before
    }

    private static func peak() throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
    }
}
