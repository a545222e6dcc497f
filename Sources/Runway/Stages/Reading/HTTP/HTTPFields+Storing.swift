import HTTPTypes

extension HTTPFields {
    /// Returns the fields of a response that are stored (RFC 9111 §3.1). Fields of one connection, fields of a proxy,
    /// and fields that the response's `no-cache` directive names are omitted.
    func storable(without noCacheFields: [String]) -> HTTPFields {
        let excepted = Set(noCacheFields)
        return HTTPFields(endToEnd.filter { !excepted.contains($0.name.canonicalName) })
    }

    /// Updates the fields by those of a newer response with the same content (RFC 9111 §3.2).
    ///
    /// Fields that describe the stored bytes and not their meaning stay: length, range and coding. An `Age` that the
    /// newer response does not have is removed, since it was the age of the older.
    mutating func update(from newer: HTTPFields) {
        let newer = newer.storable(without: [])
        var names: [HTTPField.Name] = []
        for field in newer where !field.name.describesStoredBytes && !names.contains(field.name) {
            names.append(field.name)
        }
        for name in names { self[fields: name] = newer[fields: name] }
        if !names.contains(.age) { self[.age] = nil }
    }
}

extension HTTPField.Name {
    /// Whether the field was applied when the body was read, so that a newer value would not fit it.
    fileprivate var describesStoredBytes: Bool {
        [.contentLength, .contentRange, .contentEncoding].contains(self)
    }

    /// The preconditions and the range that a cache adds to a request.
    static var cacheConditions: [HTTPField.Name] { [.ifNoneMatch, .ifModifiedSince] }
}
