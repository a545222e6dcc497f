import Runway

/// The consequence of a failure for a stored change. A pure function of the error.
enum ReplayVerdict: Equatable {
    /// The change may succeed later.
    case failed(retryAfter: Duration?)
    /// The request was sent, but the service's own response did not arrive: the connection was lost, the call timed
    /// out, or a gateway responded instead of the service. The change may succeed later, or never.
    case lost
    /// The server had an internal error, or its response can't be interpreted. The change may succeed later, or never.
    case faulted(retryAfter: Duration?)
    /// The service requires a sign-in or another token.
    case unauthorized
    /// The call was cancelled: its account signed out, or the app removed the change.
    case stopped
    /// The server has executed the change, but no longer has the response.
    case executed
    /// The server refuses the change, because the object to change was changed meanwhile.
    case conflicting
    case refused

    init(_ error: NetworkError) {
        let outlook = error.outlook
        switch outlook.obstacle {
        case _ where outlook.isLost: self = .lost
        case .connection, .unavailable, .untrusted, .device: self = .failed(retryAfter: error.retryAfter)
        // A later version of the app may configure the service differently, but reads the same parameters.
        case .app: self = error.kind == .invalidParameters ? .refused : .failed(retryAfter: error.retryAfter)
        case .fault, .unreadable: self = .faulted(retryAfter: error.retryAfter)
        case .login: self = .unauthorized
        case .ended: self = error.kind == .loginCancelled ? .unauthorized : .stopped
        case .executed: self = .executed
        case .conflict: self = .conflicting
        case .refused: self = .refused
        }
    }
}

/// The effect that a failed change may have had.
enum ChangeEffect: Sendable {
    /// The server has not executed the change, so it has no effect.
    case none
    /// The server may have executed the change under its key.
    case unknown
    /// The server has processed the request with this key, and failed. It repeats this failure, so another attempt
    /// needs a new key.
    case failed
}
