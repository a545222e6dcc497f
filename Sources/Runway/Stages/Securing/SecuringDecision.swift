/// What was decided for a request without TLS.
package enum SecuringDecision: StageDecision, Equatable {
    /// It is sent over TLS, since its host requires that (RFC 6797).
    case upgraded
    /// It is sent without TLS, as the service allows.
    case plain

    package static var step: FlightStep { .securing }

    package var entry: DecisionRecord {
        switch self {
        case .upgraded: .init("upgraded", "over TLS, as the host requires")
        case .plain: .init("sentWithoutTLS", "without TLS, as the service allows")
        }
    }
}
