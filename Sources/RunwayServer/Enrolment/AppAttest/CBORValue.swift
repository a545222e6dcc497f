/// A CBOR value (RFC 8949) of the kinds that App Attest uses.
///
/// Refused are tags, floating-point numbers, indefinite lengths, map keys other than texts, duplicate keys, more than
/// ``maximumDepth`` levels, and bytes after the value. Parsing takes linear time: a length beyond the remaining bytes
/// is refused before memory is allocated.
enum CBORValue: Equatable, Sendable {
    case unsigned(UInt64)
    case negative(UInt64)
    case bytes([UInt8])
    case text(String)
    case array([CBORValue])
    case map([String: CBORValue])
    case simple(UInt8)

    /// The maximum nesting depth of arrays and maps.
    static let maximumDepth = 8

    /// Parses all bytes as one value. Returns `nil` if they are malformed.
    init?(_ bytes: [UInt8]) {
        var reader = CBORReader(bytes: bytes)
        guard let value = reader.value(depth: 0), reader.isAtEnd else { return nil }
        self = value
    }

    /// The value of a map's key; `nil` if the key is absent or the value is not a map.
    subscript(key: String) -> CBORValue? {
        if case .map(let members) = self { members[key] } else { nil }
    }

    var byteString: [UInt8]? {
        if case .bytes(let bytes) = self { bytes } else { nil }
    }

    /// The elements of an array of byte strings; `nil` for any other value.
    var byteStrings: [[UInt8]]? {
        guard case .array(let values) = self else { return nil }
        let strings = values.compactMap(\.byteString)
        return strings.count == values.count ? strings : nil
    }
}

private struct CBORReader {
    let bytes: [UInt8]
    private var place = 0

    init(bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { place == bytes.count }

    mutating func value(depth: Int) -> CBORValue? {
        guard let first = take(1)?.first, let count = argument(first & 0x1F) else { return nil }
        switch first >> 5 {
        case 0: return .unsigned(count)
        case 1: return .negative(count)
        case 2: return take(count).map { .bytes(Array($0)) }
        case 3: return take(count).flatMap { String(validating: $0, as: UTF8.self) }.map { .text($0) }
        case 4 where depth < CBORValue.maximumDepth: return array(count, depth)
        case 5 where depth < CBORValue.maximumDepth: return map(count, depth)
        case 7 where first & 0x1F < 24: return .simple(first & 0x1F)
        default: return nil
        }
    }

    private mutating func array(_ count: UInt64, _ depth: Int) -> CBORValue? {
        // Every element takes at least one byte, so a count beyond the remaining bytes is invalid.
        guard count <= UInt64(bytes.count - place) else { return nil }
        var values: [CBORValue] = []
        for _ in 0..<count {
            guard let value = value(depth: depth + 1) else { return nil }
            values.append(value)
        }
        return .array(values)
    }

    private mutating func map(_ count: UInt64, _ depth: Int) -> CBORValue? {
        guard count <= UInt64(bytes.count - place) else { return nil }
        var members: [String: CBORValue] = [:]
        for _ in 0..<count {
            guard case .text(let key)? = value(depth: depth + 1), members[key] == nil,
                let value = value(depth: depth + 1)
            else { return nil }
            members[key] = value
        }
        return .map(members)
    }

    /// Returns the argument in the head of a value (RFC 8949 §3).
    private mutating func argument(_ short: UInt8) -> UInt64? {
        switch short {
        case 0..<24: UInt64(short)
        case 24...27: take(1 << UInt64(short - 24))?.reduce(0) { $0 << 8 | UInt64($1) }
        default: nil
        }
    }

    private mutating func take(_ count: UInt64) -> ArraySlice<UInt8>? {
        guard let count = Int(exactly: count), count <= bytes.count - place else { return nil }
        defer { place += count }
        return bytes[place..<place + count]
    }
}
