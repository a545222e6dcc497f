public import RunwayJSON

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A view described by JSON: nodes with attributes, filled with data.
///
/// ```swift
/// let document = try ViewDocument(JSONDocument(#"{ "node": "text", "text": "Hello {name}" }"#).root)
/// let tree = document.tree(of: try JSONDocument(#"{ "name": "Ada" }"#).root)
/// ```
///
/// The text is a node, such as a script returns, or an object with a node in `view`, nodes in `templates`, and
/// optionally `$schema`. It is read once, and never changes: any number of tasks can make trees of it at once.
public struct ViewDocument: Sendable {
    /// The parts of the document that are ignored: nodes, attributes and values that this version does not know.
    public let problems: [ViewError]
    let root: Part
    let limits: ViewLimits

    /// Reads a document.
    ///
    /// - Parameters:
    ///   - value: The root of a JSON document.
    ///   - skin: The values of the tokens that the document uses. The default is none.
    ///   - limits: The limits of the document and of its trees.
    /// - Throws: ``ViewError`` of kind `structure`, `missingToken`, `missingTemplate`, `templateCycle` or `limit`; of
    ///   kind `json` for a value of an unreadable document.
    public init(_ value: JSONValue, skin: ViewSkin = .none, limits: ViewLimits = .default) throws(ViewError) {
        if let error = value.invalidDocumentError { throw ViewError(.json, at: "$", error.description) }
        guard value.rawBytes.count <= limits.maximumByteCount else {
            throw ViewError(.limit, at: "$", "More than \(limits.maximumByteCount) bytes.")
        }
        var reader = DocumentReader(limits: limits, skin: skin)
        root = try reader.read(value)
        (problems, self.limits) = (reader.problems, limits)
    }

    /// Reads a document from JSON text, as an app receives it.
    ///
    /// - Throws: As ``init(_:skin:limits:)``; of kind `json` if the text is not JSON, or longer or deeper than the
    ///   limits allow.
    public init(_ bytes: [UInt8], skin: ViewSkin = .none, limits: ViewLimits = .default) throws(ViewError) {
        let document: JSONDocument
        do {
            document = try JSONDocument(bytes, limits: JSONLimits(maximumByteCount: limits.maximumByteCount))
        } catch { throw ViewError(.json, at: "$", error.description) }
        try self.init(document.root, skin: skin, limits: limits)
    }

    /// Makes the tree of some data. Call it outside the main actor.
    ///
    /// Takes time in proportion to the tree. Each path also costs time in proportion to the members before its value.
    /// Long strings cost only the part that is shown. Limit the size of data from others when you read them.
    ///
    /// - Parameters:
    ///   - data: The data that paths lead into. Missing values are empty.
    ///   - former: A tree of former data, of which unchanged nodes are taken over; the result is the same without it.
    ///     The tree of another document is ignored.
    public func tree(of data: JSONValue, after former: ViewTree? = nil) -> ViewTree {
        var resolver = Resolver(limits: limits, nodeLimit: limits.maximumNodeCount)
        let before = former?.part === root ? former?.root : nil
        let node = resolver.node(root, key: "", in: Scope(data: data), former: before)
        return ViewTree(root: node ?? .empty(key: ""), isTruncated: resolver.isTruncated, part: root)
    }

    /// Makes the tree of a value, such as a reformer returns or a data center has stored. Encodes it as JSON.
    ///
    /// - Parameters:
    ///   - value: The value that paths lead into, by the names of its coding keys.
    ///   - former: As in ``tree(of:after:)``.
    /// - Throws: The errors of encoding the value, and `JSONError` if it encodes itself to a size beyond the limits.
    public func tree(encoding value: some Encodable, after former: ViewTree? = nil) throws -> ViewTree {
        tree(of: try JSONDocument(try JSONEncoder().encode(value)).root, after: former)
    }
}
