import Foundation
import HTTPTypes
import RunwayJSON

/// The answer to an envelope, taken apart: `{"responses":[{"id","status","headers","body"}]}`.
///
/// Order means nothing. A request of which the answer says nothing, or says two things, has no answer that could be trusted: it
/// fails as ``NetworkError/Kind/invalidResponse``, and so does one whose answer is not of this shape or too large; the others are not
/// touched by it. Answers to requests that were not in the envelope are counted and passed over.
struct MergeAnswer {
    /// The answer to every request, in the order of the envelope.
    let results: [Result<Response, NetworkError>]
    /// How many answers there were to nothing that was asked.
    let unknownCount: Int

    /// No envelope has more values than this, with hundreds of header fields to every answer.
    private static let limits = JSONLimits(
        maximumByteCount: JSONLimits.largestByteCount, maximumDepth: 32, maximumValueCount: 200_000)

    /// Takes an answer apart.
    ///
    /// - Parameters:
    ///   - bytes: The body of the answer.
    ///   - head: Its head; the date in it counts for every item that has none.
    ///   - bounds: The largest answer that each request's reader allows, in bytes.
    /// - Throws: ``NetworkError/Kind/invalidResponse`` for what is not an envelope.
    init(_ bytes: [UInt8], head: HTTPResponse, within bounds: [Int]) throws(NetworkError) {
        let root: JSONValue
        do {
            root = try JSONDocument(bytes, limits: Self.limits).root
        } catch {
            throw Self.invalid("The answer to the merged requests can't be read: \(error)", head, underlying: error)
        }
        guard root["responses"].kind == .array else {
            throw Self.invalid("The answer to the merged requests has no array \"responses\".", head)
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
            // Two of one id are as good as many.
            if found[number - 1].count < 2 { found[number - 1].append(element) }
        }
        self.unknownCount = unknownCount
        results = zip(found, bounds).map { elements, bound in
            switch elements.count {
            case 0: .failure(Self.invalid("The answer to the merged requests leaves this one out.", head))
            case 1:
                Result { () throws(NetworkError) in
                    try Response(item: elements[0], upTo: bound, envelope: head)
                }
            default: .failure(Self.invalid("The merged answer has more than one answer to this request.", head))
            }
        }
    }

    fileprivate static func invalid(
        _ detail: String, _ head: HTTPResponse, underlying: (any Error)? = nil
    ) -> NetworkError {
        NetworkError(.invalidResponse, in: .stage(.merging), detail, status: head.status, underlying: underlying)
    }
}

extension Response {
    /// Reads the answer to one request out of an envelope.
    ///
    /// - Throws: ``NetworkError/Kind/invalidResponse``.
    fileprivate init(
        item: JSONValue, upTo maximumByteCount: Int, envelope: HTTPResponse
    ) throws(NetworkError) {
        guard let code = item["status"].int, (200...599).contains(code) else {
            throw MergeAnswer.invalid("The merged answer has no status for this request.", envelope)
        }
        var fields = HTTPFields()
        for pair in item["headers"].elements {
            guard pair.count == 2, let name = pair[0].string.flatMap({ HTTPField.Name($0) }),
                let value = pair[1].string, HTTPField.isValidValue(value)
            else {
                throw MergeAnswer.invalid(
                    "The merged answer has a header field for this request that is none.", envelope)
            }
            fields.append(HTTPField(name: name, value: value))
        }
        fields = fields.endToEnd
        if let coding = fields[.contentEncoding], coding.lowercased() != "identity" {
            throw MergeAnswer.invalid("The merged answer has coded content for this request.", envelope)
        }
        // Whatever reads the age of an answer needs to know when it was made.
        if fields[.date] == nil, let date = envelope.headerFields[.date] { fields[.date] = date }
        let bytes = try Self.bytes(item, envelope)
        guard bytes.count <= maximumByteCount else {
            throw MergeAnswer.invalid(
                "The answer is larger than the \(maximumByteCount) bytes that its reader allows.", envelope)
        }
        let head = HTTPResponse(status: HTTPResponse.Status(code: code), headerFields: fields)
        self.init(head: head, body: .whole(RawData(bytes, response: head)))
    }

    private static func bytes(_ item: JSONValue, _ envelope: HTTPResponse) throws(NetworkError) -> [UInt8] {
        let (body, base64) = (item["body"], item["bodyBase64"])
        let isHeaderList = [.array, .missing].contains(item["headers"].kind)
        switch (body.kind, base64.kind) {
        case (.missing, .missing) where isHeaderList, (.null, .missing) where isHeaderList: return []
        case (.string, .missing) where isHeaderList: return body.string.map { Array($0.utf8) } ?? []
        case (.missing, .string) where isHeaderList:
            if let data = base64.string.flatMap({ Data(base64Encoded: $0) }) { return Array(data) }
        default: break
        }
        throw MergeAnswer.invalid("The merged answer to this request is not of the shape it should have.", envelope)
    }
}
