import RunwayJSON

/// A path to a value, written as `{item.title}`.
struct Reference: Sendable, Hashable {
    enum Base: Sendable, Hashable {
        /// The data of the tree.
        case data
        /// A parameter of the template, by its number.
        case parameter(Int)
        /// The element of a surrounding `each`, counted from outside.
        case item(Int)
    }

    let base: Base
    /// Names of members, or indices in digits.
    let steps: [String]

    static let maximumSteps = 16
}

/// The names that paths can begin with, at one node of the document.
struct Names: Sendable {
    /// The parameters of the template in their order of first use; `nil` outside templates, where paths lead into the
    /// data.
    var parameters: [String]?
    /// The names of the surrounding `each`.
    var items: [String] = []

    /// The maximum number of parameters of a template: each use stores the values of all.
    static let maximumParameters = 64
    /// The maximum number of paths of a repeated node that do not begin at its element: each change compares them.
    static let maximumOutsidePaths = 256

    /// Returns the reference of a path; `nil` if the path is malformed.
    ///
    /// A path is up to 16 names or indices with full stops between them. Names consist of letters, digits, `_` and `-`.
    ///
    /// Returns `nil`, too, once a template has more parameters than ``maximumParameters``: its reader refuses it.
    mutating func reference(_ path: Substring) -> Reference? {
        let steps = path.split(separator: ".", maxSplits: Reference.maximumSteps, omittingEmptySubsequences: false)
        guard steps.count <= Reference.maximumSteps, steps.allSatisfy(Self.isName) else { return nil }
        let first = String(steps[0])
        let rest = steps.dropFirst().map(String.init)
        if let item = items.lastIndex(of: first) { return Reference(base: .item(item), steps: rest) }
        guard let parameters else { return Reference(base: .data, steps: [first] + rest) }
        if let number = parameters.firstIndex(of: first) { return Reference(base: .parameter(number), steps: rest) }
        guard parameters.count <= Self.maximumParameters else { return nil }
        self.parameters?.append(first)
        return Reference(base: .parameter(parameters.count), steps: rest)
    }

    static func isName(_ text: some StringProtocol) -> Bool {
        !text.isEmpty
            && text.unicodeScalars.allSatisfy {
                $0 == "_" || $0 == "-" || $0.properties.isAlphabetic || ("0"..."9").contains($0)
            }
    }
}

/// A value of the document that data can fill.
enum Template: Sendable {
    /// Text without paths.
    case text(String)
    /// One path and nothing else: has the value's own kind.
    case reference(Reference)
    /// Text and paths in turn.
    case pieces([Piece])
    /// A value that is no string, as it is in the document.
    case json(JSONValue)

    enum Piece: Sendable {
        case text(String)
        case reference(Reference)
    }

    /// Reads a text: `{path}` is a path, and `{{` is a brace. Returns `nil` if a brace is not closed or a path is
    /// malformed.
    init?(_ text: String, names: inout Names) {
        guard text.utf8.contains(UInt8(ascii: "{")) else {
            self = .text(text)
            return
        }
        var pieces: [Piece] = []
        var literal = ""
        var rest = text[...]
        while let open = rest.firstIndex(of: "{") {
            literal += rest[..<open]
            rest = rest[rest.index(after: open)...]
            if rest.first == "{" {
                literal += "{"
                rest = rest.dropFirst()
                continue
            }
            guard let close = rest.firstIndex(of: "}"), let reference = names.reference(rest[..<close]) else {
                return nil
            }
            if !literal.isEmpty { pieces.append(.text(literal)) }
            literal = ""
            pieces.append(.reference(reference))
            rest = rest[rest.index(after: close)...]
        }
        literal += rest
        if !literal.isEmpty { pieces.append(.text(literal)) }
        if pieces.count == 1, case .text(let text) = pieces[0] {
            self = .text(text)
        } else if pieces.count == 1, case .reference(let reference) = pieces[0] {
            self = .reference(reference)
        } else {
            self = .pieces(pieces)
        }
    }

    /// The paths in it.
    var references: [Reference] {
        switch self {
        case .text, .json: []
        case .reference(let reference): [reference]
        case .pieces(let pieces):
            pieces.compactMap { if case .reference(let reference) = $0 { reference } else { nil } }
        }
    }
}
