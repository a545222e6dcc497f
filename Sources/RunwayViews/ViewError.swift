import RunwayJSON

/// An error of a view's document, with the path of the node or attribute.
///
/// ``ViewDocument`` throws the errors after which nothing can be shown, and lists the others in
/// ``ViewDocument/problems``, since a document may use nodes and attributes of a later version.
public struct ViewError: Error, Sendable, Hashable {
    /// The kind of an error.
    public struct Kind: Sendable, Hashable, CustomStringConvertible {
        /// The name of the kind, such as `unknownNode`.
        public let description: String

        /// The text is not JSON.
        public static let json = Kind(description: "json")
        /// A node is not an object, or a member has the wrong kind of value.
        public static let structure = Kind(description: "structure")
        /// A value begins with `$` and names no token of the skin.
        public static let missingToken = Kind(description: "missingToken")
        /// A `use` names no template of the document.
        public static let missingTemplate = Kind(description: "missingTemplate")
        /// A template uses itself, directly or through another.
        public static let templateCycle = Kind(description: "templateCycle")
        /// The document exceeds a limit of ``ViewLimits``.
        public static let limit = Kind(description: "limit")
        /// A node has a name that this version does not know. Its `else` is shown. Listed, not thrown.
        public static let unknownNode = Kind(description: "unknownNode")
        /// A member that this version does not know, or that its node does not have. Ignored and listed, not thrown.
        public static let unknownAttribute = Kind(description: "unknownAttribute")
        /// A value that its attribute can't have. Ignored and listed, not thrown.
        public static let invalidValue = Kind(description: "invalidValue")
    }

    /// The kind of the error.
    public let kind: Kind
    /// The path of the node or attribute in the document, such as `view.children[2].color`; `$` for the document.
    public let path: String
    /// The error in one sentence, without the path.
    public let message: String

    init(_ kind: Kind, at path: String, _ message: String) {
        (self.kind, self.path, self.message) = (kind, path, message)
    }

    init(_ kind: Kind, at value: JSONValue, _ message: String) { self.init(kind, at: value.path, message) }
}

extension ViewError: CustomStringConvertible {
    /// The path and the message.
    public var description: String { "\(JSONError.shortened(path)): \(message)" }
}
