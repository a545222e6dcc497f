import HTTPTypes

/// The request fields that select a response, as named by its `Vary` (RFC 9111 §4.1).
struct VarySelection: Sendable {
    /// A field that selects the response, with its normalised value in the request.
    fileprivate struct Nominated: Sendable {
        enum Value: Sendable {
            case none
            case text(String)
            /// The SHA-256 digest of the value. A record on disk must contain no request fields.
            case digest([UInt8])
        }

        var name: HTTPField.Name
        var value: Value

        func matches(_ request: HTTPFields) -> Bool {
            let other = VarySelection.normalised(name, in: request)
            switch value {
            case .none: return other == nil
            case .text(let text): return other == text
            case .digest(let digest): return other.map { SHA256Hash.digest(of: $0) } == digest
            }
        }
    }

    /// The maximum number of names that are read. A response that varies by more fields will rarely match another
    /// request.
    static let maximumNameCount = 64

    fileprivate var nominated: [Nominated] = []
    /// Whether no other request can be known to match: `Vary` contains `*`, an invalid field name, or too many names.
    private(set) var matchesNothing = false

    /// Reads the request fields that the response's `Vary` names.
    init(_ response: HTTPFields, request: HTTPFields) {
        var count = 0
        for value in response[values: .vary] {
            for element in FieldList.elements(of: value) {
                count += 1
                guard count <= Self.maximumNameCount else {
                    nominated = []
                    matchesNothing = true
                    return
                }
                if element != "*", let name = HTTPField.Name(String(element)) {
                    if nominated.contains(where: { $0.name == name }) { continue }
                    let value = Self.normalised(name, in: request)
                    nominated.append(Nominated(name: name, value: value.map { .text($0) } ?? .none))
                } else {
                    matchesNothing = true
                }
            }
        }
    }

    /// Whether the response does not vary by request fields.
    var isEmpty: Bool { nominated.isEmpty && !matchesNothing }

    func names(_ name: HTTPField.Name) -> Bool { nominated.contains { $0.name == name } }

    /// Returns whether another request has equal values in all selecting fields.
    func matches(_ request: HTTPFields) -> Bool {
        !matchesNothing && nominated.allSatisfy { $0.matches(request) }
    }

    /// Returns the normalised value of a field, or `nil` if the field is absent. Values with the same meaning have
    /// equal normalised values.
    ///
    /// Lines are joined. In list fields, whitespace is removed, and case and order are normalised where they have no
    /// meaning. Other fields are not changed, because their syntax is unknown.
    static func normalised(_ name: HTTPField.Name, in fields: HTTPFields) -> String? {
        let values = fields[values: name]
        if values.isEmpty { return nil }
        let joined = values.map { String($0[...].trimmingWhitespace) }.joined(separator: ", ")
        guard let list = List(name) else { return joined }
        var elements = FieldList.elements(of: joined).map { element in
            let compact = element.filter { $0 != " " && $0 != "\t" }
            return list.isCaseSensitive ? compact : compact.lowercased()
        }
        if !list.isOrdered { elements.sort() }
        return elements.joined(separator: ",")
    }

    private struct List {
        var isOrdered = false
        var isCaseSensitive = false

        init?(_ name: HTTPField.Name) {
            switch name {
            case .acceptEncoding: break
            // The parameters of a media type may be case-sensitive.
            case .accept: isCaseSensitive = true
            // Some servers rank languages of equal weight by their order (RFC 9110 §12.5.4).
            case .acceptLanguage: isOrdered = true
            default: return nil
            }
        }
    }
}

extension VarySelection {
    /// Writes the names of the fields, and digests of their values.
    func write(to writer: inout TierRecordWriter) {
        writer.write(UInt64(nominated.count))
        for nominated in nominated {
            writer.write(nominated.name.rawName)
            let digest: [UInt8] =
                switch nominated.value {
                case .none: []
                case .text(let text): SHA256Hash.digest(of: text)
                case .digest(let digest): digest
                }
            writer.write(digest)
        }
    }

    /// Reads a selection that ``write(to:)`` wrote. Returns `nil` if it is malformed.
    init?(_ reader: inout TierRecordReader) {
        guard let count = reader.count(upTo: Self.maximumNameCount) else { return nil }
        for _ in 0..<count {
            guard let name = reader.text().flatMap({ HTTPField.Name($0) }), let digest = reader.octets() else {
                return nil
            }
            nominated.append(Nominated(name: name, value: digest.isEmpty ? .none : .digest(digest)))
        }
    }
}

extension SHA256Hash {
    fileprivate static func digest(of text: String) -> [UInt8] {
        var hash = SHA256Hash()
        hash.update(Array(text.utf8))
        return hash.digest
    }
}
