import RunwayJSON

extension ViewData: CustomStringConvertible {
    /// Indented JSON in the order in which the values were set, cut off at 4096 bytes. A value whose word
    /// `JSONRedaction.default` calls secret is masked, at whatever depth; one that JSON has no form for is shown as its description.
    public var description: String {
        var writer = JSONWriter()
        writer.shown(self, depth: 0)
        guard let document = try? JSONDocument(writer.bytes) else { return "\(count) values" }
        return document.description
    }
}

extension ViewData: CustomReflectable {
    /// Without children, so that `dump` and the debugger show the JSON, and no secret.
    public var customMirror: Mirror { Mirror(self, children: [], displayStyle: .struct) }
}

extension JSONWriter {
    /// Writes a value as a person can read it. Deep down in one another, values are shown as their descriptions.
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
