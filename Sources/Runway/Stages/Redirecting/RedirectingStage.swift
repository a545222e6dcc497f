/// Follows redirects (RFC 9110 §15.4), at most ten of them.
///
/// After 303, and after 301 or 302 to a POST, the next request is a GET without a body; 307 and 308 keep method and
/// body. HTTPS never falls back to plain HTTP, and only `http` and `https` are followed.
///
/// Another origin receives only header fields that do not identify the sender, and none that may authenticate the
/// request (RFC 9110 §15.4, RFC 6454). Nor does it receive the body of an envelope, which contains the fields of its
/// items.
///
/// A redirect that can't be followed is returned unchanged. So is one to a request that was sent already, with the same
/// fields, cookies and body: it would lead there again, or repeat a change. Bodies pass unchanged; a body that can't be
/// sent twice ends the chain at a redirect that keeps the method.
struct RedirectingStage: RequestStage {
    var step: FlightStep { .redirecting }
    var endsInTime: Bool { true }

    func respond(
        to request: Request, in flight: Flight, next: RequestPipeline.Rest
    ) async throws(NetworkError) -> Response {
        var response = try await next.send(request, in: flight)
        if response.verdict == .redirected { try await next.follow(&response, to: request, in: flight) }
        return response
    }
}
