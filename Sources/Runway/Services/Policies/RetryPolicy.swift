import HTTPTypes
import RunwayFormats

import struct Foundation.UUID

/// Determines which failures of an endpoint's calls cause a further attempt, the number of attempts, and the backoff
/// between them.
///
/// ```swift
/// static let retry = RetryPolicy(maximumAttempts: 5, longestWait: .seconds(30))
/// ```
///
/// A request is sent again only if its body can be sent twice and repeating it is safe. It is safe if the method is
/// idempotent (RFC 9110 §9.2.2), if certainly no part of the request was sent, if it has an `Idempotency-Key`, or if
/// the policy declares it ``isRepeatable``.
///
/// These failures cause a further attempt: no network, an attempt that the transport timed out, a service that reports
/// overload, and the statuses in ``statuses``. Status 500 is not one of them by default. It mostly indicates a fault
/// that would occur again, and the work may be half done.
///
/// The wait before attempt *n* + 1 is a random time between zero and `baseWait` · 2ⁿ⁻¹, at most ``longestWait``
/// (exponential backoff with full jitter). A time that the server stated in `Retry-After` is added. If the wait would
/// end after the call's deadline, the call fails at once with the server's response.
public struct RetryPolicy: Sendable, Hashable {
    /// The maximum number of attempts of one call, including the first. The default is 3; less than 1 counts as 1.
    public var maximumAttempts: Int
    /// The maximum backoff before the second attempt. The default is 250 ms.
    public var baseWait: Duration
    /// The maximum backoff before any attempt. The time in `Retry-After` is added to it. The default is 10 s.
    public var longestWait: Duration
    /// The statuses that cause a further attempt if the service does not accept the response. The default is 408, 425,
    /// 502, 503 and 504.
    ///
    /// By default the service treats 429 and 503 as an overload, which causes a further attempt independently of this
    /// set.
    public var statuses: Set<Int>
    /// Whether a request may be sent again regardless of its method and its failure, for example a search with POST.
    /// The default is `false`.
    public var isRepeatable: Bool

    /// The statuses after which a server may accept the same request later: 408, 425, 502, 503 and 504.
    public static let transientStatuses: Set<Int> = HTTPResponse.Status.transientCodes

    /// The policy with three attempts and the default backoff.
    public static let standard = RetryPolicy()
    /// The policy with a single attempt.
    public static let off = RetryPolicy(maximumAttempts: 1)

    /// Creates a policy for temporary failures. The properties state the defaults.
    ///
    /// - Parameters:
    ///   - maximumAttempts: The maximum number of attempts of one call, including the first.
    ///   - baseWait: The maximum backoff before the second attempt.
    ///   - longestWait: The maximum backoff before any attempt.
    ///   - statuses: The statuses that cause a further attempt if the service does not accept the response.
    ///   - isRepeatable: Whether a request may be sent again regardless of its method and its failure.
    public init(
        maximumAttempts: Int = 3, baseWait: Duration = .milliseconds(250), longestWait: Duration = .seconds(10),
        statuses: Set<Int> = transientStatuses, isRepeatable: Bool = false
    ) {
        self.maximumAttempts = maximumAttempts
        self.baseWait = baseWait
        self.longestWait = longestWait
        self.statuses = statuses
        self.isRepeatable = isRepeatable
    }

    var backoff: Backoff { Backoff(base: baseWait, longest: longestWait) }

    /// Returns the reason to retry after an error, or `nil` if the error is no reason to retry.
    func cause(of error: NetworkError) -> RetryCause? {
        RetryCause(interruption: error) ?? (error.kind == .overloaded ? .overloaded : nil)
    }

    /// Returns the reason to retry after a response, or `nil` if the response is no reason to retry.
    func cause(of response: Response) -> RetryCause? {
        switch response.verdict?.value {
        case .overloaded: .overloaded
        case .refused, .malformed:
            statuses.contains(response.head.status.code) ? .status(response.head.status.code) : nil
        default: nil
        }
    }

    /// Returns whether the policy allows a request to be sent again for this reason.
    func allows(_ request: Request, after cause: RetryCause) -> Bool {
        isRepeatable || cause.sending == .notSent || request.head.method.isIdempotent
            || request.head.headerFields.contains(.idempotencyKey)
    }
}

/// The reason for a further attempt.
package enum RetryCause: Sendable, Hashable, CustomStringConvertible {
    /// The host could not be reached, or the connection to it was lost.
    case noNetwork(SendState)
    /// The attempt timed out.
    case timedOut(SendState)
    /// The service asks for fewer requests.
    case overloaded
    /// The response had this status.
    case status(Int)

    /// Creates the reason from an error of the connection. Returns `nil` for all other errors.
    init?(interruption error: NetworkError) {
        guard error.outlook.obstacle == .connection else { return nil }
        self = error.kind == .timedOut ? .timedOut(error.sending) : .noNetwork(error.sending)
    }

    /// Whether any part of the request was sent.
    package var sending: SendState {
        switch self {
        case .noNetwork(let sending), .timedOut(let sending): sending
        case .overloaded, .status: .sent
        }
    }

    package var description: String {
        switch self {
        case .noNetwork(.notSent): "no connection"
        case .noNetwork: "the connection was lost"
        case .timedOut(.notSent): "no connection in time"
        case .timedOut: "no response in time"
        case .overloaded: "overloaded"
        case .status(let code): "status \(code)"
        }
    }
}

extension HTTPResponse {
    /// Whether this is the stored response to an earlier request with the same `Idempotency-Key`.
    /// `IdempotencyMiddleware` of `RunwayServer` marks such responses: the server has processed the key and repeats the
    /// response.
    package var isReplayed: Bool { headerFields[.idempotencyReplayed] == "true" }
}

extension UUID {
    /// The value of `Idempotency-Key`: a structured string (RFC 9651 §3.3.3).
    var idempotencyKey: String { "\"\(uuidString.lowercased())\"" }
}

extension Request {
    /// Adds a unique `Idempotency-Key` if the endpoint uses keys and the request has none.
    ///
    /// The 122 random bits come from the system's generator, not from the layer's. A seeded generator could repeat a
    /// key, and the server would respond to a new call with an old response.
    mutating func addIdempotencyKey(for endpoint: any Endpoint.Type) {
        guard endpoint.sendsIdempotencyKey, !head.headerFields.contains(.idempotencyKey) else { return }
        head.headerFields[.idempotencyKey] = UUID().idempotencyKey
    }
}
