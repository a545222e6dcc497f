import HTTPTypes

/// The reason why a response was not stored.
package enum NotStoredReason: Sendable, Hashable {
    /// Responses to the request's method are not stored.
    case method
    /// The status is not final, or applies only to this request.
    case status
    /// The request or the response forbids storing, or the call's policy forbids storing a response that sets cookies.
    case noStore
    /// No rule allows the response to be stored.
    case notCacheable
    /// The response depends on something other than request fields, or on cookies that a later stage adds to the
    /// request.
    case varies
    /// The service refused the response for another reason than its status.
    case notFine
    /// The range of the response does not match its body, or the response is not a single range of bytes.
    case partial
    /// The response exceeds the maximum size of one response.
    case tooLarge
    /// A newer response is already stored, or the cache was cleared or the target changed while the request was in
    /// flight.
    case outdated

    var text: String {
        switch self {
        case .method: "the method is not cacheable"
        case .status: "the status is not cacheable"
        case .noStore: "request, response or policy forbids it"
        case .notCacheable: "nothing allows it"
        case .varies: "it varies by cookies, or by more than the request's fields"
        case .notFine: "the service calls it a failure"
        case .partial: "it is not one complete range"
        case .tooLarge: "it is too large"
        case .outdated: "a newer response is stored, or the cache was cleared"
        }
    }
}

/// Decides whether a response may be stored (RFC 9111 §3).
enum Storability {
    /// Returns the reason why a response must not be stored, or `nil` if it may be stored.
    static func refusal(
        _ response: HTTPResponse, to request: HTTPRequest, _ directives: ResponseDirectives, verdict: Verdict?,
        isRequestNoStore: Bool
    ) -> NotStoredReason? {
        guard request.method == .get || request.method == .head else { return .method }
        let status = response.status
        // 304 and 412 concern the preconditions of the request, and 416 its range.
        guard status.code >= 200, ![304, 412, 416].contains(status.code) else { return .status }
        if directives.mustUnderstand, !status.isUnderstood { return .status }
        // A cache that implements `must-understand` ignores `no-store` in the same response (RFC 9111 §5.2.2.3).
        if isRequestNoStore || directives.isNoStore && !directives.mustUnderstand { return .noStore }
        let isExplicit =
            directives.isPublic || directives.isPrivate || directives.maxAge != nil
            || response.headerFields.contains(.expires)
        guard isExplicit || status.isHeuristicallyCacheable else { return .notCacheable }
        guard verdict == Verdict(status: status, headerFields: response.headerFields) || verdict == .fine,
            verdict != .tokenRefused
        else { return .notFine }
        return nil
    }
}
