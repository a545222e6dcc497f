import HTTPTypes

extension HTTPStoredResponse {
    /// Returns the response to a request that matches this stored response. Returns `nil` if the stored response lacks
    /// bytes that the request selects.
    ///
    /// The caller's own preconditions are evaluated first, then its range (RFC 9110 §13.2.2).
    ///
    /// - Parameter age: The age of the stored response; `nil` if the origin has just validated it.
    func response(to request: HTTPRequest, age: Duration?) -> Response? {
        var head = head
        // The field contains whole seconds, rounded down.
        if let age { head.headerFields[.age] = "\(age.components.seconds)" }
        if HTTPValidation.isNotModified(request.headerFields, self) {
            return Self.response(HTTPResponse(status: .notModified, headerFields: head.notModifiedFields), [], .fine)
        }
        if request.method == .head { return Self.response(head, [], verdict) }
        let range = request.headerFields[.range].flatMap { ByteRange($0) }
        switch content {
        case .whole(let rawData):
            if let range, head.status == .ok, HTTPValidation.mayTakeRange(request.headerFields, of: self) {
                guard servesRanges, let bytes = range.bytes(of: rawData.bytes.count) else { return nil }
                let part = ContentRange(bytes, of: rawData.bytes.count)
                return Self.partial(head, Array(rawData.bytes[bytes]), part)
            }
            var response = Response(head: head, body: .whole(rawData.with(response: head)))
            response.verdict = verdict
            return response
        case .partial(let content):
            guard let range, HTTPValidation.mayTakeRange(request.headerFields, of: self),
                let part = content.content(of: range)
            else { return nil }
            return Self.partial(head, part.bytes, part.range)
        }
    }

    /// Whether byte ranges can be taken from the stored bytes. This is not possible if a content coding was removed,
    /// because ranges count the coded bytes.
    var servesRanges: Bool { isVerbatim && !head.headerFields.contains(.contentEncoding) }

    private static func partial(_ head: HTTPResponse, _ bytes: [UInt8], _ range: ContentRange) -> Response {
        var head = head
        head.status = .partialContent
        head.headerFields[.contentRange] = range.text
        head.headerFields[.contentLength] = "\(bytes.count)"
        return response(head, bytes, .fine)
    }

    private static func response(_ head: HTTPResponse, _ bytes: [UInt8], _ verdict: Verdict) -> Response {
        var response = Response(head: head, body: .whole(RawData(bytes, response: head)))
        response.verdict = verdict
        return response
    }
}

extension HTTPResponse {
    /// The fields of a 304 response (RFC 9110 §15.4.5), with the age of the stored response.
    fileprivate var notModifiedFields: HTTPFields {
        let names: [HTTPField.Name] = [
            .age, .cacheControl, .contentLocation, .date, .eTag, .expires, .lastModified, .vary,
        ]
        return HTTPFields(headerFields.filter { names.contains($0.name) })
    }
}
