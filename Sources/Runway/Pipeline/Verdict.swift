public import HTTPTypes

/// A service's judgement of a response, based on the status and the envelope.
///
/// Every stage acts on the verdict, not on the status: a response with status 200 may contain "token expired". Later
/// versions may add verdicts, so a switch needs a `default`. A service returns its verdict from
/// ``APIService/judge(_:rawData:)``:
///
/// ```swift
/// static func judge(_ head: HTTPResponse, rawData: RawData?) -> Verdict {
///     if rawData?["error"].string == "token expired" { return .tokenRefused }
///     return Verdict(status: head.status, headerFields: head.headerFields)
/// }
/// ```
public struct Verdict: Sendable, Hashable, CustomStringConvertible {
    package enum Code: Sendable, Hashable {
        case fine, redirected, tokenRefused, loginNeeded, refused
        case overloaded(retryAfter: Duration?)
        /// The case is indirect because the error is large: copies of other verdicts become smaller.
        indirect case failed(ServiceError, isAbsorbed: Bool)
        case malformed(String)
    }

    package let value: Code

    private init(_ value: Code) { self.value = value }

    /// The service accepted the request.
    public static let fine = Verdict(.fine)
    /// The response redirects to another target.
    public static let redirected = Verdict(.redirected)
    /// The access token is missing, expired or unknown. A new token may help.
    public static let tokenRefused = Verdict(.tokenRefused)
    /// The user must log in before the call can succeed.
    public static let loginNeeded = Verdict(.loginNeeded)
    /// The server refused the request with an error status.
    public static let refused = Verdict(.refused)
    /// The server asks for fewer requests. `retryAfter` is the wait that it asks for; `nil` if it states none.
    public static func overloaded(retryAfter: Duration?) -> Verdict { Verdict(.overloaded(retryAfter: retryAfter)) }
    /// The envelope contains an error that the service defines.
    ///
    /// - Parameters:
    ///   - error: The error.
    ///   - isAbsorbed: Whether business code need not handle the error. If so, no delegate is notified, and only the
    ///     record shows the error.
    public static func failed(_ error: ServiceError, isAbsorbed: Bool) -> Verdict {
        Verdict(.failed(error, isAbsorbed: isAbsorbed))
    }
    /// The response does not have the outer structure that all responses of the service have (its envelope). The
    /// parameter states the reason.
    public static func malformed(_ reason: String) -> Verdict { Verdict(.malformed(reason)) }

    /// Whether the server asks for fewer requests.
    public var isOverloaded: Bool { if case .overloaded = value { true } else { false } }
    /// The wait that an overloaded server asks for; `nil` if it states none.
    public var retryAfter: Duration? { if case .overloaded(let wait) = value { wait } else { nil } }
    /// The error that the service reports in its response; `nil` if it reports none.
    public var serviceError: ServiceError? { if case .failed(let error, _) = value { error } else { nil } }

    /// Creates the verdict that follows from the status (RFC 9110 §15).
    ///
    /// - 2xx and 304: ``fine``.
    /// - Other 3xx: ``redirected``.
    /// - 401: ``tokenRefused``.
    /// - 429 and 503: ``overloaded(retryAfter:)``, with the seconds of `Retry-After`.
    /// - All other statuses: ``refused``.
    ///
    /// A `Retry-After` with a date is ignored, because a verdict has no clock. Stages that act on it read the field
    /// themselves.
    public init(status: HTTPResponse.Status, headerFields: HTTPFields) {
        switch status.code {
        case 200..<300, 304: self = .fine
        case 300..<400: self = .redirected
        case 401: self = .tokenRefused
        case 429, 503:
            self = .overloaded(retryAfter: headerFields[.retryAfter].flatMap { Int64($0) }.flatMap(Self.wait))
        default: self = .refused
        }
    }

