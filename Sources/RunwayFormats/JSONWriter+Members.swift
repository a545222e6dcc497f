package import RunwayJSON

extension JSONWriter {
    /// Returns the bytes of a JSON object whose members `write` adds.
    package static func object(_ write: (inout JSONWriter) -> Void) -> [UInt8] {
        var writer = JSONWriter()
        writer.object(write)
        return writer.bytes
    }

    /// Returns the text of a JSON object whose members `write` adds.
    package static func text(_ write: (inout JSONWriter) -> Void) -> String {
        String(decoding: object(write), as: UTF8.self)
    }

    package mutating func object(_ write: (inout JSONWriter) -> Void) {
        beginObject()
        write(&self)
        endObject()
    }

    /// Writes a string member. Writes nothing if the value is `nil`.
    package mutating func member(_ name: String, _ text: String?) {
        guard let text else { return }
        self.name(name)
        string(text)
    }

    /// Writes an integer member. Writes nothing if the value is `nil`.
    package mutating func member(_ name: String, _ number: (some BinaryInteger)?) {
        guard let number else { return }
        self.name(name)
        integer(number)
    }

    package mutating func member(_ name: String, _ flag: Bool) {
        self.name(name)
        bool(flag)
    }

    /// Writes an array member. `write` writes each element.
    package mutating func member<Elements: Sequence>(
        _ name: String, _ elements: Elements, _ write: (inout JSONWriter, Elements.Element) -> Void
    ) {
        self.name(name)
        beginArray()
        for element in elements { write(&self, element) }
        endArray()
    }

    package mutating func member(_ name: String, _ texts: some Sequence<String>) {
        member(name, texts) { $0.string($1) }
    }
}
