import HTTPTypes
import RunwayFormats

import struct Foundation.UUID

/// The failures of an endpoint that cause a further attempt, the number of attempts, and the backoff between them.
///
/// ```swift
/// static let retry = RetryPolicy(maximumAttempts: 5, longestWait: .seconds(30))
/// ```
///
/// A request is sent again only if its body can be sent twice and repeating it is safe: its method is idempotent (RFC
/// 9110 §9.2.2), it certainly never reached the wire, it has an `Idempotency-Key`, or the policy declares it
/// ``isRepeatable``.
///
/// These failures cause a further attempt: no network, an attempt that the transport timed out, a service that reports
/// overload, and the statuses in ``statuses``. Status 500 is not among them by default: it mostly indicates a fault
/// that the same request meets again, and work that may be half done.
///
/// The wait before attempt *n* + 1 is chosen uniformly between zero and `baseWait` · 2ⁿ⁻¹, at most `longestWait`
/// (exponential backoff with full jitter). A time that the server named in `Retry-After` is added. No wait ends after
/// the call's deadline: if it would, the call fails at once with the server's response.
public struct RetryPolicy: Sendable, Hashable {
    /// The most attempts of one call, including the first. The default is 3; less than 1 counts as 1.
    public var maximumAttempts: Int
    /// The longest backoff before the second attempt. The default is 250 ms.
    public var baseWait: Duration
    /// The longest backoff before any attempt, without `Retry-After`. The default is 10 s.
    public var longestWait: Duration
    /// The statuses of refused requests that cause a further attempt. The default is 408, 425, 502, 503 and 504.
    ///
    /// Statuses 429 and 503 count by default as a report of overload, which causes a further attempt by itself.
    public var statuses: Set<Int>
    /// Whether a request may be sent again whatever its method and its failure, for example a search by POST. The
    /// default is `false`.
    public var isRepeatable: Bool

    /// The statuses of a server that may accept the same request later: 408, 425, 502, 503 and 504.
    public static let transientStatuses: Set<Int> = HTTPResponse.Status.transientCodes

    /// Three attempts, with the default backoff.
    public static let standard = RetryPolicy()
    /// One attempt.
    public static let off = RetryPolicy(maximumAttempts: 1)

    /// Creates a policy for temporary failures; see the properties for the defaults.
    ///
    /// - Parameters:
    ///   - maximumAttempts: The most attempts of one call, including the first.
    ///   - baseWait: The longest backoff before the second attempt.
    ///   - longestWait: The longest backoff before any attempt.
    ///   - statuses: The statuses of refused requests that cause a further attempt.
    ///   - isRepeatable: Whether a request may be sent again whatever its method and its failure.
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

    /// The waits between attempts.
    var backoff: Backoff { Backoff(base: baseWait, longest: longestWait) }

    /// Returns the cause of a further attempt after an error; `nil` if none follows.
    func cause(of error: NetworkError) -> RetryCause? {
        RetryCause(interruption: error) ?? (error.kind == .overloaded ? .overloaded : nil)
    }

    /// Returns the cause of a further attempt after a response; `nil` if none follows.
    func cause(of response: Response) -> RetryCause? {
        switch response.verdict?.value {
        case .overloaded: .overloaded
        case .refused, .malformed:
            statuses.contains(response.head.status.code) ? .status(response.head.status.code) : nil
        default: nil
        }
    }

    /// Returns whether a request may be sent again after a cause.
    func allows(_ request: Request, after cause: RetryCause) -> Bool {
        isRepeatable || cause.sending == .notSent || request.head.method.isIdempotent
            || request.head.headerFields.contains(.idempotencyKey)
    }
}

/// The cause of a further attempt.
package enum RetryCause: Sendable, Hashable, CustomStringConvertible {
    /// The host could not be reached, or the connection to it was lost.
    case noNetwork(SendState)
    /// The attempt took too long.
    case timedOut(SendState)
    /// The service asks for fewer requests.
    case overloaded
    /// The response had this status.
    case status(Int)

    /// The cause in an error of the connection; `nil` for any other error.
    init?(interruption error: NetworkError) {
        guard error.outlook.obstacle == .connection else { return nil }
        self = error.kind == .timedOut ? .timedOut(error.sending) : .noNetwork(error.sending)
    }

    /// Whether any byte of the request reached the wire.
    package var sending: SendState {
        switch self {
        case .noNetwork(let sending), .timedOut(let sending): sending
        case .overloaded, .status: .sent
        }
    }

    /// The cause in a few words.
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
    /// Whether this is the stored response to an earlier request with the same `Idempotency-Key`, as
    /// `IdempotencyMiddleware` of `RunwayServer` marks it: the server has processed the key, and repeats the outcome.
    package var isReplayed: Bool { headerFields[.idempotencyReplayed] == "true" }
}

extension UUID {
    /// The value of `Idempotency-Key`: a structured string (RFC 9651 §3.3.3).
    var idempotencyKey: String { "\"\(uuidString.lowercased())\"" }
}

extension Request {
    /// Adds a unique `Idempotency-Key`, if the endpoint uses keys and the request has none.
    ///
    /// The key's 122 random bits come from the system's generator and not from the layer's: if a seed repeated a key,
    /// the server would respond to a new call with an old response.
    mutating func addIdempotencyKey(for endpoint: any Endpoint.Type) {
        guard endpoint.sendsIdempotencyKey, !head.headerFields.contains(.idempotencyKey) else { return }
        head.headerFields[.idempotencyKey] = UUID().idempotencyKey
    }
}
