import HTTPTypes

/// The fields of a request that select a response, as its `Vary` names them (RFC 9111 §4.1).
struct VarySelection: Sendable {
    /// A field and the value that the request had, normalised; `nil` if it had none.
    private struct Nominated: Sendable {
        var name: HTTPField.Name
        var value: String?
    }

    /// The most names that are read: a response that varies by more will hardly match another request.
    static let maximumNameCount = 64

    private var nominated: [Nominated] = []
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
                    nominated.append(Nominated(name: name, value: Self.normalised(name, in: request)))
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
        !matchesNothing && nominated.allSatisfy { $0.value == Self.normalised($0.name, in: request) }
    }

    /// The normalised value of a field, so that two values are equal if they mean the same; `nil` if it is absent.
    ///
    /// Lines are joined. In list fields, whitespace is removed, and case and order if they have no meaning. Other fields are
    /// not changed, since their syntax is unknown.
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
