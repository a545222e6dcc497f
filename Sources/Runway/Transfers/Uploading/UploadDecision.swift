/// A decision of a resumable upload after a response or an interruption, for the call's record.
package enum UploadDecision: StageDecision, Equatable {
    /// The server has this many bytes of the upload, and the rest is sent.
    case resuming(at: Int)
    /// The connection was lost or the server failed. The upload continues after a wait.
    case interrupted(at: Int, wait: Duration, cause: RetryCause)
    /// A circuit is open, so the next request was not sent. The upload continues after this wait, or when the device
    /// has joined another network.
    case heldByCircuit(at: Int, wait: Duration)
    /// The server no longer has the upload, so it is sent from the start.
    case startedOver
    /// The upload is complete, but its response was lost.
    case responseLost

    package static var step: FlightStep { .transporting }

    package var entry: DecisionRecord {
        switch self {
        case .resuming(let at): .init("resumingUpload", ["at": at], "the server has \(at) bytes, sending the rest")
        case .interrupted(let at, let wait, let cause):
            .init(
                "uploadInterrupted", ["at": at, "wait": wait, "cause": cause],
                "\(cause), the server has at least \(at) bytes, asking it in \(wait.text)")
        case .heldByCircuit(let at, let wait):
            .init(
                "uploadHeld", ["at": at, "wait": wait],
                "the circuit is open, the server has at least \(at) bytes, continuing in at most \(wait.text)")
        case .startedOver:
            .init("uploadStartedOver", "starting over: the server no longer has the upload")
        case .responseLost:
            .init("uploadResponseLost", "the server has the whole upload, and its response was lost")
        }
    }
}
