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
///     .bytes(page).declaring(length: 9_000_000),  // a wrong content length
///     .chunks(["one", "two"]).pausing(.betweenChunks, .delay(.seconds(5), on: clock)),
///     .json("{}").cut(after: .bodyBytes(1), by: .reset),  // torn in the middle
/// ]
/// ```
///
/// Nothing is sent that is not specified: no `Date`, no `Server`. ``Ending-swift.enum`` determines what happens to the
/// connection.
public struct ScriptedResponse: Sendable {
    /// The status, which is sent with its reason phrase; default: 200.
    public var status: HTTPResponse.Status
    /// The header fields, sent in their order and case, followed by those that the framing needs.
    public var headerFields: HTTPFields
    /// Lines for what ``headerFields`` can't hold, such as illegal names and values; sent after them, unchecked, each
    /// followed by CRLF.
    public var rawHeaderLines: [String] = []
    /// The body in the pieces in which it is written.
    public var chunks: [[UInt8]]
    /// How the end of the body is made known; default: by its length.
    public var framing = Framing.length
    /// What becomes of the connection after the response.
    public var ending = Ending.automatic

    var informational: [(status: HTTPResponse.Status, fields: HTTPFields)] = []
    var pauses: [(point: PausePoint, pause: ScriptedPause)] = []
    var cut: (point: CutPoint, ending: Ending)?
    var drip: Drip?
    var copies = 1
    var hasHead = true

    /// How many bytes are written at a time, and what passes between.
    struct Drip: Sendable {
        let bytes: Int
        let pause: ScriptedPause
    }

    /// Responds with these parts. The default is an empty 200.
    public init(status: HTTPResponse.Status = .ok, headerFields: HTTPFields = [:], chunks: [[UInt8]] = []) {
        self.status = status
        self.headerFields = headerFields
        self.chunks = chunks
    }

    /// How the end of the body is marked (RFC 9112 §6.3).
    ///
    /// If the rules forbid a body (HEAD, 204, 304) none is sent and the fields are those of the response to GET. A
    /// field that the response has already is not added again.
    public enum Framing: Sendable, Hashable {
        /// `Content-Length`, counted.
        case length
        /// `Content-Length` of any number, right or wrong.
        case declaredLength(Int)
        /// `Transfer-Encoding: chunked`, one chunk for each piece of the body that is not empty.
        case chunked
        /// As `chunked`, but the size line of the chunk with this index, counted from zero, is not a number.
        case brokenChunk(Int)
        /// As `chunked`, but the last chunk, the empty one that ends the body, is missing.
        case chunkedWithoutEnd
        /// No mark: the body ends with the connection.
        case untilClose
    }

    /// What becomes of the connection when all of the response was written.
    public enum Ending: Sendable, Hashable {
        /// As HTTP requires: the connection stays open for the next request.
        ///
        /// It is closed if the client or the response has `Connection: close`, if HTTP/1.0 did not ask to keep it
        /// alive, if the framing needs the close (`untilClose`) and if the response is broken so that only a close ends
        /// it (a declared length that is too large, a broken chunk, no last chunk).
        case automatic
        /// The connection is closed without a word in the response; with TLS, its `close_notify` is sent first.
        case close
        /// The socket is closed without TLS's `close_notify`, as by an attacker who truncates; without TLS as `close`.
        case closeAbruptly
        /// The socket is reset (RST). The client may lose what it has not read yet.
        case reset
        /// The origin closes its sending half (FIN, with TLS `close_notify`), but leaves the connection open and unused
        /// until the client closes.
        case halfClose
        /// The connection stays open, silent and unanswered until the client closes it.
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
        /// Before each piece of the body but the first.
        case betweenChunks
        /// After the last piece of the body, before what ends it.
        case beforeEnd
    }

    /// A position in a response after which nothing of it is sent.
    public enum CutPoint: Sendable, Hashable {
        /// After this many bytes of the head, without interim responses.
        case headBytes(Int)
        /// After the head and this many bytes after it, including the sizes of chunks.
        case bodyBytes(Int)
    }
}

extension ScriptedResponse {
    /// A JSON text as UTF-8 with `Content-Type: application/json`; the text is not checked.
    public static func json(_ text: String, status: HTTPResponse.Status = .ok) -> ScriptedResponse {
        .bytes(Array(text.utf8), contentType: "application/json", status: status)
    }

    /// A text as UTF-8 with `Content-Type: text/plain; charset=utf-8`.
    public static func text(_ text: String, status: HTTPResponse.Status = .ok) -> ScriptedResponse {
        .bytes(Array(text.utf8), contentType: "text/plain; charset=utf-8", status: status)
    }

    /// Bytes of any content type; default: `application/octet-stream`.
    public static func bytes(
        _ bytes: [UInt8],
        contentType: String = "application/octet-stream",
        status: HTTPResponse.Status = .ok
    ) -> ScriptedResponse {
        ScriptedResponse(status: status, headerFields: [.contentType: contentType], chunks: [bytes])
    }

    /// Texts as UTF-8, each written on its own and, by the framing that this sets, a chunk of its own.
    public static func chunks(_ texts: [String], status: HTTPResponse.Status = .ok) -> ScriptedResponse {
        var response = ScriptedResponse(status: status, chunks: texts.map { Array($0.utf8) })
        response.framing = .chunked
        return response
    }

    /// A status without a body.
    public static func status(_ status: HTTPResponse.Status) -> ScriptedResponse {
        ScriptedResponse(status: status)
    }

    /// A redirect to `location`, which is sent unchanged. The default is 302.
    public static func redirect(to location: String, status: HTTPResponse.Status = .found) -> ScriptedResponse {
        ScriptedResponse(status: status, headerFields: [.location: location])
    }

    /// Bytes that are sent verbatim in place of head and body, then the connection is closed.
    public static func raw(_ pieces: [UInt8]...) -> ScriptedResponse {
        var response = ScriptedResponse(chunks: pieces)
        response.hasHead = false
        response.framing = .untilClose
        response.ending = .close
        return response
    }

    /// A text that is sent verbatim, as UTF-8, in place of head and body, then the connection is closed.
    public static func raw(_ text: String) -> ScriptedResponse { .raw(Array(text.utf8)) }

    /// No response: the connection stays open and silent.
    public static var never: ScriptedResponse { .raw().ending(.stayOpen) }

    /// No response: the connection is closed.
    public static var closing: ScriptedResponse { .raw() }

    /// No response: the connection is reset.
    public static var resetting: ScriptedResponse { .raw().ending(.reset) }
}
