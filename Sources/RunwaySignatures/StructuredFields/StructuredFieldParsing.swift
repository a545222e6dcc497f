import RawStructuredFieldValues

/// The type of a structured field (RFC 9651 §3).
public enum StructuredFieldType: Sendable, Hashable {
    /// An ordered list of members (RFC 9651 §3.1).
    case list
    /// A map from keys to members (RFC 9651 §3.2).
    case dictionary
    /// A single item (RFC 9651 §3.3).
    case item
}

/// Parses structured fields within limits.
///
/// The parser of swift-http-structured-headers takes quadratic time for many members, and silently drops the first of
/// two members with the same key. Members and parameters are therefore counted in one pass before the field is parsed.
/// The counts are limited. Duplicates are found by comparing the counts with the numbers of parsed members and
/// parameters.
struct StructuredFieldParsing {
    /// The maximum total size of the lines of one field, in bytes.
    var maximumBytes = 16_384
    /// The maximum number of members of a List or Dictionary.
    var maximumMembers = 256
    /// The maximum number of parameters in a field.
    var maximumParameters = 256

    /// Parses the lines of a Dictionary, joined as in RFC 9651 §4.2. A duplicate key or parameter is an error.
    func dictionary(
        _ lines: [String], named name: String
    ) throws(SignatureError) -> OrderedMap<String, ItemOrInnerList> {
        let (bytes, count) = try counted(lines, named: name)
        do {
            var parser = StructuredFieldValueParser(FieldBytes(bytes))
            let members = try parser.parseDictionaryFieldValue()
            try count.check(members.map { $0.1 }, named: name)
            return members
        } catch let error as SignatureError {
            throw error
        } catch {
            throw SignatureError(.notStructured, name)
        }
    }

    /// Parses the lines of a field and serialises them strictly (RFC 9421 §2.1.1). A duplicate key or parameter is an
    /// error.
    func strictValue(
        of lines: [String], as type: StructuredFieldType, named name: String
    ) throws(SignatureError) -> [UInt8] {
        if type == .dictionary {
            let members = try dictionary(lines, named: name)
            return try serialized(named: name) { try $0.writeDictionaryFieldValue(members) }
        }
        let (bytes, count) = try counted(lines, named: name)
        do {
            var parser = StructuredFieldValueParser(FieldBytes(bytes))
            let members = type == .list ? try parser.parseListFieldValue() : [.item(try parser.parseItemFieldValue())]
            try count.check(members, named: name)
            return try serialized(named: name) { try $0.writeListFieldValue(members) }
        } catch let error as SignatureError {
            throw error
        } catch {
            throw SignatureError(.notStructured, name)
        }
    }

    /// Serialises a member of a Dictionary strictly, without its key (RFC 9421 §2.1.2).
    func strictValue(of member: ItemOrInnerList, named name: String) throws(SignatureError) -> [UInt8] {
        try serialized(named: name) { try $0.writeListFieldValue([member]) }
    }

    private func serialized(
        named name: String, _ write: (inout StructuredFieldValueSerializer) throws -> [UInt8]
    ) throws(SignatureError) -> [UInt8] {
        do {
            var serializer = StructuredFieldValueSerializer()
            return try write(&serializer)
        } catch {
            throw SignatureError(.notStructured, name)
        }
    }

    /// Returns the joined lines, and the numbers of members and parameters.
    private func counted(
        _ lines: [String], named name: String
    ) throws(SignatureError) -> (bytes: [UInt8], count: NameCount) {
        let size = lines.reduce(0) { $0 + $1.utf8.count + 2 }
        guard size <= maximumBytes + 2 else { throw SignatureError(.tooLarge, name) }
        // Trims each line, since whitespace around a line is not part of its value (RFC 9110 §5.5), and the parser
        // skips only spaces.
        var bytes: [UInt8] = []
        bytes.reserveCapacity(size)
        for (index, line) in lines.enumerated() {
            if index > 0 { bytes += ", ".utf8 }
            bytes += Array(line.utf8).trimmingBlanks()
        }
        let count = NameCount(of: bytes)
        guard count.members <= maximumMembers, count.parameters <= maximumParameters else {
            throw SignatureError(.tooLarge, name)
        }
        return (bytes, count)
    }
}

