import HTTPTypes

/// The fields of a request that select a response, as its `Vary` names them (RFC 9111 §4.1).
struct VarySelection: Sendable {
    /// A field and the value that the request had, normalised.
    fileprivate struct Nominated: Sendable {
        enum Value: Sendable {
            case none
            case text(String)
            /// The SHA-256 of the value: the record on disk contains no field of a request.
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

    /// The most names that are read: a response that varies by more will hardly match another request.
    static let maximumNameCount = 64

    fileprivate var nominated: [Nominated] = []
    /// Whether no other request is known to match: `Vary` names `*`, an invalid field name, or too many names.
    private(set) var matchesNothing = false

    /// Selects the fields of a request that its response nominates.
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

    /// Whether the response varies by no field of its request.
    var isEmpty: Bool { nominated.isEmpty && !matchesNothing }

    /// Returns whether the response varies by a field.
    func names(_ name: HTTPField.Name) -> Bool { nominated.contains { $0.name == name } }

    /// Whether another request has equal values in all nominated fields.
    func matches(_ request: HTTPFields) -> Bool {
        !matchesNothing && nominated.allSatisfy { $0.matches(request) }
    }

    /// Returns the normalised value of a field, so that two values are equal if they mean the same; `nil` if it is
    /// absent.
    ///
    /// Lines are joined. In list fields, whitespace is removed, and case and order if they have no meaning. Other
    /// fields are not changed, since their syntax is unknown.
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

    /// A field that is known to be a list.
    private struct List {
        var isOrdered = false
        var isCaseSensitive = false

        init?(_ name: HTTPField.Name) {
            switch name {
            case .acceptEncoding: break
            // The values of a media type's parameters may be case-sensitive.
            case .accept: isCaseSensitive = true
            // Some servers take the order of languages of one weight for their rank (RFC 9110 §12.5.4).
            case .acceptLanguage: isOrdered = true
            default: return nil
            }
        }
    }
}

extension VarySelection {
    /// Writes the names, and digests of the values.
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

    /// Reads a selection that ``write(to:)`` wrote; `nil` if it is malformed.
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
