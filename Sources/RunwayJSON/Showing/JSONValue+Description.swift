extension JSONValue: CustomStringConvertible {
    /// Indented JSON, truncated at 4096 bytes, with the secrets of ``JSONRedaction/default`` masked.
    public var description: String { JSONRedaction.default.redactedText(of: self) }
}

extension JSONValue: CustomDebugStringConvertible {
    /// The path (shortened to 200 characters), the kind, and then ``description``.
    public var debugDescription: String {
        exists ? "\(JSONError.shortened(path)), \(kind.rawValue): \(description)" : description
    }
}

extension JSONValue: CustomReflectable {
    /// A mirror without children, so that `dump` and the debugger show the JSON instead of its storage.
    public var customMirror: Mirror { Mirror(self, children: [], displayStyle: .struct) }
}

extension JSONDocument: CustomStringConvertible {
    /// The ``JSONValue/description`` of the root.
    public var description: String { root.description }
}

extension JSONDocument: CustomDebugStringConvertible {
    /// The size in bytes, then the root's ``JSONValue/description``.
    public var debugDescription: String { "JSON of \(byteCount) bytes: \(description)" }
}

extension JSONDocument: CustomReflectable {
    /// A mirror without children, so that `dump` and the debugger show the JSON instead of its storage.
    public var customMirror: Mirror { Mirror(self, children: [], displayStyle: .struct) }
}

extension JSONStorage: CustomReflectable {
    /// A mirror without children, so that `dump` of an enclosing value does not show the document's bytes.
    @usableFromInline var customMirror: Mirror { Mirror(self, children: [], displayStyle: .class) }
}

extension JSONMember: CustomStringConvertible {
    /// The name (shortened to 200 characters) and the ``JSONValue/description`` of the value.
    public var description: String { "\(JSONError.shortened(key)): \(value.description)" }
}

extension JSONMember: CustomReflectable {
    /// A mirror without children, so that `dump` and the debugger show the JSON instead of its storage.
    public var customMirror: Mirror { Mirror(self, children: [], displayStyle: .struct) }
}
