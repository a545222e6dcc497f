import HTTPTypes
import RunwayFormats

/// Several requests merged into one: `{"requests":[{"id","method","path","headers","body"}]}` with the type
/// `application/json`.
///
/// An item's `id` is its position, counted from 1. A body that is not UTF-8 is sent as Base64 in `bodyBase64` instead.
struct MergeEnvelope {
    let request: Request

    /// Creates the envelope of requests with the same route.
    ///
    /// - Parameters:
    ///   - items: The requests; at least one.
    ///   - commonHeaders: The header fields of every call of the service. A gateway in front of the server may need
    ///     them.
    init(of items: [MergeItem], commonHeaders: [String: String]) {
        let first = items[0]
        var fields = HTTPFields()
        for (name, value) in commonHeaders.sorted(by: { $0.key < $1.key }) {
            guard let name = HTTPField.Name(name), HTTPField.isValidValue(value), !name.isHopByHop else { continue }
            fields[name] = value
        }
        fields[.contentType] = "application/json"
        fields[.accept] = "application/json"
        // If all requests have the same token, the envelope also carries it, because the server may require a token at
        // every route.
        let tokens = Set(items.map { $0.request.head.headerFields[.authorization] })
        if tokens.count == 1, let token = tokens.first { fields[.authorization] = token }
        let head = HTTPRequest(
            method: .post, scheme: first.request.head.scheme, authority: first.request.head.authority,
            path: first.lane.route.path, headerFields: fields)
        request = Request(
            head: head, body: .bytes(Self.body(of: items.map(\.request))),
            delivery: .whole(maximumByteCount: Self.maximumResponseByteCount(of: items)))
    }

    /// Returns the maximum size of the merged response. It is the sum of the sizes that the calls accept, within the
    /// policy's limit, doubled for the overhead of JSON and Base64. Space for header fields is added.
    private static func maximumResponseByteCount(of items: [MergeItem]) -> Int {
        let bound = min(max(0, items[0].policy.maximumResponseByteCount), 32 << 20)
        let sum = items.reduce(0) { min(bound, $0 + min(bound, max(0, $1.maximumResponseByteCount))) }
        return 2 * sum + items.count * (16 << 10)
    }

    static func body(of requests: [Request]) -> [UInt8] {
        EnvelopeItem.envelope("requests", of: zip(1..., requests)) { writer, numbered in
            let (number, request) = numbered
            writer.member("id", "\(number)")
            writer.member("method", request.head.method.rawValue)
            writer.member("path", request.head.path ?? "/")
            let bytes: [UInt8] = if case .bytes(let bytes) = request.body { bytes } else { [] }
            writer.item(request.head.headerFields.endToEnd.filter { !$0.name.isLeftOut }, bytes)
        }
    }
}

extension HTTPField.Name {
    /// Whether the field of a request is left out when the request is merged. Host and length belong to the merged
    /// request as a whole, and so do content codings.
    fileprivate var isLeftOut: Bool {
        switch canonicalName {
        case "host", "content-length", "accept-encoding", "expect": true
        default: false
        }
    }
}
