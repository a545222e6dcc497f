import Runway

/// The consequence of a failure for a stored change. Pure.
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
    /// The server refuses the change, because the object of the change has been changed meanwhile.
    case conflicting
    /// The server refuses the change for ever.
    case refused

    init(_ error: NetworkError) {
        let outlook = error.outlook
        switch outlook.obstacle {
        case _ where outlook.isLost: self = .lost
        case .connection, .unavailable, .untrusted, .device: self = .failed(retryAfter: error.retryAfter)
        // A later version of the app may describe the service otherwise, but reads the same parameters.
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
    /// The change has no effect: the server has not executed it.
    case none
    /// The change may have an effect, under its key.
    case unknown
    /// The server has processed the key of the change, and failed. It repeats the failure, so that another attempt
    /// needs another key.
    case failed
}
