/// A path of an existing web site, such as `/o/{id}`, and the page that it shows.
struct PathTemplate: Sendable {
    enum Segment: Hashable, Sendable {
        case literal(String)
        case parameter(String)
    }

    /// Why a text is no template.
    struct Invalid: Error {
        let reason: String
    }

    /// The name of the page.
    let page: String
    let text: String
    let segments: [Segment]

    /// The names in braces.
    var parameters: [String] { segments.compactMap { if case .parameter(let name) = $0 { name } else { nil } } }

    init(_ text: String, for page: String) throws(Invalid) {
        self.page = page
        self.text = text
        let pieces = text.split(separator: "/", omittingEmptySubsequences: false)
        guard pieces.first == "", pieces.count > 1, pieces.count <= Address.Limit.segments else {
            throw Invalid(reason: "does not begin with a slash, or is too deep")
        }
        var segments: [Segment] = []
        for piece in pieces.dropFirst() {
            if piece.hasPrefix("{"), piece.hasSuffix("}"), piece.count > 2 {
                segments.append(.parameter(String(piece.dropFirst().dropLast())))
            } else {
                segments.append(.literal(String(piece)))
            }
        }
        self.segments = segments
        for case .literal(let literal) in segments
        where !Address.isSegment(literal) || literal.contains(where: { "{}?#%".contains($0) }) {
            throw Invalid(reason: "has a segment that is empty, or with a brace, %, ? or #")
        }
        guard Set(parameters).count == parameters.count else { throw Invalid(reason: "has a parameter twice") }
    }

    /// Returns the parameters of a path that has this form, or `nil`.
    func match(_ path: [String]) -> [Parameter]? {
        guard path.count == segments.count else { return nil }
        var parameters: [Parameter] = []
        for (segment, text) in zip(segments, path) {
            switch segment {
            case .literal(let literal): if !literal.isSpelled(text) { return nil }
            case .parameter(let name): parameters.append(Parameter(name: name, value: text))
            }
        }
        return parameters
    }

    /// Returns the path with parameters in it, and the parameters that remain; `nil` if one is absent.
    func fill(_ parameters: [Parameter]) -> (path: [String], query: [Parameter])? {
        var query = parameters
        var path: [String] = []
        for segment in segments {
            switch segment {
            case .literal(let literal): path.append(literal)
            case .parameter(let name):
                guard let index = query.firstIndex(where: { $0.name.isSpelled(name) }) else { return nil }
                path.append(query.remove(at: index).value)
            }
        }
        return (path, query)
    }

    /// Returns whether some path matches both templates.
    func overlaps(_ other: PathTemplate) -> Bool {
        segments.count == other.segments.count
            && zip(segments, other.segments).allSatisfy { pair in
                if case (.literal(let one), .literal(let two)) = pair { one == two } else { true }
            }
    }
}
