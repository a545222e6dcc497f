public import HTTPTypes
import RunwayFormats
import RunwayJSON

/// One request of an envelope, as the server runs it.
public struct MergedItem: Sendable {
    /// The id that the client chose, unique in its envelope.
    public let id: String
    /// The position of the request in the envelope, counted from 1.
    public let position: Int
    /// Method, path and header fields of the request; scheme and authority of the envelope.
    public let head: HTTPRequest

    let body: [UInt8]
}

struct MergedResponse: Sendable {
    var status: HTTPResponse.Status
    var headers: HTTPFields = [:]
    var body: [UInt8] = []

    init(status: HTTPResponse.Status, headers: HTTPFields = [:], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// Creates a response that says why the request was refused.
    init(refusal status: HTTPResponse.Status, _ message: String) {
        self.init(
            status: status, headers: [.contentType: "application/json; charset=utf-8"],
            body: EnvelopeResponse.errorBody(message))
    }
}

/// Encodes the responses as `{"responses":[{"id","status","headers","body"}]}`, in the order of the requests.
enum EnvelopeResponse {
    static func body(of responses: [(id: String, response: MergedResponse)]) -> [UInt8] {
        EnvelopeItem.envelope("responses", of: responses) { writer, item in
            writer.member("id", item.id)
            writer.member("status", item.response.status.code)
            let fields = item.response.headers.filter { !$0.name.isHopByHop && $0.name != .contentLength }
            writer.item(fields, item.response.body)
        }
    }

    /// Returns `{"error":{"message":…}}`, the format of Hummingbird's own errors.
    static func errorBody(_ message: String) -> [UInt8] {
        JSONWriter.object { writer in
            writer.name("error")
            writer.object { $0.member("message", message) }
        }
    }
}
