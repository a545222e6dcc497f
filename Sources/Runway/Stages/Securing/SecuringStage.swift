import HTTPTypes

/// Refuses requests without TLS unless their service allows them (``APIService/allowsPlainHTTP``). Upgrades requests to
/// hosts that require TLS (RFC 6797).
///
/// The stage comes after redirecting, so that it handles every hop. Bodies pass unchanged.
struct SecuringStage: RequestStage {
    private let hosts: StrictTransport

    init(_ hosts: StrictTransport) { self.hosts = hosts }

    var step: FlightStep { .securing }
    var endsInTime: Bool { true }

    func handles(_ request: Request, in flight: Flight) -> Bool {
        request.head.scheme != "https" || flight.configuration.settings.remembersStrictTransport
    }

    func respond(
        to request: Request, in flight: Flight, next: RequestPipeline.Rest
    ) async throws(NetworkError) -> Response {
        let configuration = flight.configuration
        let origin = Origin(request.head)
        if origin.scheme == "http" {
            if configuration.settings.remembersStrictTransport,
                hosts.requiresTLS(origin.bareHost, at: flight.clock.date)
            {
                flight.note(SecuringDecision.upgraded)
                var upgraded = request
                upgraded.head.scheme = "https"
                // Port 80 becomes the default port of TLS. Other ports do not change (RFC 6797 §8.3).
                if origin.port == 80 { upgraded.head.authority = origin.host }
                return try await send(upgraded, to: origin.bareHost, in: flight, next)
            }
            if !origin.isLoopback {
                guard configuration.settings.allowsPlainHTTP else {
                    throw NetworkError(
                        .invalidConfiguration, in: step,
                        "The request would go to \(origin.host) without TLS, which the service does not allow: "
                            + "its allowsPlainHTTP is false.",
                        sending: .notSent)
                }
                flight.note(SecuringDecision.plain)
            }
        }
        return try await send(request, to: origin.bareHost, in: flight, next)
    }

    /// Sends a request, and stores whether the host requires TLS (`Strict-Transport-Security`).
    private func send(
        _ request: Request, to host: String, in flight: Flight, _ next: RequestPipeline.Rest
    ) async throws(NetworkError) -> Response {
        let response = try await next.send(request, in: flight)
        if flight.configuration.settings.remembersStrictTransport, request.head.scheme == "https",
            let field = response.head.headerFields[values: .strictTransportSecurity].first
        {
            hosts.store(field, of: host, at: flight.clock.date)
        }
        return response
    }
}

/// A decision about a request without TLS, for the call's record.
package enum SecuringDecision: StageDecision, Equatable {
    /// The request is sent over TLS because its host requires it (RFC 6797).
    case upgraded
    /// The request is sent without TLS, because the service allows it.
    case plain

    package static var step: FlightStep { .securing }

    package var entry: DecisionRecord {
        switch self {
        case .upgraded: .init("upgraded", "over TLS, as the host requires")
        case .plain: .init("sentWithoutTLS", "without TLS, as the service allows")
        }
    }
}
