/// The parts of one representation from partial responses, combined if they meet (RFC 9111 §3.4).
struct PartialContent: Sendable {
    /// The most separate parts: a server, or its caller, may cut a body into single bytes.
    static let maximumPartCount = 64

    private struct Part: Sendable {
        var start: Int
        var bytes: [UInt8]
        var end: Int { start + bytes.count }
    }

    /// The complete length, if a sender named it.
    private(set) var completeLength: Int?
    /// In order; no two parts overlap or adjoin.
    private var parts: [Part] = []

    /// The content of one partial response; `nil` if field and body disagree.
    init?(_ bytes: [UInt8], at range: ContentRange) {
        guard bytes.count == range.bytes.count else { return nil }
        completeLength = range.completeLength
        parts = [Part(start: range.bytes.lowerBound, bytes: bytes)]
    }

    /// The number of bytes in all parts.
    var byteCount: Int { parts.reduce(0) { $0 + $1.bytes.count } }

    /// The whole body, if nothing is missing.
    var whole: [UInt8]? {
        guard let completeLength, parts.count == 1, parts[0].start == 0, parts[0].end == completeLength else {
            return nil
        }
        return parts[0].bytes
    }

    /// Returns the bytes that a request's range selects, and their position; `nil` if some are missing.
    func content(of range: ByteRange) -> (bytes: [UInt8], range: ContentRange)? {
        let wanted: Range<Int>
        if let completeLength {
            guard let bytes = range.bytes(of: completeLength) else { return nil }
            wanted = bytes
        } else if case .from(let start, let end?) = range {
            wanted = start..<end + 1
        } else {
            return nil
        }
        guard let part = parts.first(where: { $0.start <= wanted.lowerBound && wanted.upperBound <= $0.end }) else {
            return nil
        }
        let bytes = Array(part.bytes[wanted.lowerBound - part.start..<wanted.upperBound - part.start])
        return (bytes, ContentRange(wanted, of: completeLength))
    }

    /// Adds another part; if both have a byte, the new one counts.
    ///
    /// Returns `false`, and changes nothing, if the complete lengths differ, or there would be too many parts.
    mutating func add(_ other: PartialContent) -> Bool {
        if let mine = completeLength, let theirs = other.completeLength, mine != theirs { return false }
        let length = completeLength ?? other.completeLength
        let end = max(parts.last?.end ?? 0, other.parts.last?.end ?? 0)
        if let length, end > length { return false }
        var sum = self
        for part in other.parts { sum.add(part) }
        guard sum.parts.count <= Self.maximumPartCount else { return false }
        sum.completeLength = length
        self = sum
        return true
    }

    private mutating func add(_ new: Part) {
        var merged = new
        for old in parts where old.start <= merged.end && merged.start <= old.end {
            let head = old.start < merged.start ? Array(old.bytes.prefix(merged.start - old.start)) : []
            let tail = old.end > merged.end ? Array(old.bytes.suffix(old.end - merged.end)) : []
            merged = Part(start: min(old.start, merged.start), bytes: head + merged.bytes + tail)
        }
        parts.removeAll { $0.start <= merged.end && merged.start <= $0.end }
        parts.append(merged)
        parts.sort { $0.start < $1.start }
    }
}
