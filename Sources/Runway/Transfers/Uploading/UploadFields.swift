import HTTPTypes

/// The state of an upload that a response reports (draft-ietf-httpbis-resumable-upload). A field with an invalid value
/// counts as absent.
struct UploadFields: Sendable, Equatable {
    /// The number of bytes that the server has.
    var offset: Int?
    /// Whether the server has all of the upload.
    var isComplete: Bool?
    var length: Int?
    /// The most bytes that the server accepts in one request.
    var maximumAppendByteCount: Int?
    /// The most bytes that the server accepts in all.
    var maximumByteCount: Int?

    init(_ fields: HTTPFields) {
        offset = fields.structuredInteger(Self.offsetName)
        length = fields.structuredInteger(Self.lengthName)
        // Final responses of swift-nio-extras 1.35 have the name of the first drafts.
        isComplete =
            fields.structuredBoolean(Self.completeName) ?? fields.structuredBoolean(Self.incompleteName).map { !$0 }
        maximumAppendByteCount = Self.limit("max-append-size", fields)
        maximumByteCount = Self.limit("max-size", fields)
    }

    static let completeName = HTTPField.Name(known: "Upload-Complete")
    private static let incompleteName = HTTPField.Name(known: "Upload-Incomplete")
    static let offsetName = HTTPField.Name(known: "Upload-Offset")
    static let lengthName = HTTPField.Name(known: "Upload-Length")
    private static let limitName = HTTPField.Name(known: "Upload-Limit")
    static let versionName = HTTPField.Name(known: "Upload-Draft-Interop-Version")

    /// A member of `Upload-Limit`, a dictionary of integers.
    private static func limit(_ name: String, _ fields: HTTPFields) -> Int? {
        guard let value = fields[limitName], value.utf8.count <= 1024 else { return nil }
        for member in FieldList.elements(of: value) {
            let parts = member.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, parts[0] == name else { continue }
            return HTTPFields.integer(parts[1].prefix { $0 != ";" })
        }
        return nil
    }
}

extension HTTPField.Name {
    /// A name that is known to be valid.
    fileprivate init(known text: StaticString) {
        guard let name = Self("\(text)") else { preconditionFailure("\(text) is not the name of a header field") }
        self = name
    }
}

extension HTTPFields {
    /// The value of an item that is a Boolean (RFC 9651 §3.3.6); `nil` for any other.
    fileprivate func structuredBoolean(_ name: HTTPField.Name) -> Bool? {
        switch item(name) {
        case "?1": true
        case "?0": false
        default: nil
        }
    }

    /// The value of an item that is an integer of at least zero (RFC 9651 §3.3.1); `nil` for any other.
    fileprivate func structuredInteger(_ name: HTTPField.Name) -> Int? { item(name).flatMap(Self.integer) }

    fileprivate static func integer(_ text: Substring) -> Int? {
        (1...15).contains(text.utf8.count) ? ByteRange.position(text) : nil
    }

    /// An item without its parameters.
    private func item(_ name: HTTPField.Name) -> Substring? { self[name].map { $0.prefix { $0 != ";" && $0 != " " } } }
}
