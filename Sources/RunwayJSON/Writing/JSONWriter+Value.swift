extension JSONWriter {
    /// Writes a value of a document: numbers with their digits as they are, strings with this writer's escapes.
    ///
    /// Two documents that differ only in white space, in escapes or, with ``sortsKeys``, in the order of members give
    /// the same bytes. A missing value is written as `null`.
    public mutating func value(_ value: JSONValue) {
        var ends: [(index: Int, isObject: Bool)] = []
        let storage = value.storage
        var index = value.index
        let end = index + value.entry.stride
        while index < end {
            if let container = ends.last {
                if index == container.index {
                    if container.isObject { endObject() } else { endArray() }
                    ends.removeLast()
                    index += IndexEntry.wordCount
                    continue
                }
                if container.isObject {
                    index += 1
                    name(storage.nameText(ofValueAt: index))
                }
            }
            let child = JSONValue(storage: storage, index: index)
            switch child.kind {
            case .missing, .null: null()
            case .boolean: bool(child.bool == true)
            case .number: literal(storage.numberText(at: index))
            case .string: string(child.string ?? "")
            case .object: beginObject()
            case .array: beginArray()
            }
            let entry = child.entry
            if entry.isContainer { ends.append((index: index + entry.extent, isObject: entry.tag == .object)) }
            index += IndexEntry.wordCount
        }
    }
}

extension JSONValue {
    /// The value written anew without white space, the same bytes for the same content; see ``JSONWriter``.
    ///
    /// - Parameter sortsKeys: Whether members are sorted by name. Default true.
    public func canonicalBytes(sortsKeys: Bool = true) -> [UInt8] {
        var writer = JSONWriter(sortsKeys: sortsKeys)
        writer.value(self)
        return writer.bytes
    }
}
