package import RunwayJSON

extension JSONWriter {
    /// Returns the bytes of an object whose members `write` adds.
    package static func object(_ write: (inout JSONWriter) -> Void) -> [UInt8] {
        var writer = JSONWriter()
        writer.object(write)
        return writer.bytes
    }

    /// Returns the text of an object whose members `write` adds.
    package static func text(_ write: (inout JSONWriter) -> Void) -> String {
        String(decoding: object(write), as: UTF8.self)
    }

    /// Writes an object whose members `write` adds.
    package mutating func object(_ write: (inout JSONWriter) -> Void) {
        beginObject()
        write(&self)
        endObject()
    }

    /// Writes a member that is a string; none for `nil`.
    package mutating func member(_ name: String, _ text: String?) {
        guard let text else { return }
        self.name(name)
        string(text)
    }

    /// Writes a member that is a whole number; none for `nil`.
    package mutating func member(_ name: String, _ number: (some BinaryInteger)?) {
        guard let number else { return }
        self.name(name)
        integer(number)
    }

    /// Writes a member that is `true` or `false`.
    package mutating func member(_ name: String, _ flag: Bool) {
        self.name(name)
        bool(flag)
    }

    /// Writes a member that is an array. `write` writes each of its elements.
    package mutating func member<Elements: Sequence>(
        _ name: String, _ elements: Elements, _ write: (inout JSONWriter, Elements.Element) -> Void
    ) {
        self.name(name)
        beginArray()
        for element in elements { write(&self, element) }
        endArray()
    }

    /// Writes a member that is an array of strings.
    package mutating func member(_ name: String, _ texts: some Sequence<String>) {
        member(name, texts) { $0.string($1) }
    }
}
