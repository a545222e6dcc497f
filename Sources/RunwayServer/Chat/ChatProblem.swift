public import HTTPTypes
public import Hummingbird
import RunwayFormats

/// The reason why a chat refuses a request, sent as a problem response (`application/problem+json`, RFC 9457).
///
/// The response has the members `type` (`urn:runway:chat:` followed by the reason), `title`, `status` and, if there are
/// details, `detail`.
///
/// | status | reason |
/// |---|---|
/// | 400 | `malformed`, `conversation`, `member`, `text` |
/// | 401 | `unauthenticated` |
/// | 403 | `forbidden` |
/// | 404 | `notFound` |
/// | 409 | `mismatch`, `full` |
/// | 413 | `tooLarge` |
/// | 503 | `store`, with `Retry-After` |
public struct ChatProblem: HTTPResponseError, CustomStringConvertible {
    /// The reason why a request is refused.
    public struct Reason: Sendable, Hashable, CustomStringConvertible {
        /// The reason in one word. The word never changes between releases.
        public let description: String
        let status: HTTPResponse.Status
        let title: String

        /// The body or a parameter is malformed.
        public static let malformed = Self("malformed", .badRequest, "The request is malformed.")
        /// The name of the conversation is invalid.
        public static let conversation = Self("conversation", .badRequest, "A conversation has no such name.")
        /// The name of the member is invalid.
        public static let member = Self("member", .badRequest, "A member has no such name.")
        /// The text is empty or contains U+0000.
        public static let text = Self("text", .badRequest, "The text is empty, or has characters that can't be stored.")
        /// The text or the body of the request is too large; see ``ChatLimits/maximumTextByteCount``.
        public static let tooLarge = Self("tooLarge", .contentTooLarge, "The text is too long.")
        /// The sender of the request is unknown: the app's closure threw `HTTPError(.unauthorized)`.
        public static let unauthenticated = Self("unauthenticated", .unauthorized, "Nobody is signed in.")
        /// The member may not use the conversation: the app's closure threw `HTTPError(.forbidden)`.
        public static let forbidden = Self("forbidden", .forbidden, "The member may not use the conversation.")
        /// The member cannot see the conversation, or it does not exist: the app's closure threw
        /// `HTTPError(.notFound)`.
        public static let notFound = Self("notFound", .notFound, "The member has no such conversation.")
        /// The sender has already used the id for another message.
        public static let mismatch = Self("mismatch", .conflict, "The id was used for another message.")
        /// The conversation has reached its maximum number of members.
        public static let full = Self("full", .conflict, "The conversation has no room for another member.")
        /// The store failed.
        public static let store = Self("store", .serviceUnavailable, "The conversation can't be read or written now.")

        private init(_ description: String, _ status: HTTPResponse.Status, _ title: String) {
            (self.description, self.status, self.title) = (description, status, title)
        }
    }

    /// The reason why the request is refused.
    public let reason: Reason
    /// The invalid part of the request and its problem, in one sentence; `nil` if the reason suffices.
    public let detail: String?
    private let fields: HTTPFields

    init(_ reason: Reason, _ detail: String? = nil) { (self.reason, self.detail, fields) = (reason, detail, [:]) }

    /// Creates the problem for an error of the app's closure. Returns `nil` if the error has its own text, or if no
    /// reason has the status of the error.
    init?(refusal: HTTPError) {
        let reasons: [Reason] = [.unauthenticated, .forbidden, .notFound]
        guard refusal.body == nil, let reason = reasons.first(where: { $0.status == refusal.status }) else {
            return nil
        }
        (self.reason, detail, fields) = (reason, nil, refusal.headers)
    }

    /// The status code of the response.
    public var status: HTTPResponse.Status { reason.status }

    /// The details if there are any, otherwise the reason in a sentence.
    public var description: String { detail ?? reason.title }

    /// Returns the problem as a response.
    public func response(from request: Request, context: some RequestContext) -> Response {
        var fields = fields
        if reason == .store { fields[.retryAfter] = "5" }
        let type = Problem.Family.chat.type("\(reason)")
        return Response(Problem(type: type, reason.title, status, detail: detail), fields)
    }
}
