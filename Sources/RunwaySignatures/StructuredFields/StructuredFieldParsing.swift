import RawStructuredFieldValues

/// The type of a structured field (RFC 9651 §3).
public enum StructuredFieldType: Sendable, Hashable {
    /// A List.
    case list
    /// A Dictionary.
    case dictionary
    /// An Item.
    case item
}

/// Parses structured fields within bounds.
///
/// The parser of swift-http-structured-headers finds a member by comparing it with all earlier ones, and lets the last
/// of two members with the same key win. The bytes are therefore counted in one pass before they are parsed: that
/// limits the numbers of members and parameters, and a duplicate is found by comparing these numbers with the parsed
/// ones.
struct StructuredFieldParsing {
    /// The greatest number of bytes of all lines of a field.
    var maximumBytes = 16_384
    /// The greatest number of members of a List or Dictionary.
    var maximumMembers = 256
    /// The greatest number of parameters in a field.
    var maximumParameters = 256

    /// Parses the lines of a Dictionary, joined as RFC 9651 §4.2 says. A duplicate key or parameter is an error.
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

    /// Returns a member of a Dictionary, serialised strictly without its key (RFC 9421 §2.1.2).
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

    /// Returns the joined lines, and how many members and parameters they have.
    private func counted(
        _ lines: [String], named name: String
    ) throws(SignatureError) -> (bytes: [UInt8], count: NameCount) {
        let size = lines.reduce(0) { $0 + $1.utf8.count + 2 }
        guard size <= maximumBytes + 2 else { throw SignatureError(.tooLarge, name) }
        // The whitespace around a line is not part of its value (RFC 9110 §5.5); the parser knows only spaces.
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
/// The parser's code is generic and not specialised for its collection. A slice of an array, which is generic itself,
/// costs it several times as much as this.
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

/// The numbers of members and parameters that a field names, including duplicates.
private struct NameCount {
    private(set) var members = 1
    private(set) var parameters = 0

    private enum Position {
        case outside
        /// A backslash escapes the next byte (RFC 9651 §3.3.3).
        case string
        case escape
        /// A backslash is a byte like others, and `%22` stands for a quotation mark (RFC 9651 §3.3.8).
        case displayString
    }

    /// Commas and semicolons in Strings and Display Strings do not count; elsewhere a comma only separates members, and
    /// a semicolon only begins a parameter.
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

    /// Throws if fewer members or parameters were parsed than the field names: the parser has dropped duplicates.
    func check(_ parsed: [ItemOrInnerList], named name: String) throws(SignatureError) {
        // An empty field has one member by the count of commas.
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
