public import HTTPTypes

/// One response of a ``ScriptedOrigin``: its content and its faults.
///
/// Start with one of the plain responses. Change it with the methods, which can be chained:
///
/// ```swift
/// let responses: [ScriptedResponse] = [
///     .json(#"{"list":[]}"#),
///     .text("moved", status: .gone),
///     .json("{}").held(by: gate),  // comes when the test says so
///
///     .bytes(page).declaring(length: 9_000_000),  // a wrong content length
///     .chunks(["one", "two"]).pausing(.betweenChunks, .delay(.seconds(5), on: clock)),
///     .json("{}").cut(after: .bodyBytes(1), by: .reset),  // torn in the middle
/// ]
/// ```
///
/// Only specified bytes are sent: no `Date`, no `Server`. ``Ending-swift.enum`` determines the connection's state after
/// the response.
public struct ScriptedResponse: Sendable {
    /// The status, which is sent with its standard reason phrase. The default is 200.
    public var status: HTTPResponse.Status
    /// The header fields, sent in this order and letter case, before fields that the framing adds.
    public var headerFields: HTTPFields
    /// Header lines that ``headerFields`` can't represent, such as invalid names and values. They are sent unchecked
    /// after the fields, each followed by CRLF.
    public var rawHeaderLines: [String] = []
    /// The body, in the pieces in which it is written.
    public var chunks: [[UInt8]]
    /// How the end of the body is marked. The default is by its length.
    public var framing = Framing.length
    /// The state of the connection after the response.
    public var ending = Ending.automatic

    var informational: [(status: HTTPResponse.Status, fields: HTTPFields)] = []
    var pauses: [(point: PausePoint, pause: ScriptedPause)] = []
    var cut: (point: CutPoint, ending: Ending)?
    var drip: Drip?
    var copies = 1
    var hasHead = true

    /// The number of bytes per write, and the pause between writes.
    struct Drip: Sendable {
        let bytes: Int
        let pause: ScriptedPause
    }

    /// Creates a response. By default it has status 200 and no body.
    public init(status: HTTPResponse.Status = .ok, headerFields: HTTPFields = [:], chunks: [[UInt8]] = []) {
        self.status = status
        self.headerFields = headerFields
        self.chunks = chunks
    }

    /// How the end of the body is marked (RFC 9112 §6.3).
    ///
    /// If HTTP forbids a body (HEAD, 204, 304), none is sent, and the fields are the same as in the response to GET. A
    /// field that the response already has is not added.
    public enum Framing: Sendable, Hashable {
        /// A `Content-Length` with the actual length.
        case length
        /// A `Content-Length` with the associated number, right or wrong.
        case declaredLength(Int)
        /// `Transfer-Encoding: chunked`, with one chunk per non-empty piece of the body.
        case chunked
        /// Chunked, but the size line of the chunk with this index, counted from zero, is not a number.
        case brokenChunk(Int)
        /// Chunked, but without the empty last chunk that ends the body.
        case chunkedWithoutEnd
        /// The end of the connection marks the end of the body.
        case untilClose
    }

    /// The state of the connection after the response was written.
    public enum Ending: Sendable, Hashable {
        /// The connection stays open for the next request, or is closed if HTTP requires it.
        ///
        /// It is closed if the client or the response has `Connection: close`, if an HTTP/1.0 client did not ask to
        /// keep it open, or if the framing requires it (`untilClose`). It is also closed if a broken response can't end
        /// in another way: a declared length that is too large, a broken chunk, or a missing last chunk.
        case automatic
        /// The connection is closed without `Connection: close` in the response, with TLS after `close_notify`.
        case close
        /// The socket is closed without TLS's `close_notify`, as if an attacker truncated the response. Without TLS,
        /// this case equals `close`.
        case closeAbruptly
        /// The socket is reset (RST). The client may lose bytes that it has not read yet.
        case reset
        /// The origin closes its sending half (FIN, and `close_notify` with TLS). The connection stays open and unused
        /// until the client closes it.
        case halfClose
        /// The connection stays open without further bytes until the client closes it.
        case stayOpen
    }

    /// A position at which a response can pause.
    public enum PausePoint: Sendable, Hashable {
        /// Before the first byte, even of an interim response.
        case beforeAnything
        /// After interim responses, before the head.
        case beforeHead
        /// Before the piece of the body with this index, counted from zero.
        case beforeChunk(Int)
        /// Before each piece of the body except the first.
        case betweenChunks
        /// After the last piece of the body, before the bytes that mark its end.
        case beforeEnd
    }

    /// A position in a response after which nothing more is sent.
    public enum CutPoint: Sendable, Hashable {
        /// After this number of bytes of the head. Interim responses do not count.
        case headBytes(Int)
        /// After the head and this number of further bytes, including chunk sizes.
        case bodyBytes(Int)
    }
}

extension ScriptedResponse {
    /// Creates a response with a JSON text and `Content-Type: application/json`. The text is not validated.
    public static func json(_ text: String, status: HTTPResponse.Status = .ok) -> ScriptedResponse {
        .bytes(Array(text.utf8), contentType: "application/json", status: status)
    }

    /// Creates a response with a text and `Content-Type: text/plain; charset=utf-8`.
    public static func text(_ text: String, status: HTTPResponse.Status = .ok) -> ScriptedResponse {
        .bytes(Array(text.utf8), contentType: "text/plain; charset=utf-8", status: status)
    }

    /// Creates a response with bytes. The default content type is `application/octet-stream`.
    public static func bytes(
        _ bytes: [UInt8], contentType: String = "application/octet-stream", status: HTTPResponse.Status = .ok
    ) -> ScriptedResponse {
        ScriptedResponse(status: status, headerFields: [.contentType: contentType], chunks: [bytes])
    }

    /// Creates a chunked response. Each text, in UTF-8, is written separately, as one chunk.
    public static func chunks(_ texts: [String], status: HTTPResponse.Status = .ok) -> ScriptedResponse {
        var response = ScriptedResponse(status: status, chunks: texts.map { Array($0.utf8) })
        response.framing = .chunked
        return response
    }

    /// Creates a response with a status and no body.
    public static func status(_ status: HTTPResponse.Status) -> ScriptedResponse {
        ScriptedResponse(status: status)
    }

    /// Creates a redirect to `location`, which is sent unchanged. The default status is 302.
    public static func redirect(to location: String, status: HTTPResponse.Status = .found) -> ScriptedResponse {
        ScriptedResponse(status: status, headerFields: [.location: location])
    }

    /// Creates a response that sends bytes unchanged instead of a head and a body, and then closes the connection.
    public static func raw(_ pieces: [UInt8]...) -> ScriptedResponse {
        var response = ScriptedResponse(chunks: pieces)
        response.hasHead = false
        response.framing = .untilClose
        response.ending = .close
        return response
    }

    /// Creates a response that sends a text in UTF-8 instead of a head and a body, and then closes the connection.
    public static func raw(_ text: String) -> ScriptedResponse { .raw(Array(text.utf8)) }

    /// Sends nothing: the connection stays open and silent.
    public static var never: ScriptedResponse { .raw().ending(.stayOpen) }

    /// Sends nothing: the connection is closed.
    public static var closing: ScriptedResponse { .raw() }

    /// Sends nothing: the connection is reset.
    public static var resetting: ScriptedResponse { .raw().ending(.reset) }
}
