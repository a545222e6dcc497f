import HTTPTypes

/// Refuses requests without TLS unless their service allows them (``PlainHTTPPolicy``), and upgrades those to hosts that require TLS
/// (RFC 6797).
///
/// It is below redirecting, so that it sees every hop. Bodies pass unchanged.
struct SecuringStage: RequestStage {
    private let hosts: StrictTransport

    init(_ hosts: StrictTransport) { self.hosts = hosts }

    var step: FlightStep { .stage(.securing) }
    var endsInTime: Bool { true }

    func respond(
        to request: Request, in flight: Flight, next: RequestPipeline.Rest
    ) async throws(NetworkError) -> Response {
        let settings = flight.configuration.settings
        var request = request
        let origin = Origin(request.head)
        if origin.scheme == "http" {
            if settings.remembersStrictTransport, hosts.requiresTLS(origin.host, at: flight.clock.date) {
                flight.note(SecuringDecision.upgraded)
                request.head.scheme = "https"
                // Port 80 becomes the default port of TLS; any other stays (RFC 6797 §8.3).
                if origin.port == 80 { request.head.authority = origin.host }
            } else if !origin.isLoopback {
                guard settings.plainHTTP == .allowed else {
                    throw NetworkError(
                        .invalidConfiguration, in: step,
                        "The request would go to \(origin.host) without TLS, which the service does not allow.",
                        sending: .notSent)
                }
                flight.note(SecuringDecision.plain)
            }
        }
        let response = try await next.send(request, in: flight)
        if settings.remembersStrictTransport, request.head.scheme == "https",
            let field = response.head.headerFields[values: .strictTransportSecurity].first
        {
            hosts.store(field, of: origin.host, at: flight.clock.date)
        }
        return response
    }
}
