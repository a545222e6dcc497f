import HTTPTypes

/// Combines the stored responses of a target with a new one (RFC 9111 §3.4, §4).
enum HTTPStoredResponseMerging {
    /// Returns the responses with the new one in place of those that match the same request; `nil` if one of the latter
    /// is newer.
    ///
    /// - Parameter maximumByteCount: The limit up to which parts are combined; beyond it only the new part is stored.
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
                // The whole with the fields of its part. Without a shared strong validator, the part may be of another
                // representation.
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
                // A complete body is indexed here, under the lock of the cache: milliseconds, once for each body.
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
