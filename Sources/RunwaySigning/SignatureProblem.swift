import HTTPTypes
import Runway
import RunwayFormats
import RunwayJSON
import RunwaySignatures

/// A server's refusal of a signature in this project's format: `application/problem+json` (RFC 9457) whose `type` is
/// `urn:runway:signature:` followed by the reason, with the server's time in seconds since 1970.
struct SignatureProblem: Sendable {
    let reason: String
    let time: UnixTime?
    /// The time, in the past or future, until which the server accepts a copy of the request; `nil` if the problem
    /// names no time.
    let acceptedUntil: UnixTime?
    /// The signature base that the server computed; `nil` if the server does not explain its refusals.
    let signatureBase: String?

    /// The maximum size of a signature base that is compared, in bytes.
    private static let maximumBaseBytes = 64 << 10

    /// The maximum size of a problem that is read from a stream, in bytes.
    static let maximumByteCount = 128 << 10

    /// Returns whether the body of a response is a problem (RFC 9457) with a short declared length.
    static func isShortProblem(_ head: HTTPResponse) -> Bool {
        isProblem(head) && head.headerFields[.contentLength].flatMap { Int($0) }.map { $0 <= maximumByteCount } == true
    }

    private static func isProblem(_ head: HTTPResponse) -> Bool {
        head.headerFields[.contentType]?.hasPrefix(Problem.mediaType) == true
    }

    /// Reads the problem in a response. Returns `nil` if the body is not a signature problem, or is a stream.
    init?(_ response: Response) {
        guard case .whole(let rawData) = response.body,
            Self.isProblem(response.head),
            let reason = Problem.Family.signature.reason(of: rawData.json)
        else { return nil }
        // The reason is shown in the text of an error, so only a short word is accepted.
        guard (1...64).contains(reason.count), reason.allSatisfy({ $0.isASCII && $0.isLetter }) else { return nil }
        self.reason = reason
        time = rawData["time"].int64.map { UnixTime(seconds: $0) }
        acceptedUntil = rawData["acceptedUntil"].int64.map { UnixTime(seconds: $0) }
        signatureBase = rawData["signatureBase"].string.flatMap { $0.utf8.count <= Self.maximumBaseBytes ? $0 : nil }
    }

    /// Returns whether no copy of the request can have been accepted before this refusal or can be accepted later. The
    /// request was sent at most `elapsed` before the refusal.
    func excludesCopies(sentBefore elapsed: Duration) -> Bool {
        guard let acceptedUntil else { return true }
        // 2 s are added below, since both times are whole seconds.
        guard let time else { return false }
        return acceptedUntil + elapsed + .seconds(2) <= time
    }

    /// The refusal with the server's reason and time; `nil` if the problem does not contain the time.
    var refusal: SignatureRefusal? {
        time.map { SignatureRefusal(.init(name: reason), "stated by the server", at: $0) }
    }

    /// Whether the nonce was already used: the server has accepted a copy of the request.
    var isReplay: Bool { reason == "replayed" }

    /// Whether the same request can be accepted with a new signature: its nonce was used, or is unknown to the server.
    var needsNewSignature: Bool { isReplay || reason == "nonceUnknown" }
}

extension NetworkError {
    /// Creates the error of a request whose signature the server refused.
    init(refused response: Response, _ problem: SignatureProblem?, _ difference: BaseDifference?) {
        self.init(
            "The server refused the signature of the request\(problem.map { ": \($0.reason)" } ?? "")."
                + (difference.map { " \($0)" } ?? ""), response, problem)
    }

    /// Creates the error of a request that the server refused because it has no signature.
    init(unsigned response: Response, _ problem: SignatureProblem?, of account: String?) {
        let advice =
            account.map { "\($0) has no key yet. Call DeviceEnrolment.enrol(), or have the key store return a key." }
            ?? "nobody is signed in, who could have a key. Sign in, and call DeviceEnrolment.enrol()."
        self.init("The server wants a signature, and the request has none: \(advice)", response, problem)
    }

    private init(_ detail: String, _ response: Response, _ problem: SignatureProblem?) {
        self.init(
            .refused, in: .signing, detail, status: response.head.status, underlying: problem?.refusal)
        if case .whole(let rawData) = response.body { self.rawData = rawData }
    }
}
