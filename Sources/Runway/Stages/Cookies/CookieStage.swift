import HTTPTypes

/// Sends and keeps cookies for services that want them (``CookiePolicy``).
///
/// It stands below redirecting, so that every hop gets its own, and above signing, which may cover them. A cache above it does not see what
/// it sends: by the rules of HTTP an answer that varies by `Cookie` is not kept then (RFC 9111 §4.1); by the client's own time it is kept as
/// if none had been sent. Cookies inside merged answers are not looked at. Bodies pass untouched.
struct CookieStage: RequestStage {
    var step: FlightStep { .stage(.cookies) }
    var endsInTime: Bool { true }

    func respond(
        to request: Request, in flight: Flight, next: RequestPipeline.Rest
    ) async throws(NetworkError) -> Response {
        guard case .jar(let domains) = flight.configuration.settings.cookies else {
            return try await next.send(request, in: flight)
        }
        let jars = flight.layer.cookieJars
        var request = request
        if request.head.headerFields[.cookie] == nil {
            let (head, date) = (request.head, flight.clock.date)
            if let field = jars.withJar(of: flight, { $0.field(for: head, at: date) }) ?? nil {
                // Assigned by its name, it would be taken apart, which HTTP/1.1 does not allow (RFC 6265bis §5.8.1).
                request.head.headerFields.append(HTTPField(name: .cookie, value: field.octets))
                flight.note(CookieDecision.sent(field.count))
            }
        }
        let response = try await next.send(request, in: flight)
        let fields = response.head.headerFields[fields: .setCookie].map(\.octets)
        if !fields.isEmpty {
            let (head, date) = (request.head, flight.clock.date)
            let kept =
                jars.withJar(of: flight) { jar in
                    fields.count { jar.keep($0, from: head, sharing: domains, at: date) }
                } ?? 0
            if kept > 0 { flight.note(CookieDecision.kept(kept)) }
            if kept < fields.count { flight.note(CookieDecision.ignored(fields.count - kept)) }
        }
        return response
    }
}

extension Request {
    /// Whether a jar may add cookies to this on its way down, which nothing above ``CookieStage`` sees.
    func mayGetCookies(in flight: Flight) -> Bool {
        if case .jar = flight.configuration.settings.cookies { head.headerFields[.cookie] == nil } else { false }
    }
}
