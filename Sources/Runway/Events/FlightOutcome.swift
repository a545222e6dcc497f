/// What became of a call. Every call has exactly one.
public enum FlightOutcome: Sendable {
    /// It landed with a response.
    case succeeded
    /// It landed with an error.
    case failed(NetworkError)
    /// It was cancelled, by its caller or because its manager was released.
    case cancelled
    /// A later call of its manager replaced it.
    case replaced
    /// It joined an identical call of its manager that was in flight, and whose landing is its own; see ``OverlapPolicy/joinOrReplace``.
    case joined(running: FlightID)
    /// It was not made, because another call of its manager was in flight; see ``OverlapPolicy/ignoreNew``.
    case ignored(running: FlightID)
    /// An interceptor vetoed its start or its landing.
    case vetoed
    /// The service responded with an error that does not concern business code.
    case absorbed(ServiceError)

    /// The outcome in one word, as metrics and lists name it.
    public var name: String {
        switch self {
        case .succeeded: "succeeded"
        case .failed: "failed"
        case .cancelled: "cancelled"
        case .replaced: "replaced"
        case .joined: "joined"
        case .ignored: "ignored"
        case .vetoed: "vetoed"
        case .absorbed: "absorbed"
        }
    }
}

/// The number of a call, counted up from 1 in each layer.
public struct FlightID: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The number.
    public let number: UInt64

    /// The number after `#`.
    public var description: String { "#\(number)" }

    /// Whether `lhs` was made before `rhs`.
    public static func < (lhs: FlightID, rhs: FlightID) -> Bool { lhs.number < rhs.number }
}
