import HTTPTypes
import NIOHTTP1
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
            case _ where error.underlying is ClientSilence: .requestTimeout
            case .timedOut: .gatewayTimeout
            // RFC 9111 §5.2.1.7.
            case .notCached: .gatewayTimeout
            case .overloaded: .serviceUnavailable
            // The body of the request broke off.
            case .invalidParameters: .badRequest
            default: .badGateway
            }
        kind = "\(error.kind)"
        message = error.description
    }

    /// What is wrong with bytes that are no request.
    ///
    /// - Parameter unknownMethod: The method, where they would be a request but for it.
    init(_ error: HTTPParserError, unknownMethod: String?) {
        switch error {
        case .headerOverflow:
            self.init(
                .requestHeaderFieldsTooLarge,
                """
                The head of the request is too large: a field may have \(ProxyChannel.maximumFieldByteCount) bytes, all \
                together \(ProxyChannel.maximumHeadByteCount), and there may be \(ProxyChannel.maximumFieldCount).
                """)
        case .invalidVersion:
            self.init(
                .init(code: 505, reasonPhrase: "HTTP Version Not Supported"),
                "This proxy speaks HTTP/1.1 with clients.")
        case .invalidMethod:
            guard let unknownMethod else { fallthrough }
            self.init(.notImplemented, "The method \"\(unknownMethod)\" is none that this proxy can read.")
        default:
            self.init(.badRequest, "This is no request of HTTP/1.1: \(error).")
        }
    }

    /// The fields that go with the error.
    var headerFields: HTTPFields { [.contentType: "application/json", .cacheControl: "no-store"] }

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
