import HTTPTypes
import Runway
import RunwayJSON

/// What the failure of a stored change means for it. Pure.
enum ReplayVerdict: Equatable {
    /// The same change may succeed later.
    case failed(retryAfter: Duration?)
    /// The request was sent, and the service's own response was not received: the connection was lost, the call timed
    /// out, or a gateway responded in place of the service. The same change may succeed later, or never.
    case lost
    /// The server reported an internal error, or its response can't be interpreted. The same change may succeed later,
    /// or never.
    case faulted(retryAfter: Duration?)
    /// The service asks for a login or another token.
    case unauthorized
    /// The call was cancelled: its account signed out, or the app removed the change.
    case stopped
    /// The server has executed the change, and does not have the response any more.
    case executed
    /// The server refuses the change, because what it changes has changed meanwhile.
    case conflicting
    /// The server refuses the change for ever.
    case refused

    /// What gateways respond when the server behind them crashed, hangs, or is down.
    private static let gatewayStatuses = [502, 503, 504]

    init(_ error: NetworkError) {
        // A server that has stored its failure under the key repeats it for as long as it knows the key.
        if error.isReplayedFailure {
            self = .refused
            return
        }
        switch error.kind {
        case .cancelled: self = .stopped
        case .needsLogin, .needsAccessToken, .loginCancelled: self = .unauthorized
        case .noNetwork, .timedOut:
            self = error.isLost ? .lost : .failed(retryAfter: error.retryAfter)
        // Gateways respond with 503, too, when the server behind them has reset the connection.
        case .overloaded where error.status == .serviceUnavailable && !error.asksToWait: self = .lost
        case .unavailable, .overloaded, .notTrusted, .storage, .invalidConfiguration:
            self = .failed(retryAfter: error.retryAfter)
        case .service, .invalidParameters: self = .refused
        default:
            switch error.status?.code {
            case 401: self = .unauthorized
            case 429: self = .failed(retryAfter: error.retryAfter)
            case let code? where Self.gatewayStatuses.contains(code) && !error.asksToWait: self = .lost
            case let code? where RetryPolicy.transientStatuses.contains(code):
                self = .failed(retryAfter: error.retryAfter)
            // The server still works on an earlier attempt (draft-ietf-httpapi-idempotency-key-header §2.6).
            case 409 where error.retryAfter != nil: self = .failed(retryAfter: error.retryAfter)
            case 409 where error.idempotencyProblem?.hasSuffix("notStored") == true: self = .executed
            case 409 where error.idempotencyProblem != nil: self = .faulted(retryAfter: nil)
            case 409, 412: self = .conflicting
            case let code? where (400..<500).contains(code) && error.kind == .refused: self = .refused
            default: self = .faulted(retryAfter: error.retryAfter)
            }
        }
    }
}

/// What is known of the effect of a change that failed.
enum ChangeEffect: Sendable {
    /// It has none: the server has not taken it.
    case none
    /// It may have one, under its key.
    case unknown
    /// The server has processed its key, and failed. It repeats that, so that another attempt needs another key.
    case failed
}

extension NetworkError {
    /// The type of a problem with an idempotency key, which is empty if the problem has a title alone; `nil` for any
    /// other response.
    ///
    /// Such a status 409 does not say that the change conflicts with another, but that the same request is in progress
    /// or, as the type of `RunwayServer` that ends in `notStored`, that it was executed and its response is not stored.
    fileprivate var idempotencyProblem: String? {
        guard let rawData, rawData.response.headerFields[.contentType]?.contains("problem+json") == true else {
            return nil
        }
        let type = rawData["type"].string ?? ""
        let text = type + (rawData["title"].string ?? "")
        return text.lowercased().contains("idempoten") ? type : nil
    }

    /// Whether the response is the stored one to an earlier attempt. One to a request that followed a redirect by
    /// another method is not.
    private var isReplayed: Bool { !followsProcessedRequest && rawData?.response.isReplayed ?? false }

    /// Whether that says that the server or a gateway failed: how far it came is not known.
    var isReplayedFailure: Bool {
        guard isReplayed, let code = status?.code else { return false }
        return code >= 500 || RetryPolicy.transientStatuses.contains(code)
    }

    /// Whether that says that the server refused the change.
    var isReplayedRefusal: Bool { isReplayed && isRefusal }

    /// Whether the service refuses the request, by its envelope or by a status of 400 to 499 (RFC 9110 §15.5).
    private var isRefusal: Bool {
        kind == .service || status.map { (400..<500).contains($0.code) } ?? false
    }

    /// Whether the response says when to try again, in a form that is understood or not.
    fileprivate var asksToWait: Bool { retryAfter != nil || rawData?.response.headerFields[.retryAfter] != nil }

    /// Whether something was sent, and nothing came back. A failure that says when to try again is known to pass.
    fileprivate var isLost: Bool { sending != .notSent && retryAfter == nil }

    /// Whether the server certainly did not take the change by the attempt to which it responded so.
    var isCertainRefusal: Bool {
        // It has processed the change, and refuses what a redirect led to.
        if followsProcessedRequest { return false }
        if kind == .service { return true }
        // Another request with the key may be in progress, or has come before, as one of a backup that was restored or
        // one in another form (draft-ietf-httpapi-idempotency-key-header §2.7).
        if status == .conflict || status == .unprocessableContent, idempotencyProblem != nil { return false }
        return kind == .refused && status.map { (400..<500).contains($0.code) } ?? false
    }
}
