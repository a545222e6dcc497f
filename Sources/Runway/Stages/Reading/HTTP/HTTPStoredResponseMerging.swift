import HTTPTypes

/// Combines the stored responses of a target with a new response (RFC 9111 §3.4, §4).
enum HTTPStoredResponseMerging {
    /// Returns the responses after the new response has replaced the responses that match the same request. Returns
    /// `nil` if one of the matching responses is newer than the new response.
    ///
    /// - Parameter maximumByteCount: The size up to which parts are combined. If the combined parts would be larger,
    ///   only the new part is stored.
    static func merged(
        _ new: HTTPStoredResponse, into responses: [HTTPStoredResponse], upTo maximumByteCount: Int
    ) -> [HTTPStoredResponse]? {
        var new = new
        func isReplaced(_ old: HTTPStoredResponse) -> Bool {
            old.partition == new.partition && old.method == new.method && old.vary.matches(new.requestFields)
        }
        for old in responses where isReplaced(old) {
            if old.isNewer(than: new) { return nil }
            switch (old.content, new.content) {
            case (.whole, .partial(let part)):
                // The stored body gets the fields of the new part. Without a common strong validator, the part may
                // belong to another representation.
                if let tag = new.strongTag, let own = old.strongTag, !tag.matchesStrongly(own) { continue }
                guard new.strongTag != nil, old.strongTag != nil, old.isVerbatim, !part.hasOtherLength(than: old) else {
                    return nil
                }
                new = old.updated(
                    by: new.head.headerFields, requestFields: new.requestFields, times: new.times,
                    sequenceNumber: new.sequenceNumber)
            case (.partial(var parts), .partial(let part)):
                guard let tag = new.strongTag, let own = old.strongTag, tag.matchesStrongly(own), parts.add(part),
                    parts.byteCount <= maximumByteCount
                else { continue }
                new = old.updated(
                    by: new.head.headerFields, requestFields: new.requestFields, times: new.times,
                    sequenceNumber: new.sequenceNumber)
                // A body that has become complete is indexed under the cache's lock. This takes milliseconds, and
                // happens once for each body.
                new.content = HTTPStoredResponse.Content(parts, response: new.head)
            case (_, .whole): continue
            }
        }
        return responses.filter { !isReplaced($0) } + [new]
    }
}

extension PartialContent {
    fileprivate func hasOtherLength(than stored: HTTPStoredResponse) -> Bool {
        completeLength.map { $0 != stored.content.byteCount } ?? false
    }
}
