package import HTTPTypes
import RunwayJSON

/// Predicts whether a failed call can succeed if it is made again: what prevents it, when it can be repeated, and
/// whether it may already have taken effect.
///
/// An outlook is derived from the kind of the error, its status, whether anything was sent, and what the response says
/// in `Retry-After` and about the `Idempotency-Key`. Retries, the offline queue, the action log, uploads, streams,
/// conversations and token renewals all use the outlook, so that they decide alike.
///
/// The statuses 408, 425, 429, 502, 503 and 504 ask the client to come back later. They count even if the service also
/// reports its own error, or if the body can't be read. 501 and 505 are as final as 404.
package struct Outlook: Sendable, Equatable {
    /// The obstacle that must be removed before the same call can succeed.
    package enum Obstacle: Sendable, Hashable {
        /// The host was not reached, or no response was received. The obstacle passes by itself.
        case connection
        /// The server currently accepts no requests, or the layer refuses to send one. The obstacle passes by itself.
        case unavailable
        /// The server failed while it processed the request. The obstacle may pass, or the request may always fail.
        case fault
        /// The host did not prove its identity, or a captive portal responded instead of it (RFC 6585 §6). The obstacle
        /// disappears on another network.
        case untrusted
        /// The call needs a login or another access token.
        case login
        /// The response can't be read, or is a redirect that can't be followed. Repeating the request usually returns
        /// the same response.
        case unreadable
        /// The resource was modified in the meantime (status 409 or 412).
        case conflict
        /// The server has executed a request with the same `Idempotency-Key`, but no longer has the response.
        case executed
        /// The server refuses the request permanently.
        case refused
        /// The app's request or configuration is invalid, so it can't be sent.
        case app
        /// The device could not store or read the data of the call.
        case device
        /// The call was cancelled, stored, or restricted to the cache. Its caller decides what happens next.
        case ended
    }

    /// The result that a server has stored for an `Idempotency-Key`. The server states it when it repeats the stored
    /// response.
    package enum KeyEnd: Sendable {
        /// The server or a gateway failed. It is unknown how much of the request was executed. A request with this key
        /// never succeeds.
        case failure
        /// The server refused the request.
        case refusal
    }

    /// The obstacle that must be removed before the same call can succeed.
    package let obstacle: Obstacle
    /// The time after the failure at which the call can be made again; `nil` if unknown.
    package let retryAfter: Duration?
    /// Whether the server may have executed the last request of the call. Earlier attempts are not considered here; the
    /// call's recorder tracks them.
    package let mayHaveTakenEffect: Bool
    /// The stored result of the request's idempotency key; `nil` if the response is not a stored one that the server
    /// repeated.
    package let keyEnd: KeyEnd?
    /// Whether a request was sent but the service itself did not respond: either no response was received, or a gateway
    /// responded without `Retry-After`. The request itself may be the cause of the server's failure.
    package let isLost: Bool

    /// Whether the server was not reached or currently accepts no requests.
    package var isServerUnavailable: Bool { obstacle == .connection || obstacle == .unavailable }
    /// Whether the server refuses the same request permanently.
    package var isFinal: Bool { [.refused, .conflict, .executed].contains(obstacle) }

    fileprivate init(_ error: NetworkError) {
        let response = error.rawData?.response
        let asksToWait = error.retryAfter != nil || response?.headerFields[.retryAfter] != nil
        let keyProblem = error.idempotencyProblem
        let isReplayed = !error.followsProcessedRequest && response?.isReplayed ?? false
        let status = error.status
        let isOutage = status?.isOutage ?? false
        keyEnd =
            switch status {
            case _ where !isReplayed: nil
            case let status? where status.kind == .serverError || status.isTransient: .failure
            case let status? where status.kind == .clientError: .refusal
            default: error.kind == .service ? .refusal : nil
            }
        obstacle = keyEnd == .failure ? .refused : Self.obstacle(of: error, keyProblem)
        retryAfter = error.retryAfter
        isLost =
            switch obstacle {
            // A failure that states when to retry is known to be temporary.
            case .connection: error.sending != .notSent && error.retryAfter == nil
            // A gateway also responds with these statuses if the server behind it crashed, hangs or reset the
            // connection.
            case .unavailable: isOutage && !asksToWait
            default: false
            }
        mayHaveTakenEffect = error.mayHaveTakenEffect(obstacle, keyProblem)
    }

    private static func obstacle(of error: NetworkError, _ keyProblem: String?) -> Obstacle {
        let obstacle = error.kind.obstacle
        guard obstacle == .refused || obstacle == .unreadable else { return obstacle }
        // The error has no status in two cases: a stage of the app refused the request, or the service refused a
        // response whose status is not an error.
        guard let status = error.status else { return error.kind == .refused ? .fault : obstacle }
        if error.kind == .service { return status.obstacle == .unavailable ? .unavailable : .refused }
        switch status.obstacle {
        // The server is still processing an earlier attempt (draft-ietf-httpapi-idempotency-key-header §2.6).
        case .conflict where status == .conflict && error.retryAfter != nil: return .unavailable
        case .conflict where status == .conflict && keyProblem?.hasSuffix("notStored") == true: return .executed
        case .conflict where status == .conflict && keyProblem != nil: return .fault
        // A refusal that states when to retry is temporary.
        case .refused where status.kind == .clientError && error.retryAfter != nil: return .unavailable
        case .refused where obstacle == .unreadable: return .unreadable
        case let found: return found
        }
    }
}

