/// The result of a call that may be stored instead of sent: ``NetworkLayer/submit(_:options:)`` returns it.
public enum Submission: Sendable {
    /// The server has responded.
    case response(RawData)
    /// The call is stored, and is sent when that is possible.
    case queued(QueuedChange)
}
