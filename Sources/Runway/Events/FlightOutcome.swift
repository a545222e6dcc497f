/// What became of a call. Every call has exactly one.
public enum FlightOutcome: Sendable {
    /// It landed with an answer.
    case succeeded
    /// It landed with an error.
    case failed(NetworkError)
    /// It was cancelled, by its caller or because its manager went away.
    case cancelled
    /// A later call of its manager took its place.
    case replaced
    /// It was not made, because another call of its manager flew.
    case ignored(running: FlightID)
    /// An interceptor did not let it take off, or did not let it land.
    case vetoed
    /// The service answered with an error that does not concern business code.
    case absorbed(ServiceError)

    /// The outcome in one word, as metrics and lists name it.
    public var name: String {
        switch self {
        case .succeeded: "succeeded"
        case .failed: "failed"
        case .cancelled: "cancelled"
        case .replaced: "replaced"
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

    /// Whether `lhs` took off before `rhs`.
    public static func < (lhs: FlightID, rhs: FlightID) -> Bool { lhs.number < rhs.number }
}
