import HTTPTypes

extension HTTPStoredResponse {
    /// Creates a stored response from a response of the pipeline. Returns `nil` if the response has no verdict, or if
    /// the response is partial and its range does not match its body.
    ///
    /// A partial response is stored as an incomplete whole response (RFC 9111 §3.3).
    init?(
        _ response: Response, bytes: [UInt8], _ rawData: RawData?, to request: HTTPRequest,
        in partition: CachePartition,
        times: ExchangeTimes, sequenceNumber: UInt64
    ) {
        guard let verdict = response.verdict else { return nil }
        var head = response.head
        let content: Content
        if head.status == .partialContent {
            let values = head.headerFields[values: .contentRange]
            guard request.method == .get, !response.isDecoded, !head.headerFields.contains(.contentEncoding),
                values.count == 1, let range = ContentRange(values[0]), let part = PartialContent(bytes, at: range)
            else { return nil }
            head.status = .ok
            head.headerFields[.contentRange] = nil
            head.headerFields[.contentLength] = nil
            content = Content(part, response: head)
        } else {
            content = Content(rawData ?? RawData(bytes, response: head))
        }
        self.init(
            head, content, to: request, in: partition, times: times, verdict: verdict,
            isVerbatim: !response.isDecoded, sequenceNumber: sequenceNumber)
    }

    /// Returns whether a response to HEAD confirms this response (RFC 9111 §4.3.5).
    func isConfirmed(byHead fields: HTTPFields) -> Bool {
        if let tag = fields[.eTag], tag != head.headerFields[.eTag] { return false }
        if let modified = fields[.lastModified], modified != lastModified { return false }
        guard let length = fields[.contentLength] else { return true }
        switch content {
        case .whole(let rawData): return length == head.headerFields[.contentLength] ?? "\(rawData.bytes.count)"
        case .partial(let part): return part.completeLength.map { length == "\($0)" } ?? false
        }
    }
}
