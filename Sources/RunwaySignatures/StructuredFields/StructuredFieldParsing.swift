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
/// The parser of swift-http-structured-headers finds a member by comparing it with all before it, and lets the last of two members
/// with the same key win. The bytes are therefore counted in one pass before they are parsed: the numbers of members and parameters
/// are bounded, and a duplicate is found by comparing them with what was parsed.
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
            var parser = StructuredFieldValueParser(bytes)
            let members = try parser.parseDictionaryFieldValue()
            let parameters = members.reduce(0) { $0 + $1.1.numberOfParameters }
            // An empty field has one member by the count of commas.
            guard members.count == count.members || members.isEmpty, parameters == count.parameters else {
                throw SignatureError(.duplicateName, name)
            }
            return members
        } catch let error as SignatureError {
            throw error
        } catch {
            throw SignatureError(.notStructured, name)
        }
    }

    /// Parses the lines of a field and serialises them strictly (RFC 9421 §2.1.1).
    func strictValue(
        of lines: [String], as type: StructuredFieldType, named name: String
    ) throws(SignatureError) -> [UInt8] {
        let (bytes, _) = try counted(lines, named: name)
        do {
            var parser = StructuredFieldValueParser(bytes)
            var serializer = StructuredFieldValueSerializer()
            switch type {
            case .list: return try serializer.writeListFieldValue(parser.parseListFieldValue())
            case .dictionary: return try serializer.writeDictionaryFieldValue(parser.parseDictionaryFieldValue())
            case .item: return try serializer.writeItemFieldValue(parser.parseItemFieldValue())
            }
        } catch {
            throw SignatureError(.notStructured, name)
        }
    }

    /// The member of a Dictionary, serialised strictly without its key (RFC 9421 §2.1.2).
    func strictMember(
        _ key: String, of lines: [String], named name: String
    ) throws(SignatureError) -> [UInt8] {
        guard let member = try dictionary(lines, named: name)[key] else { throw SignatureError(.missing, name) }
        do {
            var serializer = StructuredFieldValueSerializer()
            return try serializer.writeListFieldValue([member])
        } catch {
            throw SignatureError(.notStructured, name)
        }
    }

    /// The joined lines, and how many members and parameters they have. Commas and semicolons in strings do not count; elsewhere a
    /// comma only separates members, and a semicolon only begins a parameter.
    private func counted(
        _ lines: [String], named name: String
    ) throws(SignatureError) -> (bytes: [UInt8], count: (members: Int, parameters: Int)) {
        let size = lines.reduce(0) { $0 + $1.utf8.count + 2 }
        guard size <= maximumBytes + 2 else { throw SignatureError(.tooLarge, name) }
        // The whitespace around a line is not part of its value (RFC 9110 §5.5); the parser knows only spaces.
        var bytes: [UInt8] = []
        bytes.reserveCapacity(size)
        for (index, line) in lines.enumerated() {
            if index > 0 { bytes += ", ".utf8 }
            bytes += Array(line.utf8).trimmingBlanks()
        }
        var count = (members: 1, parameters: 0)
        var isInString = false
        var isEscaped = false
        for byte in bytes {
            if isEscaped {
                isEscaped = false
            } else if isInString {
                if byte == UInt8(ascii: "\\") { isEscaped = true }
                if byte == UInt8(ascii: "\"") { isInString = false }
            } else if byte == UInt8(ascii: "\"") {
                isInString = true
            } else if byte == UInt8(ascii: ",") {
                count.members += 1
            } else if byte == UInt8(ascii: ";") {
                count.parameters += 1
            }
        }
        guard count.members <= maximumMembers, count.parameters <= maximumParameters else {
            throw SignatureError(.tooLarge, name)
        }
        return (bytes, count)
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