/// The bytes of a field for the parser.
///
/// The parser's generic code is not specialised for its collection. With an array slice, which is itself generic, it
/// takes several times as long.
private struct FieldBytes: RandomAccessCollection {
    private let bytes: [UInt8]
    let startIndex: Int
    let endIndex: Int

    init(_ bytes: [UInt8]) { self.init(bytes, bytes.indices) }

    private init(_ bytes: [UInt8], _ range: Range<Int>) {
        (self.bytes, startIndex, endIndex) = (bytes, range.lowerBound, range.upperBound)
    }

    subscript(position: Int) -> UInt8 { bytes[position] }
    subscript(range: Range<Int>) -> FieldBytes { FieldBytes(bytes, range) }

    func withContiguousStorageIfAvailable<Value>(_ body: (UnsafeBufferPointer<UInt8>) throws -> Value) rethrows
        -> Value?
    {
        try bytes[startIndex..<endIndex].withUnsafeBufferPointer(body)
    }
}

/// The numbers of members and parameters in a field, including duplicates.
private struct NameCount {
    private(set) var members = 1
    private(set) var parameters = 0

    private enum Position {
        case outside
        /// In a String, a backslash escapes the next byte (RFC 9651 §3.3.3).
        case string
        case escape
        /// In a Display String, a backslash is not an escape, and `%22` encodes a quotation mark (RFC 9651 §3.3.8).
        case displayString
    }

    /// Counts the commas and semicolons that are outside Strings and Display Strings. Such a comma only separates
    /// members, and such a semicolon only begins a parameter.
    init(of bytes: [UInt8]) {
        var position = Position.outside
        var previous: UInt8 = 0
        for byte in bytes {
            switch (position, byte) {
            case (.outside, UInt8(ascii: "\"")):
                position = previous == UInt8(ascii: "%") ? .displayString : .string
            case (.outside, UInt8(ascii: ",")): members += 1
            case (.outside, UInt8(ascii: ";")): parameters += 1
            case (.string, UInt8(ascii: "\\")): position = .escape
            case (.string, UInt8(ascii: "\"")), (.displayString, UInt8(ascii: "\"")): position = .outside
            case (.escape, _): position = .string
            default: break
            }
            previous = byte
        }
    }

    /// Throws a ``SignatureError`` if fewer members or parameters were parsed than counted: the parser has dropped
    /// duplicates.
    func check(_ parsed: [ItemOrInnerList], named name: String) throws(SignatureError) {
        // An empty field counts as one member.
        guard parsed.count == members || parsed.isEmpty,
            parsed.reduce(0, { $0 + $1.numberOfParameters }) == parameters
        else { throw SignatureError(.duplicateName, name) }
    }
}

extension ItemOrInnerList {
    fileprivate var numberOfParameters: Int {
        switch self {
        case .item(let item): item.rfc9651Parameters.count
        case .innerList(let list):
            list.bareInnerList.reduce(list.rfc9651Parameters.count) { $0 + $1.rfc9651Parameters.count }
        }
    }
}

extension BidirectionalCollection<UInt8> {
    /// Returns the text without leading and trailing spaces and tabs, which are not part of a field value (RFC 9110
    /// §5.5).
    func trimmingBlanks() -> SubSequence {
        guard let first = firstIndex(where: { !$0.isBlank }), let last = lastIndex(where: { !$0.isBlank }) else {
            return self[startIndex..<startIndex]
        }
        return self[first...last]
    }
}

extension UInt8 {
    var isBlank: Bool { self == 0x20 || self == 0x09 }
}
