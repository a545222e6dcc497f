import HTTPTypes

/// The one range of bytes that a request asks for (RFC 9110 §14.1.2).
enum ByteRange: Sendable, Equatable {
    /// The bytes from one position through another, or to the end if `through` is `nil`.
    case from(Int, through: Int?)
    /// This number of bytes at the end.
    case last(Int)

    /// Reads the value of `Range`; `nil` for another unit, several ranges, and an invalid value.
    init?(_ value: String) {
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

    /// Returns the bytes of a representation that the range selects; `nil` if it selects none.
    func bytes(of length: Int) -> Range<Int>? {
        switch self {
        case .from(let start, let end):
            start < length ? start..<min(length, (end ?? length - 1) + 1) : nil
        case .last(let count):
            count > 0 && length > 0 ? max(0, length - count)..<length : nil
        }
    }

    /// Reads a number that consists only of digits. A number that is too large becomes one that is larger than any
    /// body, and still less than `Int.max`.
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

/// The position of the bytes of a partial response (RFC 9110 §14.4).
struct ContentRange: Sendable, Equatable {
    /// The bytes.
    var bytes: Range<Int>
    /// The complete length; `nil` if the sender did not know it.
    var completeLength: Int?

    /// The value of the field.
    var text: String {
        "bytes \(bytes.lowerBound)-\(bytes.upperBound - 1)/\(completeLength.map { String($0) } ?? "*")"
    }

    init(_ bytes: Range<Int>, of completeLength: Int?) {
        self.bytes = bytes
        self.completeLength = completeLength
    }

    /// Reads the value of `Content-Range`; `nil` for another unit, an impossible range, and an invalid value.
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
