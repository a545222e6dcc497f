public import HTTPTypes

/// One response of a ``ScriptedOrigin``: its content, and how it misbehaves.
///
/// Start with one of the plain responses and change it with the methods, which can be chained:
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
    /// The status, which is sent with its reason phrase; default: 200.
    public var status: HTTPResponse.Status
    /// The header fields, sent in their order and case, before those that the framing adds.
    public var headerFields: HTTPFields
    /// Header lines that ``headerFields`` can't hold, such as illegal names and values. They are sent after the fields,
    /// unchecked, each followed by CRLF.
    public var rawHeaderLines: [String] = []
    /// The body in the pieces in which it is written.
    public var chunks: [[UInt8]]
    /// The way in which the end of the body is marked; default: by its length.
    public var framing = Framing.length
    /// The state of the connection after the response.
    public var ending = Ending.automatic

    var informational: [(status: HTTPResponse.Status, fields: HTTPFields)] = []
    var pauses: [(point: PausePoint, pause: ScriptedPause)] = []
    var cut: (point: CutPoint, ending: Ending)?
    var drip: Drip?
    var copies = 1
    var hasHead = true

    /// The number of bytes to write at a time, and the pause in between.
    struct Drip: Sendable {
        let bytes: Int
        let pause: ScriptedPause
    }

    /// Creates a response. The default is an empty 200.
    public init(status: HTTPResponse.Status = .ok, headerFields: HTTPFields = [:], chunks: [[UInt8]] = []) {
        self.status = status
        self.headerFields = headerFields
        self.chunks = chunks
    }

    /// The way in which the end of the body is marked (RFC 9112 §6.3).
    ///
    /// If the rules forbid a body (HEAD, 204, 304) none is sent, and the fields are those of the response to GET. A
    /// field that the response already has is not added again.
    public enum Framing: Sendable, Hashable {
        /// `Content-Length`, counted.
        case length
        /// `Content-Length` with any number, right or wrong.
        case declaredLength(Int)
        /// `Transfer-Encoding: chunked`, one chunk for each piece of the body that is not empty.
        case chunked
        /// Like `chunked`, but the size line of the chunk with this index, counted from zero, is not a number.
        case brokenChunk(Int)
        /// Like `chunked`, but the last chunk, the empty one that ends the body, is missing.
        case chunkedWithoutEnd
        /// No mark: the body ends with the connection.
        case untilClose
    }

    /// The state of the connection after the whole response was written.
    public enum Ending: Sendable, Hashable {
        /// The connection behaves as HTTP requires: it stays open for the next request.
        ///
        /// It is closed if the client or the response has `Connection: close`, if an HTTP/1.0 client did not ask to
        /// keep it alive, if the framing requires it (`untilClose`), or if the response is broken so that only a close
        /// ends it (a declared length that is too large, a broken chunk, no last chunk).
        case automatic
        /// The connection is closed without notice in the response; with TLS, its `close_notify` is sent first.
        case close
        /// The socket is closed without TLS's `close_notify`, as by an attacker who truncates; without TLS like
        /// `close`.
        case closeAbruptly
        /// The socket is reset (RST). The client may lose what it has not read yet.
        case reset
        /// The origin closes its sending half (FIN, with TLS `close_notify`), but leaves the connection open and unused
        /// until the client closes.
        case halfClose
        /// The connection stays open, and no byte is sent, until the client closes it.
        case stayOpen
    }

    /// A position in a response where it can pause.
    public enum PausePoint: Sendable, Hashable {
        /// Before the first byte, including that of an interim response.
        case beforeAnything
        /// After interim responses, before the head.
        case beforeHead
        /// Before the piece of the body with this index, counted from zero.
        case beforeChunk(Int)
        /// Before each piece of the body except the first.
        case betweenChunks
        /// After the last piece of the body, before the bytes that end the body.
        case beforeEnd
    }

    /// A position in a response after which no more of it is sent.
    public enum CutPoint: Sendable, Hashable {
        /// After this many bytes of the head, without interim responses.
        case headBytes(Int)
        /// After the head and this many bytes after it, including the sizes of chunks.
        case bodyBytes(Int)
    }
}

extension ScriptedResponse {
    /// Responds with a JSON text as UTF-8 and `Content-Type: application/json`; the text is not checked.
    public static func json(_ text: String, status: HTTPResponse.Status = .ok) -> ScriptedResponse {
        .bytes(Array(text.utf8), contentType: "application/json", status: status)
    }

    /// Responds with a text as UTF-8 and `Content-Type: text/plain; charset=utf-8`.
    public static func text(_ text: String, status: HTTPResponse.Status = .ok) -> ScriptedResponse {
        .bytes(Array(text.utf8), contentType: "text/plain; charset=utf-8", status: status)
    }

    /// Responds with bytes of any content type; default: `application/octet-stream`.
    public static func bytes(
        _ bytes: [UInt8], contentType: String = "application/octet-stream", status: HTTPResponse.Status = .ok
    ) -> ScriptedResponse {
        ScriptedResponse(status: status, headerFields: [.contentType: contentType], chunks: [bytes])
    }

    /// Responds with texts as UTF-8. Each is written separately, as a chunk of its own: the framing is `chunked`.
    public static func chunks(_ texts: [String], status: HTTPResponse.Status = .ok) -> ScriptedResponse {
        var response = ScriptedResponse(status: status, chunks: texts.map { Array($0.utf8) })
        response.framing = .chunked
        return response
    }

    /// Responds with a status and no body.
    public static func status(_ status: HTTPResponse.Status) -> ScriptedResponse {
        ScriptedResponse(status: status)
    }

    /// Redirects to `location`, which is sent unchanged. The default status is 302.
    public static func redirect(to location: String, status: HTTPResponse.Status = .found) -> ScriptedResponse {
        ScriptedResponse(status: status, headerFields: [.location: location])
    }

    /// Sends bytes verbatim instead of head and body, then closes the connection.
    public static func raw(_ pieces: [UInt8]...) -> ScriptedResponse {
        var response = ScriptedResponse(chunks: pieces)
        response.hasHead = false
        response.framing = .untilClose
        response.ending = .close
        return response
    }

    /// Sends a text verbatim, as UTF-8, instead of head and body, then closes the connection.
    public static func raw(_ text: String) -> ScriptedResponse { .raw(Array(text.utf8)) }

    /// Sends no response: the connection stays open and silent.
    public static var never: ScriptedResponse { .raw().ending(.stayOpen) }

    /// Sends no response: the connection is closed.
    public static var closing: ScriptedResponse { .raw() }

    /// Sends no response: the connection is reset.
    public static var resetting: ScriptedResponse { .raw().ending(.reset) }
}
