import Foundation

/// A value of the DevTools protocol, and its form in CBOR (RFC 8949), in which bytes need no base64.
enum DevToolsValue: Sendable, Equatable, ExpressibleByStringLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByIntegerLiteral, ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral
{
    case null
    case bool(Bool)
    case integer(Int)
    case double(Double)
    case string(String)
    case bytes(Data)
    case array([DevToolsValue])
    case object([String: DevToolsValue])

    init(stringLiteral text: String) { self = .string(text) }
    init(booleanLiteral value: Bool) { self = .bool(value) }
    init(integerLiteral value: Int) { self = .integer(value) }
    init(arrayLiteral elements: DevToolsValue...) { self = .array(elements) }
    init(dictionaryLiteral elements: (String, DevToolsValue)...) {
        self = .object(Dictionary(elements) { _, last in last })
    }

    subscript(name: String) -> DevToolsValue {
        if case .object(let members) = self { members[name] ?? .null } else { .null }
    }

    var string: String? { if case .string(let text) = self { text } else { nil } }
    var integer: Int? { if case .integer(let number) = self { number } else { nil } }
    var elements: [DevToolsValue] { if case .array(let elements) = self { elements } else { [] } }

    // MARK: Writing

    /// The bytes of a message whose members these are.
    var message: Data {
        var bytes = Data()
        append(to: &bytes)
        return bytes
    }

    private func append(to bytes: inout Data) {
        switch self {
        case .null: bytes.append(0xF6)
        case .bool(let value): bytes.append(value ? 0xF5 : 0xF4)
        case .integer(let number) where number >= 0: Self.append(0, UInt64(number), to: &bytes)
        case .integer(let number): Self.append(1, UInt64(-1 - number), to: &bytes)
        case .double(let number):
            bytes.append(0xFB)
            withUnsafeBytes(of: number.bitPattern.bigEndian) { bytes.append(contentsOf: $0) }
        case .string(let text):
            Self.append(3, UInt64(text.utf8.count), to: &bytes)
            bytes.append(contentsOf: text.utf8)
        case .bytes(let data):
            bytes.append(0xD6)
            Self.append(2, UInt64(data.count), to: &bytes)
            bytes.append(data)
        case .array(let elements):
            Self.appendContainer(0x9F, to: &bytes) { for element in elements { element.append(to: &$0) } }
        case .object(let members):
            Self.appendContainer(0xBF, to: &bytes) {
                for (name, value) in members {
                    DevToolsValue.string(name).append(to: &$0)
                    value.append(to: &$0)
                }
            }
        }
    }

    /// Containers have an envelope each, and no count.
    private static func appendContainer(_ head: UInt8, to bytes: inout Data, _ content: (inout Data) -> Void) {
        bytes.append(contentsOf: [0xD8, 0x18, 0x5A, 0, 0, 0, 0])
        let start = bytes.count
        bytes.append(head)
        content(&bytes)
        bytes.append(0xFF)
        let count = UInt32(bytes.count - start)
        withUnsafeBytes(of: count.bigEndian) { bytes.replaceSubrange((start - 4)..<start, with: $0) }
    }

    private static func append(_ type: UInt8, _ number: UInt64, to bytes: inout Data) {
        switch number {
        case 0..<24: bytes.append(type << 5 | UInt8(number))
        case 24...0xFF: bytes.append(contentsOf: [type << 5 | 24, UInt8(number)])
        case 0x100...0xFFFF: bytes.append(contentsOf: [type << 5 | 25, UInt8(number >> 8), UInt8(number & 0xFF)])
        case 0x1_0000...UInt64(UInt32.max):
            bytes.append(type << 5 | 26)
            withUnsafeBytes(of: UInt32(number).bigEndian) { bytes.append(contentsOf: $0) }
        default:
            bytes.append(type << 5 | 27)
            withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
        }
    }
}

/// Reads values of the DevTools protocol from CBOR.
struct DevToolsReader {
    /// The message is not in the form in which Chromium writes it.
    struct Malformed: Error {}

    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    static func value(of bytes: [UInt8]) throws(Malformed) -> DevToolsValue {
        var reader = DevToolsReader(bytes)
        return try reader.value(depth: 0)
    }

    private mutating func byte() throws(Malformed) -> UInt8 {
        guard position < bytes.count else { throw Malformed() }
        defer { position += 1 }
        return bytes[position]
    }

    private mutating func number(_ head: UInt8) throws(Malformed) -> UInt64 {
        let detail = head & 0x1F
        guard detail >= 24 else { return UInt64(detail) }
        guard detail <= 27 else { throw Malformed() }
        var number: UInt64 = 0
        for _ in 0..<(1 << (detail - 24)) { number = number << 8 | UInt64(try byte()) }
        return number
    }

    private mutating func slice(_ head: UInt8) throws(Malformed) -> ArraySlice<UInt8> {
        let count = try number(head)
        guard count <= UInt64(bytes.count - position) else { throw Malformed() }
        defer { position += Int(count) }
        return bytes[position..<(position + Int(count))]
    }

    private mutating func value(depth: Int) throws(Malformed) -> DevToolsValue {
        guard depth < 300 else { throw Malformed() }
        let head = try byte()
        switch head {
        case 0xD8:  // An envelope: its tag, and the head of the byte string that it is.
            guard try byte() == 0x18 else { throw Malformed() }
            _ = try number(try byte())
            return try value(depth: depth + 1)
        case 0xD6: return .bytes(Data(try slice(try byte())))
        case 0xF4: return .bool(false)
        case 0xF5: return .bool(true)
        case 0xF6: return .null
        case 0xFB: return .double(Double(bitPattern: try number(head)))
        case 0x00...0x1B: return .integer(Int(truncatingIfNeeded: try number(head)))
        case 0x20...0x3B: return .integer(-1 - Int(truncatingIfNeeded: try number(head)))
        case 0x40...0x5B:  // UTF-16 in little-endian order.
            let slice = try slice(head)
            let units = stride(from: slice.startIndex, to: slice.endIndex - 1, by: 2).map {
                UInt16(slice[$0]) | UInt16(slice[$0 + 1]) << 8
            }
            return .string(String(decoding: units, as: UTF16.self))
        case 0x60...0x7B: return .string(String(decoding: try slice(head), as: UTF8.self))
        case 0x9F:
            var elements: [DevToolsValue] = []
            while try !ends() { elements.append(try value(depth: depth + 1)) }
            return .array(elements)
        case 0xBF:
            var members: [String: DevToolsValue] = [:]
            while try !ends() {
                guard let name = try value(depth: depth + 1).string else { throw Malformed() }
                members[name] = try value(depth: depth + 1)
            }
            return .object(members)
        default: throw Malformed()
        }
    }

    /// Skips the end of a container, if it is here.
    private mutating func ends() throws(Malformed) -> Bool {
        guard position < bytes.count else { throw Malformed() }
        guard bytes[position] == 0xFF else { return false }
        position += 1
        return true
    }
}
