public import HTTPTypes

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
