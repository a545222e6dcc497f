/// The parts of one representation that came in partial answers, put together where they meet (RFC 9111 §3.4).
struct PartialContent: Sendable {
    /// The most parts that are kept apart: a server, or who asks it, may cut a body into single bytes.
    static let maximumPartCount = 64

    private struct Part: Sendable {
        var start: Int
        var bytes: [UInt8]
        var end: Int { start + bytes.count }
    }

    /// The length of the whole, where a sender named it.
    private(set) var completeLength: Int?
    /// In their order, none of which touches another.
    private var parts: [Part] = []

    /// Makes the content of one partial answer; `nil` where the field and the body don't agree.
    init?(_ bytes: [UInt8], at range: ContentRange) {
        guard bytes.count == range.bytes.count else { return nil }
        completeLength = range.completeLength
        parts = [Part(start: range.bytes.lowerBound, bytes: bytes)]
    }

    /// The number of bytes that are there.
    var byteCount: Int { parts.reduce(0) { $0 + $1.bytes.count } }

    /// The whole body, where nothing is missing.
    var whole: [UInt8]? {
        guard let completeLength, parts.count == 1, parts[0].start == 0, parts[0].end == completeLength else {
            return nil
        }
        return parts[0].bytes
    }

    /// The bytes that a request's range names, and where they belong; `nil` where not all of them are there.
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

    /// Puts another part to these; where both have a byte, the new one counts.
    ///
    /// Gives `false`, and changes nothing, where the two are not of the same length as a whole, or there would be too many parts.
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
