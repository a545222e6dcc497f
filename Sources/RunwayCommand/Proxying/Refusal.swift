import HTTPTypes
import Runway
import RunwayJSON

/// An answer of the proxy's own, to a request that has none.
struct Refusal: Error, Sendable {
    let status: HTTPResponse.Status
    /// The kind of the error, in one word.
    let kind: String
    /// One sentence.
    let message: String

    init(_ status: HTTPResponse.Status, _ message: String) {
        self.status = status
        kind = "refused"
        self.message = message
    }

    init(_ error: NetworkError) {
        status =
            switch error.kind {
            case .timedOut: .gatewayTimeout
            // What may only come from what is kept, and is not kept (RFC 9111 §5.2.1.7).
            case .noNetwork where error.step == .stage(.caching): .gatewayTimeout
            case .overloaded: .serviceUnavailable
            default: .badGateway
            }
        kind = "\(error.kind)"
        message = error.description
    }

    /// The error as a JSON object.
    var json: [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.name("error")
        writer.beginObject()
        writer.name("kind")
        writer.string(kind)
        writer.name("message")
        writer.string(message)
        writer.endObject()
        writer.endObject()
        return writer.bytes + [UInt8(ascii: "\n")]
    }
}
