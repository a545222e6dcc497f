import HTTPTypes

/// The byte range that a request asks for (RFC 9110 §14.1.2). Only a single range is supported.
package enum ByteRange: Sendable, Equatable {
    /// The bytes from the first position through `through`, or to the end if `through` is `nil`.
    case from(Int, through: Int?)
    /// The last bytes of the representation, as in `bytes=-500`. The associated value is the number of bytes.
    case last(Int)

    /// Parses the value of `Range`. Returns `nil` for another unit, several ranges, or an invalid value.
    package init?(_ value: String) {
        guard value.utf8.count > 6, value.prefix(6).lowercased() == "bytes=" else { return nil }
        let ranges = FieldList.elements(of: value.dropFirst(6))
        guard ranges.count == 1, let range = ranges.first, let dash = range.firstIndex(of: "-") else { return nil }
        let (first, last) = (range[..<dash], range[range.index(after: dash)...])
        if first.isEmpty {
            guard let count = Self.position(last) else { return nil }
            self = .last(count)
        } else {
            guard let start = Self.position(first) else { return nil }
            if last.isEmpty {
                self = .from(start, through: nil)
            } else {
                guard let end = Self.position(last), end >= start else { return nil }
                self = .from(start, through: end)
            }
        }
    }

    /// Returns the bytes that the range selects from a representation of this length, or `nil` if it selects none.
    package func bytes(of length: Int) -> Range<Int>? {
        switch self {
        case .from(let start, let end):
            start < length ? start..<min(length, (end ?? length - 1) + 1) : nil
        case .last(let count):
            count > 0 && length > 0 ? max(0, length - count)..<length : nil
        }
    }

    /// Parses a number that consists only of digits. A number that is too large is replaced by one that exceeds every
    /// body length and is less than `Int.max`.
    static func position(_ text: some StringProtocol) -> Int? {
        guard !text.isEmpty else { return nil }
        var value: Int64 = 0
        for byte in text.utf8 {
            guard (0x30...0x39).contains(byte) else { return nil }
            value = min(value * 10 + Int64(byte - 0x30), Int64(1) << 48)
        }
        return min(Int(clamping: value), .max - 1)
    }
}

/// The position of a partial response within the whole representation (RFC 9110 §14.4).
struct ContentRange: Sendable, Equatable {
    var bytes: Range<Int>
    /// The length of the whole representation; `nil` if the sender did not know it.
    var completeLength: Int?

    var text: String {
        "bytes \(bytes.lowerBound)-\(bytes.upperBound - 1)/\(completeLength.map { String($0) } ?? "*")"
    }

    init(_ bytes: Range<Int>, of completeLength: Int?) {
        self.bytes = bytes
        self.completeLength = completeLength
    }

    /// Parses the value of `Content-Range`. Returns `nil` for another unit, an impossible range, or an invalid value.
    init?(_ value: String) {
        let parts = value.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bytes" else { return nil }
        let sides = parts[1].split(separator: "/", omittingEmptySubsequences: false)
        guard sides.count == 2 else { return nil }
        let ends = sides[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = ByteRange.position(ends[0]), let last = ByteRange.position(ends[1]),
            first <= last
        else { return nil }
        bytes = first..<last + 1
        if sides[1] == "*" { return }
        guard let length = ByteRange.position(sides[1]), length >= bytes.upperBound else { return nil }
        completeLength = length
    }
}