    /// The verdict in a few words, for records.
    public var description: String {
        switch value {
        case .fine: "fine"
        case .redirected: "a redirect"
        case .tokenRefused: "a refusal of the access token"
        case .loginNeeded: "a demand to log in"
        case .overloaded(let wait): "overloaded\(Self.advice(wait))"
        case .refused: "refused"
        case .failed(let error, let isAbsorbed): "the service's error \(error)\(isAbsorbed ? ", absorbed" : "")"
        case .malformed: "not the service's envelope"
        }
    }

    /// Returns a wait of whole seconds, or `nil` if it is too long for a clock.
    private static func wait(seconds: Int64) -> Duration? {
        (0...Int64(Int32.max)).contains(seconds) ? .seconds(seconds) : nil
    }

    /// Returns the error of a call with this verdict, or `nil` if the call succeeded.
    func error(for response: HTTPResponse) -> NetworkError? {
        // Almost every call succeeds. For these no text has to be created.
        if case .fine = value { return nil }
        let status = response.status
        let received =
            "The server responded with status \(status.code)\(status.reasonPhrase.isEmpty ? "" : " \(status.reasonPhrase)")"
        func error(
            _ kind: NetworkError.Kind, _ detail: String, cause: ServiceError? = nil, isAbsorbed: Bool = false
        ) -> NetworkError {
            var error = NetworkError(kind, in: .judging, detail, status: status)
            error.serviceError = cause
            error.isAbsorbed = isAbsorbed
            if case .overloaded(let wait) = value { error.retryAfter = wait }
            return error
        }
        return switch value {
        case .fine: nil
        case .redirected: error(.refused, "\(received), a redirect that could not be followed.")
        case .tokenRefused: error(.needsAccessToken, "\(received): the access token is missing or was refused.")
        case .loginNeeded: error(.needsLogin, "\(received): the user has to log in.")
        case .overloaded(let wait): error(.overloaded, "\(received): \(Self.overload(status))\(Self.advice(wait)).")
        case .refused: error(.refused, "\(received).")
        case .failed(let cause, let isAbsorbed):
            error(.service, "The service responded with its error \(cause).", cause: cause, isAbsorbed: isAbsorbed)
        case .malformed(let what):
            error(.invalidResponse, "\(received), but its envelope could not be read: \(what)")
        }
    }

    /// Returns a text that describes an overload, depending on the status (RFC 9110 §15.6.4, RFC 6585 §4). The status
    /// is not used if the service itself reports the overload.
    private static func overload(_ status: HTTPResponse.Status) -> String {
        switch status.code {
        case 429: "too many requests"
        case 503: "the server can't handle requests for now"
        default: "the service asks for fewer requests"
        }
    }

    private static func advice(_ wait: Duration?) -> String {
        wait.map { ", try again in \($0.text)" } ?? ""
    }
}

extension Request {
    /// Returns the service's verdict on a response to this request.
    ///
    /// Two responses have no envelope to read. One is a 304 to a precondition that a cache added; the stored response
    /// was judged when it was received. The other is the handshake of a WebSocket.
    func verdict(of response: Response, by service: any APIService.Type) -> Verdict {
        if response.webSocket != nil { return .fine }
        let rawData: RawData? = if case .whole(let rawData) = response.body { rawData } else { nil }
        let verdict = service.judge(response.head, rawData: rawData)
        if case .malformed = verdict.value, response.head.status == .notModified, callerConditions != nil {
            return .fine
        }
        return verdict
    }
}

extension Response {
    /// Sets the verdict and records it.
    mutating func judge(as verdict: Verdict, in flight: Flight) {
        self.verdict = verdict
        flight.note(JudgingDecision(status: head.status.code, verdict: verdict))
    }
}

package struct JudgingDecision: StageDecision, Equatable {
    package var status: Int
    package var verdict: Verdict

    package static var step: FlightStep { .judging }

    package var entry: DecisionRecord {
        .init("judged", ["status": status, "verdict": "\(verdict)"], "\(status) is \(verdict)")
    }
}
