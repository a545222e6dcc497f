/// The result of a call that is either sent or stored to be sent later. ``NetworkLayer/submit(_:options:)`` returns it.
public enum Submission: Sendable {
    /// The server responded to the call.
    case response(RawData)
    /// The call is stored. The queue sends it as soon as possible.
    case queued(QueuedChange)
}
