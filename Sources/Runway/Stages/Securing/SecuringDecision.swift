/// What was decided about a request without TLS.
public enum SecuringDecision: FlightDecision, Equatable {
    /// It is sent over TLS, since its host said that it wants that (RFC 6797).
    case upgraded
    /// It is sent without TLS, as the service allows.
    case plain

    /// The step.
    public static var step: FlightStep { .stage(.securing) }

    /// What was decided, as a log shows it.
    public var description: String {
        switch self {
        case .upgraded: "over TLS, as the host wants it"
        case .plain: "without TLS, as the service allows"
        }
    }
}
