/// What a stage decided about one call, in enums and numbers; text is made only when somebody reads the record.
///
/// Every stage has a type of its own, so that a test can look for `Redirect.followed(status: 302, hop: 1)`.
public protocol FlightDecision: Sendable, CustomStringConvertible {
    /// The step of the call that decides.
    static var step: FlightStep { get }
}

/// What the manager, or the layer on its behalf, decided before the request reached the stages and after it left them.
public enum CallDecision: FlightDecision, Equatable {
    /// An interceptor did not let the call take off.
    case vetoedBeforeCall
    /// An interceptor did not let the success be told.
    case vetoedSuccess
    /// An interceptor did not let the stale answer be told that came before the fresh one.
    case vetoedProvisional
    /// An interceptor did not let the failure be told.
    case vetoedFailure
    /// This many flights of the manager were cancelled in favour of this call.
    case replacedRunning(Int)
    /// The account that the call was made for is not signed in any more, so that the manager does not land it.
    case accountChanged
    /// The answer was there before `load` returned.
    case answeredImmediately
    /// A reformer threw.
    indirect case reformingFailed(reformer: String, detail: String)

    /// The step.
    public static var step: FlightStep { .landing }

    /// What was decided, as a log shows it.
    public var description: String {
        switch self {
        case .vetoedBeforeCall: "an interceptor did not let the call take off"
        case .vetoedSuccess: "an interceptor did not let the success be told"
        case .vetoedProvisional: "an interceptor did not let the stale answer be told"
        case .vetoedFailure: "an interceptor did not let the failure be told"
        case .replacedRunning(let count): "replaced \(count) running"
        case .accountChanged: "not landed: its account is not signed in any more"
        case .answeredImmediately: "answered at once"
        case .reformingFailed(let reformer, let detail): "\(reformer) failed: \(detail)"
        }
    }
}
