/// What was decided about a request without TLS.
package enum SecuringDecision: StageDecision, Equatable {
    /// It is sent over TLS, since its host said that it wants that (RFC 6797).
    case upgraded
    /// It is sent without TLS, as the service allows.
    case plain

    package static var step: FlightStep { .stage(.securing) }

    package var entry: DecisionEntry {
        switch self {
        case .upgraded: .init("upgraded", "over TLS, as the host wants it")
        case .plain: .init("sentWithoutTLS", "without TLS, as the service allows")
        }
    }
}
