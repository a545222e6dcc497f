import RunwayJSON
import RunwaySignatures

/// A JSON value as metadata may contain it: without floating-point numbers, and without two members of one name.
///
/// Its canonical form is what signatures cover: no white space, members sorted by name, and only `"` and `\` escaped
/// (the Canonical JSON of OLPC, which The Update Framework names in §4.1).
package enum CanonicalValue: Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    case string(String)
    case array([CanonicalValue])
    case object(CanonicalObject)

    /// The maximum nesting depth of a document.
    static let maximumDepth = 32

    /// Reads a document of at most `maximumByteCount` bytes.
    ///
    /// - Throws: ``MalformedMetadata`` if the bytes are no JSON, nested too deeply, or contain a floating-point number,
    ///   an integer beyond 64 bits, two members of one name, or a lone surrogate.
    package init(reading bytes: [UInt8], maximumByteCount: Int) throws(MalformedMetadata) {
        let limits = JSONLimits(
            maximumByteCount: maximumByteCount, maximumDepth: Self.maximumDepth, maximumValueCount: 1_000_000)
        let document: JSONDocument
        do throws(JSONError) {
            document = try JSONDocument(bytes, limits: limits)
        } catch { throw MalformedMetadata("\(error)") }
        try self.init(document.root)
    }

    private init(_ value: JSONValue) throws(MalformedMetadata) {
        switch value.kind {
        case .missing, .null: self = .null
        case .boolean: self = .bool(value.bool == true)
        case .number:
            guard value.isInteger, let integer = value.int64, !value.rawBytes.elementsEqual("-0".utf8) else {
                throw MalformedMetadata("\(value.path) is not an integer of 64 bits")
            }
            self = .integer(integer)
        case .string: self = .string(try Self.checked(value.string ?? ""))
        case .array:
            var elements: [CanonicalValue] = []
            for element in value.elements { elements.append(try CanonicalValue(element)) }
            self = .array(elements)
        case .object:
            var members: [CanonicalObject.Member] = []
            for member in value.members {
                members.append((try Self.checked(member.key), try CanonicalValue(member.value)))
            }
            guard let object = CanonicalObject(distinct: members) else {
                throw MalformedMetadata("\(value.path) has two members of one name")
            }
            self = .object(object)
        }
    }

    /// The JSON reader replaces a lone surrogate by U+FFFD. Two documents that differ only there would have the same
    /// canonical form, so that the character is refused.
    private static func checked(_ text: String) throws(MalformedMetadata) -> String {
        guard !text.unicodeScalars.contains("\u{FFFD}") else { throw MalformedMetadata("U+FFFD in a string") }
        return text
    }

    /// The canonical form.
    package var canonicalBytes: [UInt8] {
        var bytes: [UInt8] = []
        append(to: &bytes)
        return bytes
    }

    private func append(to bytes: inout [UInt8]) {
        switch self {
        case .null: bytes += "null".utf8
        case .bool(let value): bytes += (value ? "true" : "false").utf8
        case .integer(let value): bytes += String(value).utf8
        case .string(let text): Self.append(text, to: &bytes)
        case .array(let elements):
            bytes.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                element.append(to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let object):
            bytes.append(UInt8(ascii: "{"))
            for (index, member) in object.members.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                Self.append(member.name, to: &bytes)
                bytes.append(UInt8(ascii: ":"))
                member.value.append(to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }

    private static func append(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { bytes.append(UInt8(ascii: "\\")) }
            bytes.append(byte)
        }
        bytes.append(UInt8(ascii: "\""))
    }
}

extension CanonicalValue: ExpressibleByStringLiteral {
    /// Creates a string.
    package init(stringLiteral text: String) { self = .string(text) }
}

/// Metadata that does not have the form of The Update Framework §4. The reason is one sentence.
package struct MalformedMetadata: Error, Hashable {
    package let reason: String

    package init(_ reason: String) { self.reason = reason }
}