extension NetworkError {
    /// The prediction whether the same call can succeed if it is made again.
    package var outlook: Outlook { Outlook(self) }

    /// Returns whether the server may have executed the last request of the call.
    fileprivate func mayHaveTakenEffect(_ obstacle: Outlook.Obstacle, _ keyProblem: String?) -> Bool {
        // The server has executed the request; the error concerns only the target of a redirect.
        if followsProcessedRequest { return true }
        if sending == .notSent { return false }
        // The token was missing for a further attempt. The error says nothing about the last attempt that was sent.
        if step == .authorizing { return true }
        // Another request with this key may be in progress or may have been executed
        // (draft-ietf-httpapi-idempotency-key-header §2.7). It may have been sent before a backup was restored, or it
        // may have other content.
        if keyProblem != nil || status == .conflict && retryAfter != nil { return true }
        switch kind.obstacle {
        // Invalid parameters are detected before anything is sent.
        case .app: return kind != .invalidParameters
        case .login: return false
        // The TLS handshake comes before the request.
        case .untrusted: return sending == .sent
        case .unreadable: return true
        // A status of 400 to 499, 501 or 505 means that the request was not executed (RFC 9110 §15.5). A service error
        // with status 502, 503 or 504 is different: the service may have executed the request before it reported the
        // outage.
        case .refused where kind == .service: return status?.isOutage ?? false
        default: return status.map { $0.kind != .clientError && $0.obstacle != .refused } ?? true
        }
    }

    /// The type of a problem document about an idempotency key; empty if the problem has only a title; `nil` for any
    /// other response.
    ///
    /// With such a problem, status 409 does not mean that the change conflicts with another change. It means that the
    /// same request is in progress. If the type ends in `notStored`, as in `RunwayServer`, the request was executed and
    /// its response is not stored.
    fileprivate var idempotencyProblem: String? {
        guard status == .conflict || status == .unprocessableContent, let rawData,
            rawData.response.headerFields[.contentType]?.contains("problem+json") == true
        else { return nil }
        let type = rawData["type"].string ?? ""
        let text = type + (rawData["title"].string ?? "")
        return text.lowercased().contains("idempoten") ? type : nil
    }
}

extension HTTPResponse.Status {
    /// The obstacle that an error response with this status implies.
    package var obstacle: Outlook.Obstacle {
        switch code {
        case 401: .login
        case _ where isTransient || code == 429: .unavailable
        case 409, 412: .conflict
        // The server does not support the request, and that will not change (RFC 9110 §15.6.2, §15.6.6).
        case 501, 505: .refused
        // A captive portal responded instead of the server.
        case 511: .untrusted
        case 400..<500: .refused
        case 500...: .fault
        default: .unreadable
        }
    }

    /// Whether the same request may be accepted later. True for ``transientCodes``, 429, and every server error except
    /// 501 and 505.
    ///
    /// A retry policy is stricter about server errors, see ``RetryPolicy/statuses``.
    package var mayBeAcceptedLater: Bool { [.unavailable, .fault, .untrusted].contains(obstacle) }

    /// The statuses, in addition to 429, by which a server or a gateway asks the client to come back later.
    package static let transientCodes: Set<Int> = [408, 425, 502, 503, 504]

    /// Whether the status reports that the server, or one behind it, is down.
    fileprivate var isOutage: Bool { [502, 503, 504].contains(code) }

    fileprivate var isTransient: Bool { Self.transientCodes.contains(code) }

    /// Whether a login or another account may change the response (401 and 403).
    package var concernsAccount: Bool { code == 401 || code == 403 }
}
