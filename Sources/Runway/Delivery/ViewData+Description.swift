import RunwayJSON

extension ViewData: CustomStringConvertible {
    /// The values as indented JSON, in the order in which they were set, truncated at 4096 bytes. The secrets of
    /// `JSONRedaction.default` are masked at every depth. A value that JSON cannot represent is shown as its
    /// description.
    public var description: String {
        var writer = JSONWriter()
        writer.shown(self, depth: 0)
        guard let document = try? JSONDocument(writer.bytes) else { return "\(count) values" }
        return document.description
    }
}

extension ViewData: CustomReflectable {
    /// A mirror without children, so that `dump` and the debugger show the JSON and no secrets.
    public var customMirror: Mirror { Mirror(self, children: [], displayStyle: .struct) }
}

extension JSONWriter {
    /// Appends a value in readable form. Values at more than 16 levels are shown as their descriptions.
    fileprivate mutating func shown(_ value: any Sendable, depth: Int) {
        switch value {
        case let value as ViewData where depth < 16:
            beginObject()
            for entry in value.entries {
                name(entry.name)
                shown(entry.value, depth: depth + 1)
            }
            endObject()
        case let value as JSONValue: self.value(value)
        case let value as Bool: bool(value)
        case let value as any BinaryInteger: integer(value)
        case let value as Double where value.isFinite: (try? double(value)) ?? string("\(value)")
        default: string("\(value)")
        }
    }
}
