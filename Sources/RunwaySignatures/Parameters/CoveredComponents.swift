import HTTPTypes
import RawStructuredFieldValues

/// The components that a signature covers, in their order, each once (RFC 9421 §2).
///
/// A client that signs many requests makes the value once; it is serialised then.
public struct CoveredComponents: Sendable, Hashable {
    /// The identifiers in their order.
    public let identifiers: [ComponentIdentifier]
    /// The list as it stands in `Signature-Input`, with its parentheses.
    let serialized: String

    /// Throws a ``SignatureError`` if a component occurs twice, or is the signature's own parameters.
    public init(_ identifiers: [ComponentIdentifier]) throws(SignatureError) {
        var covered: Set<ComponentIdentifier> = []
        for identifier in identifiers {
            if identifier.name == "@signature-params" { throw SignatureError(.unknownComponent, identifier.serialized) }
            guard covered.insert(identifier).inserted else {
                throw SignatureError(.duplicateComponent, identifier.serialized)
            }
        }
        self.identifiers = identifiers
        serialized = "(" + identifiers.map(\.serialized).joined(separator: " ") + ")"
    }

    /// Reads the list of a member of `Signature-Input` or `Accept-Signature`.
    init(_ list: BareInnerList) throws(SignatureError) {
        var identifiers: [ComponentIdentifier] = []
        for item in list { identifiers.append(try ComponentIdentifier(item)) }
        try self.init(identifiers)
    }

    /// Reads components by their names, or as `Signature-Input` has them. Returns `nil` if one is malformed or occurs twice.
    package init?(texts: [String]) {
        let quoted = texts.map { text -> String in
            if text.hasPrefix("\"") { return text }
            let name = text.prefix { $0 != ";" }
            return "\"\(name)\"\(text[name.endIndex...])"
        }
        // The field that asks for signatures has the same list.
        let fields: HTTPFields = [.acceptSignature: "list=(\(quoted.joined(separator: " ")))"]
        guard let components = try? fields.signatureRequests().first?.components,
            components.identifiers.count == texts.count
        else { return nil }
        self = components
    }

    /// Whether a component is covered.
    public func contains(_ identifier: ComponentIdentifier) -> Bool { identifiers.contains(identifier) }
}
