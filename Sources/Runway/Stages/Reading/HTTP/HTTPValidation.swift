import HTTPTypes

/// The preconditions that a cache sends, and those that it evaluates (RFC 9111 §4.3).
enum HTTPValidation {
    /// Returns whether a request has preconditions or a range that only the origin can evaluate.
    static func isForOriginAlone(_ fields: HTTPFields) -> Bool {
        if fields.contains(.ifMatch) || fields.contains(.ifUnmodifiedSince) { return true }
        guard let range = fields[.range] else { return false }
        return fields[values: .range].count > 1 || ByteRange(range) == nil
    }

    /// Returns the fields of a request with the validators of stored responses (RFC 9111 §4.3.1); `nil` if none has
    /// one.
    ///
    /// The caller's own entity tags are sent along. `If-Modified-Since` is used for a single stored response only, and
    /// not with a range; the caller's own is removed, and evaluated against the stored response later.
    /// `If-None-Match: *` is not changed: its response says nothing about the stored ones.
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
            // A server that knows no tags would evaluate the caller's date, and refer to the caller's representation (RFC 9110
            // §13.1.3).
            fields[.ifModifiedSince] = nil
        }
        let modified = candidates.count == 1 && !fields.contains(.range) ? candidates[0].lastModified : nil
        if let modified { fields[.ifModifiedSince] = modified }
        return tags.isEmpty && modified == nil ? nil : fields
    }

    /// Returns whether a 304 without an entity tag can only refer to a candidate (RFC 9111 §4.3.4): every tag that the
    /// caller sent is the tag of a candidate.
    ///
    /// Otherwise it may refer to the caller's own representation, which no candidate equals (RFC 9111 §4.3.3).
    static func isUnambiguous(_ request: HTTPFields, _ candidates: [HTTPStoredResponse]) -> Bool {
        switch EntityTagList(request[values: .ifNoneMatch]) {
        case nil: true
        case .any: false
        case .tags(let tags):
            tags.allSatisfy { tag in candidates.contains { $0.entityTag?.matchesWeakly(tag) ?? false } }
        }
    }

    /// Returns whether the caller has the stored response, so that 304 is the response to its preconditions (RFC 9111
    /// §4.3.2).
    static func isNotModified(_ request: HTTPFields, _ stored: HTTPStoredResponse) -> Bool {
        guard [200, 206].contains(stored.head.status.code) else { return false }
        if let list = EntityTagList(request[values: .ifNoneMatch]) { return list.matches(stored.entityTag) }
        let now = stored.times.receivedDate
        guard let since = request[.ifModifiedSince].flatMap({ HTTPDate($0, now: now) }) else { return false }
        // Without a modification date, the response counts as modified at its date.
        let modified = stored.lastModified.flatMap { HTTPDate($0, now: now) } ?? stored.date
        return modified <= since
    }

    /// Returns whether a range may be taken from a stored response, by the request's `If-Range` (RFC 9110 §13.1.5).
    static func mayTakeRange(_ request: HTTPFields, of stored: HTTPStoredResponse) -> Bool {
        guard let condition = request[.ifRange] else { return true }
        let now = stored.times.receivedDate
        if let since = HTTPDate(condition, now: now) {
            // A date is a strong validator only if it is older than the response by a second or more (RFC 9110 §8.8.2.2).
            guard let modified = stored.lastModified.flatMap({ HTTPDate($0, now: now) }) else { return false }
            return modified == since && stored.date.since(modified) >= .seconds(1)
        }
        guard let tag = EntityTag(condition), let own = stored.entityTag else { return false }
        return tag.matchesStrongly(own)
    }
}
