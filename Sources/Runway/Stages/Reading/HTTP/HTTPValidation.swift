import HTTPTypes

/// The preconditions that a cache sends, and the preconditions that it evaluates (RFC 9111 §4.3).
enum HTTPValidation {
    /// Returns whether a request has preconditions or a range that only the origin can evaluate.
    static func isForOriginAlone(_ fields: HTTPFields) -> Bool {
        if fields.contains(.ifMatch) || fields.contains(.ifUnmodifiedSince) { return true }
        guard let range = fields[.range] else { return false }
        return fields[values: .range].count > 1 || ByteRange(range) == nil
    }

    /// Returns the fields of a request with the validators of stored responses (RFC 9111 §4.3.1), or `nil` if no stored
    /// response has a validator.
    ///
    /// - The caller's own entity tags are sent, too.
    /// - `If-Modified-Since` is added only if there is a single stored response and the request has no `Range`.
    /// - The caller's own `If-Modified-Since` is removed if entity tags are sent. It is evaluated later against the
    ///   stored response.
    /// - `If-None-Match: *` is not changed. The response to such a request says nothing about the stored responses.
    static func conditional(_ fields: HTTPFields, _ candidates: [HTTPStoredResponse]) -> HTTPFields? {
        var fields = fields
        let own = EntityTagList(fields[values: .ifNoneMatch])
        if own == .any { return nil }
        let tags = candidates.compactMap(\.entityTag)
        if !tags.isEmpty {
            var texts: [String] = []
            if case .tags(let ownTags) = own { texts = ownTags.map(\.text) }
            for tag in tags where !texts.contains(tag.text) { texts.append(tag.text) }
            fields[.ifNoneMatch] = texts.joined(separator: ", ")
            // A server without entity tags would evaluate the caller's date, and its 304 would refer to the caller's
            // representation (RFC 9110 §13.1.3).
            fields[.ifModifiedSince] = nil
        }
        let modified = candidates.count == 1 && !fields.contains(.range) ? candidates[0].lastModified : nil
        if let modified { fields[.ifModifiedSince] = modified }
        return tags.isEmpty && modified == nil ? nil : fields
    }

    /// Returns whether a 304 without an entity tag can only refer to a candidate (RFC 9111 §4.3.4). This is the case if
    /// every tag that the caller sent belongs to a candidate.
    ///
    /// Otherwise the 304 may refer to a representation that only the caller has (RFC 9111 §4.3.3).
    static func isUnambiguous(_ request: HTTPFields, _ candidates: [HTTPStoredResponse]) -> Bool {
        switch EntityTagList(request[values: .ifNoneMatch]) {
        case nil: true
        case .any: false
        case .tags(let tags):
            tags.allSatisfy { tag in candidates.contains { $0.entityTag?.matchesWeakly(tag) ?? false } }
        }
    }

    /// Returns whether the caller already has the stored response, so that its preconditions result in a 304 (RFC 9111
    /// §4.3.2).
    static func isNotModified(_ request: HTTPFields, _ stored: HTTPStoredResponse) -> Bool {
        guard [200, 206].contains(stored.head.status.code) else { return false }
        if let list = EntityTagList(request[values: .ifNoneMatch]) { return list.matches(stored.entityTag) }
        let now = stored.times.receivedDate
        guard let since = request[.ifModifiedSince].flatMap({ HTTPDate($0, now: now) }) else { return false }
        // If the modification date is missing, the response counts as modified at its `Date`.
        let modified = stored.lastModified.flatMap { HTTPDate($0, now: now) } ?? stored.date
        return modified <= since
    }

    /// Returns whether the request's `If-Range` allows taking a range from a stored response (RFC 9110 §13.1.5).
    static func mayTakeRange(_ request: HTTPFields, of stored: HTTPStoredResponse) -> Bool {
        guard let condition = request[.ifRange] else { return true }
        let now = stored.times.receivedDate
        if let since = HTTPDate(condition, now: now) {
            // A date is a strong validator only if it is at least a second older than the response (RFC 9110 §8.8.2.2).
            guard let modified = stored.lastModified.flatMap({ HTTPDate($0, now: now) }) else { return false }
            return modified == since && stored.date.since(modified) >= .seconds(1)
        }
        guard let tag = EntityTag(condition), let own = stored.entityTag else { return false }
        return tag.matchesStrongly(own)
    }
}
