extension JSONWriter {
    /// Writes a value of a document. Numbers retain their digits; strings get this writer's escapes.
    ///
    /// Documents that differ only in white space or escapes produce the same bytes. With ``sortsKeys``, this also holds
    /// if the order of their members differs. A missing value is written as `null`.
    public mutating func value(_ value: JSONValue) {
        var open: [OpenValue] = []
        begin(value, &open)
        while let last = open.indices.last {
            if let child = open[last].next() {
                if open[last].isObject { name(child.storage.nameText(ofValueAt: child.index)) }
                begin(child, &open)
            } else {
                if open[last].isObject { endObject() } else { endArray() }
                open.removeLast()
            }
        }
    }

    /// Writes a scalar, or opens a container.
    private mutating func begin(_ value: JSONValue, _ open: inout [OpenValue]) {
        switch value.kind {
        case .missing, .null: null()
        case .boolean: bool(value.bool == true)
        case .number: literal(value.storage.numberText(at: value.index))
        case .string: string(value.string ?? "")
        case .object:
            beginObject()
            open.append(sortsKeys ? .sorted(members: Self.sorted(value)) : .members(value.members.makeIterator()))
        case .array:
            beginArray()
            open.append(.elements(value.elements.makeIterator()))
        }
    }

    /// Returns the members' values, sorted by the bytes of their names in reverse order. Among equal names, the later
    /// member comes first.
    private static func sorted(_ object: JSONValue) -> [JSONValue] {
        let members = object.members.map { (name: Array($0.key.utf8), value: $0.value) }
        return members.sorted { one, other in
            if one.name == other.name { return one.value.index > other.value.index }
            return other.name.lexicographicallyPrecedes(one.name)
        }.map(\.value)
    }

    /// The children of an open container that are not written yet.
    private enum OpenValue {
        case elements(JSONElements.Iterator)
        case members(JSONMembers.Iterator)
        case sorted(members: [JSONValue])

        var isObject: Bool { if case .elements = self { false } else { true } }

        mutating func next() -> JSONValue? {
            switch self {
            case .elements(var iterator):
                defer { self = .elements(iterator) }
                return iterator.next()
            case .members(var iterator):
                defer { self = .members(iterator) }
                return iterator.next()?.value
            case .sorted(var members):
                // Taking the members out of `self` avoids a copy when one is removed.
                self = .sorted(members: [])
                defer { self = .sorted(members: members) }
                return members.popLast()
            }
        }
    }
}

extension JSONValue {
    /// Returns the value in canonical form: no white space, and equal bytes for equal content. See ``JSONWriter``.
    ///
    /// - Parameter sortsKeys: Whether members are sorted by name. The default is `true`.
    public func canonicalBytes(sortsKeys: Bool = true) -> [UInt8] {
        var writer = JSONWriter(sortsKeys: sortsKeys)
        writer.value(self)
        return writer.bytes
    }
}
