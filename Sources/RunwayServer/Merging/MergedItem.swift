public import HTTPTypes

/// One request of an envelope, in the form in which the server runs it.
public struct MergedItem: Sendable {
    /// The name that the client chose for it, unique in its envelope.
    public let id: String
    /// The position of the request in the envelope, counted from 1.
    public let position: Int
    /// Method, path and header fields; scheme and authority are the envelope's.
    public let head: HTTPRequest

    let body: [UInt8]
}

/// The response to one request of an envelope.
struct MergedResponse: Sendable {
    var status: HTTPResponse.Status
    var headers: HTTPFields = [:]
    var body: [UInt8] = []

    init(status: HTTPResponse.Status, headers: HTTPFields = [:], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// A response that reports why the request was refused.
    init(refusal status: HTTPResponse.Status, _ message: String) {
        self.init(
            status: status, headers: [.contentType: "application/json; charset=utf-8"],
            body: EnvelopeResponse.errorBody(message))
    }
}
