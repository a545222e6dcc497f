import HTTPTypes
import RunwayFormats
import RunwayJSON

/// Parses the response to merged requests: `{"responses":[{"id","status","headers","body"}]}`.
///
/// The order of the items has no meaning. The call of a request fails as ``NetworkError/Kind/invalidResponse`` if the
/// request has no item or two items, or if its item is malformed or too large. Other requests are not affected. Items
/// that match no request are counted and ignored.
struct MergeResponse {
    /// The response to each request, in the order of the requests.
    let results: [Result<Response, NetworkError>]
    let unknownCount: Int

    private static let limits = JSONLimits(
        maximumByteCount: JSONLimits.largestByteCount, maximumDepth: 32,
        maximumValueCount: EnvelopeItem.maximumValueCount)

    /// Parses the response to merged requests.
    ///
    /// - Parameters:
    ///   - bytes: The body of the response.
    ///   - head: The status and header fields of the response. Its `Date` applies to every item without one.
    ///   - bounds: The maximum response size that each request's caller accepts, in bytes.
    /// - Throws: ``NetworkError/Kind/invalidResponse`` if the body is not such a JSON object.
    init(_ bytes: [UInt8], head: HTTPResponse, within bounds: [Int]) throws(NetworkError) {
        let root: JSONValue
        do {
            root = try JSONDocument(bytes, limits: Self.limits).root
        } catch {
            throw Self.invalid("The response to the merged requests can't be read: \(error)", head, underlying: error)
        }
        guard root["responses"].kind == .array else {
            throw Self.invalid("The response to the merged requests has no array \"responses\".", head)
        }
        var found: [[JSONValue]] = bounds.map { _ in [] }
        var unknownCount = 0
        for element in root["responses"].elements {
            guard let id = element["id"].string, let number = Int(id), String(number) == id,
                found.indices.contains(number - 1)
            else {
                unknownCount += 1
                continue
            }
            // Two items with the same id suffice to reject the response.
            if found[number - 1].count < 2 { found[number - 1].append(element) }
        }
        self.unknownCount = unknownCount
        results = zip(found, bounds).map { elements, bound in
            switch elements.count {
            case 0: .failure(Self.invalid("The response to the merged requests has no item for this one.", head))
            case 1:
                Result { () throws(NetworkError) in
                    try Response(item: elements[0], upTo: bound, envelope: head)
                }
            default:
                .failure(Self.invalid("The response to the merged requests has more than one item for this one.", head))
            }
        }
    }

    fileprivate static func invalid(
        _ detail: String, _ head: HTTPResponse, underlying: (any Error)? = nil
    ) -> NetworkError {
        NetworkError(.invalidResponse, in: .merging, detail, status: head.status, underlying: underlying)
    }
}

extension Response {
    /// Creates the response to one request from its item.
    ///
    /// - Throws: ``NetworkError/Kind/invalidResponse``.
    fileprivate init(
        item: JSONValue, upTo maximumByteCount: Int, envelope: HTTPResponse
    ) throws(NetworkError) {
        guard let code = item["status"].int, (200...599).contains(code) else {
            throw MergeResponse.invalid("The merged response has no status for this request.", envelope)
        }
        guard var fields = EnvelopeItem.headers(item)?.endToEnd else {
            throw MergeResponse.invalid("The merged response has an invalid header field for this request.", envelope)
        }
        guard fields.contentCodings.isEmpty else {
            throw MergeResponse.invalid("The merged response has coded content for this request.", envelope)
        }
        // The age of a response is computed from its date.
        if fields[.date] == nil, let date = envelope.headerFields[.date] { fields[.date] = date }
        guard let bytes = EnvelopeItem.body(item) else {
            throw MergeResponse.invalid("The merged response to this request is malformed.", envelope)
        }
        guard bytes.count <= maximumByteCount else {
            throw MergeResponse.invalid(
                "The response is larger than the \(maximumByteCount) bytes that its caller accepts.", envelope)
        }
        let head = HTTPResponse(status: HTTPResponse.Status(code: code), headerFields: fields)
        self.init(head: head, body: .whole(RawData(bytes, response: head)))
    }
}
