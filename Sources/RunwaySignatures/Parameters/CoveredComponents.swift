import HTTPTypes
import RawStructuredFieldValues

/// The components that a signature covers, in order and without duplicates (RFC 9421 §2).
///
/// The list is serialised when the value is created. A client that signs many requests should create it once.
public struct CoveredComponents: Sendable, Hashable {
    /// The identifiers in the order in which they are signed.
    public let identifiers: [ComponentIdentifier]
    /// The list as in `Signature-Input`, including its parentheses.
    let serialized: String

    /// Creates a list. Throws a ``SignatureError`` if a component occurs twice or is `@signature-params`.
    public init(_ identifiers: [ComponentIdentifier]) throws(SignatureError) {
        for identifier in identifiers where identifier.name == "@signature-params" {
            throw SignatureError(.unknownComponent, identifier.serialized)
        }
        if let duplicate = Self.duplicate(among: identifiers) {
            throw SignatureError(.duplicateComponent, duplicate.serialized)
        }
        self.identifiers = identifiers
        var text: [UInt8] = [UInt8(ascii: "(")]
        for identifier in identifiers {
            if text.count > 1 { text.append(UInt8(ascii: " ")) }
            text.append(text: identifier.serialized)
        }
        text.append(UInt8(ascii: ")"))
        serialized = String(decoding: text, as: UTF8.self)
    }

    /// Returns the first component that equals an earlier one.
    private static func duplicate(among identifiers: [ComponentIdentifier]) -> ComponentIdentifier? {
        // Comparing a few components is faster than hashing them.
        if identifiers.count <= 8 {
            return identifiers.indices.first { identifiers[..<$0].contains(identifiers[$0]) }.map { identifiers[$0] }
        }
        var covered: Set<ComponentIdentifier> = []
        return identifiers.first { !covered.insert($0).inserted }
    }

    /// Fast path: reads a list of components without parameters in its canonical serialisation. Returns `nil` for any
    /// other list.
    ///
    /// - Parameter maximum: The maximum number of components.
    init?(_ reader: inout SerializedReader, upTo maximum: Int) {
        guard reader.skip("(") else { return nil }
        var identifiers: [ComponentIdentifier] = []
        while !reader.skip(")") {
            guard identifiers.count < maximum, identifiers.isEmpty || reader.skip(" "), let name = reader.string(),
                let identifier = try? ComponentIdentifier(name: name)
            else { return nil }
            identifiers.append(identifier)
        }
        guard let components = try? CoveredComponents(identifiers) else { return nil }
        self = components
    }

    init(_ list: BareInnerList) throws(SignatureError) {
        var identifiers: [ComponentIdentifier] = []
        for item in list { identifiers.append(try ComponentIdentifier(item)) }
        try self.init(identifiers)
    }

    /// Reads components, each written as a name or as in `Signature-Input`. Returns `nil` if one is malformed or occurs
    /// twice.
    package init?(texts: [String]) {
        let quoted = texts.map { text -> String in
            if text.hasPrefix("\"") { return text }
            let name = text.prefix { $0 != ";" }
            return "\"\(name)\"\(text[name.endIndex...])"
        }
        // `Accept-Signature` contains the same kind of list.
        let fields: HTTPFields = [.acceptSignature: "list=(\(quoted.joined(separator: " ")))"]
        guard let components = try? fields.signatureRequests().first?.components,
            components.identifiers.count == texts.count
        else { return nil }
        self = components
    }

    /// Returns whether a component is covered.
    public func contains(_ identifier: ComponentIdentifier) -> Bool { identifiers.contains(identifier) }
}
