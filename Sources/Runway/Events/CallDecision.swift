/// A decision that the call's manager makes about a call, before or after the stages run. If the call has no manager,
/// the layer makes the decision.
package enum CallDecision: StageDecision, Equatable {
    /// An interceptor vetoed the call before it started.
    case vetoedBeforeCall
    /// An interceptor, or the endpoint, vetoed the delivery of a response to the app.
    case vetoedSuccess
    /// An interceptor, or the endpoint, vetoed the delivery of the stale response that precedes the fresh response.
    case vetoedProvisional
    /// An interceptor, or the endpoint, vetoed the delivery of a failure to the app.
    case vetoedFailure
    /// The manager cancelled this many of its other calls in favour of this call.
    case replacedRunning(Int)
    /// The account of the call is no longer signed in, so the manager does not deliver the result of the call.
    case accountChanged
    /// The call repeats the failed call with this number. That failure may have been temporary.
    case resumed(FlightID)
    /// The response was delivered to the app before `load` returned.
    case landedImmediately
    /// A reformer threw an error.
    indirect case reformingFailed(reformer: String, detail: String)

    package static var step: FlightStep { .landing }

    package var entry: DecisionRecord {
        switch self {
        case .vetoedBeforeCall: .init("vetoed", ["hook": "call"], "an interceptor vetoed the call")
        case .vetoedSuccess: .init("vetoed", ["hook": "success"], "a hook vetoed the success")
        case .vetoedProvisional: .init("vetoed", ["hook": "provisional"], "a hook vetoed the stale response")
        case .vetoedFailure: .init("vetoed", ["hook": "failure"], "a hook vetoed the failure")
        case .replacedRunning(let count): .init("replaced", ["count": count], "replaced \(count) calls in flight")
        case .accountChanged: .init("accountChanged", "not landed: its account has signed out")
        case .resumed(let flight): .init("resumed", ["flight": flight], "makes \(flight) again")
        case .landedImmediately: .init("landedImmediately", "landed before load returned")
        case .reformingFailed(let reformer, let detail):
            .init("reformingFailed", ["reformer": reformer, "detail": detail], "\(reformer) failed: \(detail)")
        }
    }
}
