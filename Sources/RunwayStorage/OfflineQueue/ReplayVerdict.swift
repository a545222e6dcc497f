import HTTPTypes
import Runway
import RunwayJSON

/// What the failure of a stored change means for it. Pure.
enum ReplayVerdict: Equatable {
    /// The same change may succeed later.
    case failed(retryAfter: Duration?)
    /// The server failed by a fault of its own, or its response makes no sense. The same may succeed later, or never.
    case faulted(retryAfter: Duration?)
    /// The service asks for a login or another token.
    case unauthorized
    /// The call was cancelled: its account signed out, or the app removed the change.
    case stopped
    /// The server refuses the change, because what it changes has changed meanwhile.
    case conflicting
    /// The server refuses the change for ever.
    case refused

    init(_ error: NetworkError) {
        switch error.kind {
        case .cancelled: self = .stopped
        case .needsLogin, .needsAccessToken, .loginCancelled: self = .unauthorized
        case .noNetwork, .timedOut, .unavailable, .overloaded, .notTrusted, .storage, .invalidConfiguration:
            self = .failed(retryAfter: error.retryAfter)
        case .service, .invalidParameters: self = .refused
        default:
            switch error.status?.code {
            case 401: self = .unauthorized
            case 429: self = .failed(retryAfter: error.retryAfter)
            case let code? where RetryPolicy.transientStatuses.contains(code):
                self = .failed(retryAfter: error.retryAfter)
            // The server still works on an earlier attempt (draft-ietf-httpapi-idempotency-key-header §2.6).
            case 409 where error.retryAfter != nil: self = .failed(retryAfter: error.retryAfter)
            case 409 where error.saysThatKeyIsInUse: self = .faulted(retryAfter: nil)
            case 409, 412: self = .conflicting
            case let code? where (400..<500).contains(code) && error.kind == .refused: self = .refused
            default: self = .faulted(retryAfter: error.retryAfter)
            }
        }
    }
}

extension NetworkError {
    /// Whether a status 409 says that the same request is in progress, and not that the change conflicts with another.
    ///
    /// A server that has executed a request, and has not stored its response, says so (`notStored`): to repeat it is futile.
    fileprivate var saysThatKeyIsInUse: Bool {
        guard let rawData, rawData.response.headerFields[.contentType]?.contains("problem+json") == true else {
            return false
        }
        let type = rawData["type"].string ?? ""
        let text = type + (rawData["title"].string ?? "")
        return text.lowercased().contains("idempoten") && !type.hasSuffix("notStored")
    }
}
