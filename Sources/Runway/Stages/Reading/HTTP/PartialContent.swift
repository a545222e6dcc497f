/// The parts of one representation from partial responses. Adjoining parts are combined (RFC 9111 §3.4).
struct PartialContent: Sendable {
    /// The maximum number of separate parts. Without a limit, a server or caller could split a body into single bytes.
    static let maximumPartCount = 64

    private struct Part: Sendable {
        var start: Int
        var bytes: [UInt8]
        var end: Int { start + bytes.count }
    }

    /// The length of the whole representation; `nil` if no response stated it.
    private(set) var completeLength: Int?
    /// The parts in order. They neither overlap nor adjoin.
    private var parts: [Part] = []

    /// Creates the content of one partial response. Returns `nil` if `Content-Range` does not match the body.
    init?(_ bytes: [UInt8], at range: ContentRange) {
        guard bytes.count == range.bytes.count else { return nil }
        completeLength = range.completeLength
        parts = [Part(start: range.bytes.lowerBound, bytes: bytes)]
    }

    var byteCount: Int { parts.reduce(0) { $0 + $1.bytes.count } }

    /// The whole body; `nil` while bytes are missing.
    var whole: [UInt8]? {
        guard let completeLength, parts.count == 1, parts[0].start == 0, parts[0].end == completeLength else {
            return nil
        }
        return parts[0].bytes
    }

    /// Returns the bytes that a request's range selects, and their position. Returns `nil` if some of the bytes are
    /// missing.
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

    /// Adds the parts of another response. Where both contain a byte, the new one replaces the old one.
    ///
    /// Returns `false`, without a change, if the complete lengths differ or there would be too many parts.
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
