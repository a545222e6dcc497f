import HTTPTypes

extension HTTPFields {
    /// Returns the response fields that a cache stores (RFC 9111 §3.1). Fields for one connection or for a proxy are
    /// omitted, and so are fields that the `no-cache` directive names.
    func storable(without noCacheFields: [String]) -> HTTPFields {
        let excepted = Set(noCacheFields)
        return HTTPFields(endToEnd.filter { !excepted.contains($0.name.canonicalName) })
    }

    /// Updates the fields with the fields of a newer response that has the same content (RFC 9111 §3.2).
    ///
    /// Length, range and coding do not change, because they describe the stored bytes. If the newer response has no
    /// `Age`, the `Age` of the older response is removed.
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
    /// Whether the field describes the stored bytes. A newer value would not match them.
    fileprivate var describesStoredBytes: Bool {
        [.contentLength, .contentRange, .contentEncoding].contains(self)
    }

    /// The preconditions that a cache adds to a request.
    static var cacheConditions: [HTTPField.Name] { [.ifNoneMatch, .ifModifiedSince] }
}
