package import RunwayJSON

extension JSONValue {
    /// Returns the member with a name; throws if there is none.
    func member(_ name: String) throws(WireError) -> JSONValue {
        let value = self[name]
        guard value.exists else { throw WireError(value, expected: "a value") }
        return value
    }

    /// Returns a member as a value of a type.
    func read<Value: WireCodable>(_ name: String, as type: Value.Type = Value.self) throws(WireError) -> Value {
        try Value(member(name))
    }

    /// Returns a member as a value of a type; `nil` if it is absent.
    func readIfPresent<Value: WireCodable>(
        _ name: String, as type: Value.Type = Value.self
    ) throws(WireError) -> Value? {
        guard let value = memberIfPresent(name) else { return nil }
        return try Value(value)
    }

    /// Returns the first member with a name; `nil` if there is none. The subscript would describe the absence, which
    /// costs more than the search.
    func memberIfPresent(_ name: String) -> JSONValue? {
        for member in members where member.hasKey(name) { return member.value }
        return nil
    }

    /// Returns the elements of a member, which is an array with at most `limit` elements.
    func readList<Value: WireCodable>(
        _ name: String, limit: Int, as type: Value.Type = Value.self
    ) throws(WireError) -> [Value] {
        try member(name).readElements(limit: limit)
    }

    /// Returns the elements of an array with at most `limit` elements.
    func readElements<Value: WireCodable>(limit: Int) throws(WireError) -> [Value] {
        guard kind == .array, count <= limit else { throw WireError(self, expected: "an array of at most \(limit)") }
        var values: [Value] = []
        values.reserveCapacity(count)
        for element in elements { values.append(try Value(element)) }
        return values
    }

    /// Returns a member that is `true`, `false` or absent, which means `false`.
    func readFlag(_ name: String) throws(WireError) -> Bool {
        guard let value = memberIfPresent(name) else { return false }
        guard let bool = value.bool else { throw WireError(value, expected: "true or false") }
        return bool
    }

    /// Returns the text of a string that is a valid name.
    func name() throws(WireError) -> String {
        guard let name = string, WireBounds.isName(name) else {
            throw WireError(self, expected: "a name of 1 to \(WireBounds.nameBytes) bytes without NUL")
        }
        return name
    }

    /// Returns the elements of an array that has exactly `count` elements.
    func tuple(_ count: Int) throws(WireError) -> [JSONValue] {
        guard kind == .array, self.count == count else { throw WireError(self, expected: "an array of \(count)") }
        return Array(elements)
    }

    /// Throws if the value is no object.
    func requireObject() throws(WireError) {
        guard kind == .object else { throw WireError(self, expected: "an object") }
    }
}

extension Int64: WireCodable {
    package func write(to writer: inout JSONWriter) { writer.integer(self) }

    /// Reads a count, a number or a life: an integer from 0 to 2^53.
    package init(_ value: JSONValue) throws(WireError) {
        guard value.isInteger, let number = value.int64, 0...WireBounds.number ~= number else {
            throw WireError(value, expected: "an integer from 0 to 2^53")
        }
        self = number
    }
}

extension JSONWriter {
    /// Writes a member.
    mutating func member(_ name: String, _ value: some WireCodable) {
        self.name(name)
        value.write(to: &self)
    }

    /// Writes a member, unless it is `nil`.
    mutating func member(_ name: String, ifPresent value: (some WireCodable)?) {
        if let value { member(name, value) }
    }

    /// Writes a member with an array.
    mutating func list(_ name: String, _ values: some Sequence<some WireCodable>) {
        self.name(name)
        beginArray()
        for value in values { value.write(to: &self) }
        endArray()
    }

    /// Writes a member with text.
    mutating func text(_ name: String, _ text: String) {
        self.name(name)
        string(text)
    }

    /// Writes a member that is `true`; writes nothing for `false`.
    mutating func flag(_ name: String, _ isTrue: Bool) {
        if !isTrue { return }
        self.name(name)
        bool(true)
    }

    /// Writes an object.
    mutating func object(_ write: (inout JSONWriter) -> Void) {
        beginObject()
        write(&self)
        endObject()
    }
}
