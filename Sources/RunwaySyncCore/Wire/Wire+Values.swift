package import RunwayJSON

extension Identifier: WireCodable {
    package func write(to writer: inout JSONWriter) { writer.string(description) }

    /// Reads a UUID in lower case.
    package init(_ value: JSONValue) throws(WireError) {
        guard let text = value.string, let id = Identifier(lowercase: text) else {
            throw WireError(value, expected: "a UUID in lower case")
        }
        self = id
    }

    /// Reads a UUID in lower case; `nil` if the text has another form.
    package init?(lowercase text: String) {
        guard let id = Identifier(text), !text.utf8.contains(where: { 0x41...0x5A ~= $0 }) else { return nil }
        self = id
    }
}

/// An unsigned integer of 64 bits as 16 hexadecimal digits in lower case.
struct HexWord: WireCodable {
    let word: UInt64

    init(_ word: UInt64) { self.word = word }

    var text: String {
        String(unsafeUninitializedCapacity: 16) { text in
            for place in 0..<16 {
                let digit = UInt8(truncatingIfNeeded: word >> UInt64(60 - 4 * place)) & 15
                text[place] = digit + (digit < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10)
            }
            return 16
        }
    }

    func write(to writer: inout JSONWriter) { writer.string(text) }

    init(_ value: JSONValue) throws(WireError) {
        guard let text = value.string, let word = HexWord(text: text) else {
            throw WireError(value, expected: "16 hexadecimal digits in lower case")
        }
        self = word
    }

    init?(text: String) {
        var word: UInt64 = 0
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39: word = word << 4 | UInt64(byte - 0x30)
            case 0x61...0x66: word = word << 4 | UInt64(byte - 0x57)
            default: return nil
            }
        }
        guard text.utf8.count == 16 else { return nil }
        self.word = word
    }
}

extension HybridTime: WireCodable {
    package func write(to writer: inout JSONWriter) { HexWord(bits).write(to: &writer) }

    package init(_ value: JSONValue) throws(WireError) {
        guard let time = try HybridTime(bits: HexWord(value).word) else {
            throw WireError(value, expected: "a time before the year 8660")
        }
        self = time
    }
}

extension RowKey: WireCodable {
    package func write(to writer: inout JSONWriter) {
        writer.beginArray()
        writer.string(table)
        id.write(to: &writer)
        writer.endArray()
    }

    package init(_ value: JSONValue) throws(WireError) {
        let parts = try value.tuple(2)
        try self.init(parts[0].name(), Identifier(parts[1]))
    }
}

/// Numbers of JSON can't carry all values: integers past 2^53, whole reals, infinities and bytes are objects with one
/// member that names their kind (rule 2).
extension SyncValue: WireCodable {
    package func write(to writer: inout JSONWriter) {
        switch self {
        case .null: writer.null()
        case .integer(let number):
            if number.magnitude <= WireBounds.number.magnitude { return writer.integer(number) }
            writer.object { $0.text("integer", String(number)) }
        case .real(let number) where number.isInfinite:
            writer.object { $0.text("real", number < 0 ? "-inf" : "inf") }
        case .real(let number):
            // A whole number would read as an integer.
            let isWhole = number == number.rounded()
            if isWhole {
                writer.beginObject()
                writer.name("real")
            }
            // NaN is refused before anything is written.
            do { try writer.double(number) } catch { writer.null() }
            if isWhole { writer.endObject() }
        case .text(let text): writer.string(text)
        case .bytes(let bytes): writer.object { $0.text("bytes", Base64.text(of: bytes)) }
        }
    }

    package init(_ value: JSONValue) throws(WireError) {
        switch value.kind {
        case .null: self = .null
        case .string: self = .text(value.string ?? "")
        case .number where value.isInteger:
            guard let number = value.int64, number.magnitude <= WireBounds.number.magnitude else {
                throw WireError(value, expected: "an integer from -2^53 to 2^53, or a tagged one")
            }
            self = .integer(number)
        case .number: self = .real(try Self.real(value))
        case .object where value.count == 1: try self.init(tagged: value)
        default: throw WireError(value, expected: "a value of a column")
        }
    }

    private init(tagged value: JSONValue) throws(WireError) {
        if let text = value["integer"].string, let number = Int64(text), String(number) == text {
            self = .integer(number)
        } else if let text = value["bytes"].string, let bytes = Base64.bytes(of: text) {
            self = .bytes(bytes)
        } else if value["real"].isString("inf") {
            self = .real(.infinity)
        } else if value["real"].isString("-inf") {
            self = .real(-.infinity)
        } else {
            self = .real(try Self.real(value["real"]))
        }
    }

    private static func real(_ value: JSONValue) throws(WireError) -> Double {
        guard let number = value.double else { throw WireError(value, expected: "a finite number") }
        return number
    }
}

extension Columns: WireCodable where Value: WireCodable {
    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        for (name, value) in self { writer.member(name, value) }
        writer.endObject()
    }

    package init(_ value: JSONValue) throws(WireError) {
        guard value.kind == .object, value.count <= WireBounds.columns else {
            throw WireError(value, expected: "an object of at most \(WireBounds.columns) columns")
        }
        self.init()
        for member in value.members {
            let name = member.key
            guard WireBounds.isName(name), self[name] == nil else {
                throw WireError(value, expected: "names of 1 to \(WireBounds.nameBytes) bytes without NUL, each once")
            }
            self[name] = try Value(member.value)
        }
    }
}

/// Base64 with the alphabet and the padding of RFC 4648 §4.
enum Base64 {
    private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    static func text(of bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let count = min(bytes.count - start, 3)
            let group = (0..<3).reduce(UInt32(0)) { $0 << 8 | ($1 < count ? UInt32(bytes[start + $1]) : 0) }
            for place in 0..<4 {
                text.append(place > count ? UInt8(ascii: "=") : digits[Int(group >> (18 - 6 * UInt32(place))) & 63])
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Returns the bytes; `nil` if the text has another form than ``text(of:)`` makes.
    static func bytes(of text: String) -> [UInt8]? {
        let all = Array(text.utf8)
        guard all.count % 4 == 0 else { return nil }
        let padding = all.suffix(2).reversed().prefix { $0 == UInt8(ascii: "=") }.count
        var bytes: [UInt8] = []
        bytes.reserveCapacity(all.count / 4 * 3)
        var (group, count) = (UInt32(0), 0)
        for byte in all.dropLast(padding) {
            guard let digit = value(of: byte) else { return nil }
            group = group << 6 | digit
            count += 6
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: group >> UInt32(count)))
            }
        }
        // The bits past the last byte are 0, so that each value has one text.
        return group & (1 << UInt32(count) - 1) == 0 ? bytes : nil
    }

    private static func value(of byte: UInt8) -> UInt32? {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(byte) - 65
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(byte) - 71
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte) + 4
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
