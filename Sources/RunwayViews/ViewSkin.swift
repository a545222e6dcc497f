public import RunwayJSON

/// Named values of attributes, which documents write as `$name`: a skin changes colours, sizes and fonts of all views.
///
/// ```json
/// { "accent": { "light": "#0a60ff", "dark": "#6ea8ff" }, "inset": 16 }
/// ```
public struct ViewSkin: Sendable {
    /// The value of each token.
    let tokens: [String: JSONValue]

    /// A skin without tokens.
    public static let none = ViewSkin(tokens: [:])

    private init(tokens: [String: JSONValue]) { self.tokens = tokens }

    /// Reads a token file: one object of names and values. Of members with equal names the first counts.
    ///
    /// - Throws: ``ViewError`` of kind `structure` if the value is not an object.
    public init(_ value: JSONValue) throws(ViewError) {
        guard value.kind == .object else { throw ViewError(.structure, at: value, "A skin is an object of tokens.") }
        tokens = Dictionary(value.members.map { ($0.key, $0.value) }) { first, _ in first }
    }
}
