/// Follows redirects (RFC 9110 §15.4), at most ten in one call.
///
/// After 303, and after 301 or 302 to a POST, the next request is a GET without a body. 307 and 308 preserve the method
/// and the body. HTTPS never falls back to plain HTTP, and only `http` and `https` are followed.
///
/// Another origin receives only header fields that do not identify the sender, and no fields that may authenticate the
/// request (RFC 9110 §15.4, RFC 6454). It also does not receive the body of merged requests, which contains their
/// header fields.
///
/// A redirect that can't be followed is returned unchanged. So is a redirect to a request that was already sent with
/// the same fields, cookies and body: it would redirect again, or repeat a change. Bodies pass unchanged. If a body
/// can't be sent twice, a redirect that preserves the method is not followed.
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
