extension JSONValue: CustomStringConvertible {
    /// Indented JSON, truncated at 4096 bytes, with the secrets of ``JSONRedaction/default`` masked.
    public var description: String { JSONRedaction.default.redactedText(of: self) }
}

extension JSONValue: CustomDebugStringConvertible {
    /// The path, shortened beyond 200 characters, and kind, then ``description``.
    public var debugDescription: String {
        exists ? "\(JSONError.shortened(path)), \(kind.rawValue): \(description)" : description
    }
}

extension JSONValue: CustomReflectable {
    /// Without children, so that `dump` and the debugger show the JSON and not how it is stored.
    public var customMirror: Mirror { Mirror(self, children: [], displayStyle: .struct) }
}

extension JSONDocument: CustomStringConvertible {
    /// The root's ``JSONValue/description``.
    public var description: String { root.description }
}

extension JSONDocument: CustomDebugStringConvertible {
    /// The size in bytes, then the root's ``JSONValue/description``.
    public var debugDescription: String { "JSON of \(byteCount) bytes: \(description)" }
}

extension JSONDocument: CustomReflectable {
    /// Without children, so that `dump` and the debugger show the JSON and not how it is stored.
    public var customMirror: Mirror { Mirror(self, children: [], displayStyle: .struct) }
}

extension JSONStorage: CustomReflectable {
    /// A mirror without children: no `dump` of a value that holds a document, an iterator for example, shows the
    /// document's bytes.
    @usableFromInline var customMirror: Mirror { Mirror(self, children: [], displayStyle: .class) }
}

extension JSONMember: CustomStringConvertible {
    /// The name, shortened beyond 200 characters, and the value's ``JSONValue/description``.
    public var description: String { "\(JSONError.shortened(key)): \(value.description)" }
}

extension JSONMember: CustomReflectable {
    /// Without children, so that `dump` and the debugger show the JSON and not how it is stored.
    public var customMirror: Mirror { Mirror(self, children: [], displayStyle: .struct) }
}
