import HTTPTypes

/// Adds to a request the access token of the account that was signed in when its call started.
///
/// A token that expires soon, or that the service refuses, is renewed only once for all calls that need it. Each call
/// waits until its own deadline or cancellation, and continues with the new token. A refused request is sent again
/// once. A second refusal makes the call fail as ``NetworkError/Kind/needsAccessToken``.
///
/// If the service refuses to renew the token, all waiting calls fail as ``NetworkError/Kind/needsLogin``, and the app
/// is notified once. If the network or the server fails, the calls fail with that error, and the token stays. Both
/// errors name the failed request of the renewal.
///
/// If one endpoint refuses tokens that other endpoints accept, the renewals that it causes are limited. The first two
/// are at least 1 s apart, and the interval doubles up to 60 s. In between, its refusals are returned unchanged. Bodies
/// pass unchanged. If a body can't be sent twice, its call ends when the token is refused.
struct AuthorizingStage: RequestStage {
    private let tokens: AccessTokens
    private let admission: AdmissionControl

    init(_ tokens: AccessTokens, _ admission: AdmissionControl) {
        self.tokens = tokens
        self.admission = admission
    }

    var step: FlightStep { .authorizing }
    /// `true`: a wait for a renewal ends at the call's deadline and when the task is cancelled.
    var endsInTime: Bool { true }

    func handles(_ request: Request, in flight: Flight) -> Bool { flight.authorization != .none }

    func respondImmediately(_ draft: inout RequestDraft, in flight: Flight) throws(NetworkError) -> ImmediateResponse {
        .pass
    }

    func respond(
        to request: Request, in flight: Flight, next: RequestPipeline.Rest
    ) async throws(NetworkError) -> Response {
        let policy = flight.authorization
        guard let credentials = flight.service.credentials else {
            throw NetworkError(
                .invalidConfiguration, in: step,
                "\(flight.endpoint.name) carries an access token, and the service \(flight.service.name) has no credentials."
            )
        }
        // The signed-in account could not be read. Its calls must not be sent without a token, and must not ask the
        // user to log in.
        if flight.account == nil, let problem = flight.configuration.accountProblem { throw problem }
        if policy == .ifSignedIn, flight.account == nil { return try await sendUnsigned(request, in: flight, next) }
        guard !flight.renewing.contains(ObjectIdentifier(flight.service)) else {
            throw NetworkError(
                .invalidConfiguration, in: step,
                "The refresh of the access token of \(flight.service.name) called \(flight.endpoint.name), which needs that "
                    + "token itself: set its authorization to none.")
        }
        let first = try await token(for: flight, credentials)
        let response = try await send(request, with: first, credentials, in: flight, next)
        // A redirect to another origin carries no token, so the server there can't have refused one (RFC 9110 §15.4).
        if response.hasChangedOrigin(since: request) { return response }
        if response.verdict == .loginNeeded { demandLogin(of: flight, first) }
        if response.verdict == .fine { first.acceptance.accept() }
        guard response.verdict == .tokenRefused else { return response }

        flight.note(AuthorizingDecision.refused)
        guard tokens.markRefused(first, in: flight) else {
            flight.note(AuthorizingDecision.renewedTooOften)
            return response
        }
        guard request.body.isReplayable else {
            throw NetworkError(
                .needsAccessToken, in: step,
                "The access token was refused, and the body of the request can't be sent a second time.",
                status: response.head.status)
        }
        let cause = RetryCause.status(response.head.status.code)
        guard !response.hasChangedMethod || flight.retryPolicy.allows(request, after: cause) else {
            var error = NetworkError(
                .needsAccessToken, in: step,
                "The access token was refused after a redirect; the redirected request may have taken effect and is not sent again.",
                status: response.head.status)
            error.followsProcessedRequest = true
            throw error
        }
        let (second, last) = try await resend(request, after: response, credentials, in: flight, next)
        if last.hasChangedOrigin(since: request) { return last }
        if last.verdict == .loginNeeded { demandLogin(of: flight, second) }
        if last.verdict == .tokenRefused {
            flight.note(AuthorizingDecision.refusedAgain)
            tokens.markRefused(second, in: flight)
        } else if last.verdict == .fine {
            tokens.markAccepted(second, in: flight)
        }
        return last
    }

    /// Sends a request without a token, because no account is signed in.
    private func sendUnsigned(
        _ request: Request, in flight: Flight, _ next: RequestPipeline.Rest
    ) async throws(NetworkError) -> Response {
        flight.note(AuthorizingDecision.unsigned)
        var response = try await next.send(request, in: flight)
        if response.hasChangedOrigin(since: request) { return response }
        // No token was sent. So the service requires a login, even if it only responded with 401.
        if response.verdict == .tokenRefused { response.verdict = .loginNeeded }
        if response.verdict == .loginNeeded { _ = tokens.needsLogin("", TokenIdentity(flight), [flight], ifVersion: 0) }
        return response
    }

    /// Sends a request with a new token, after its token was refused.
    ///
    /// - Throws: An error whose ``NetworkError/sending`` also covers the refused request, which the server received.
    private func resend(
        _ request: Request, after refused: Response, _ credentials: any Credentials, in flight: Flight,
        _ next: RequestPipeline.Rest
    ) async throws(NetworkError) -> (token: HeldToken, response: Response) {
        do throws(NetworkError) {
            let token = try await token(for: flight, credentials)
            flight.note(AuthorizingDecision.replayed)
            var response = try await send(request, with: token, credentials, in: flight, next)
            if refused.followsProcessedRequest { response.followsProcessedRequest = true }
            return (token, response)
        } catch {
            var error = error
            error.sending = .sent
            if refused.followsProcessedRequest { error.followsProcessedRequest = true }
            throw error
        }
    }

    /// Returns the token for a call. While the call waits for a token, it releases its concurrency slot.
    private func token(for flight: Flight, _ credentials: any Credentials) async throws(NetworkError) -> HeldToken {
        if let held = try tokens.heldToken(for: flight) { return held }
        return try await admission.releasingSlot(of: flight) { () async throws(NetworkError) in
            try await tokens.renewedToken(for: flight, credentials)
        }
    }

    private func send(
        _ request: Request, with held: HeldToken, _ credentials: any Credentials, in flight: Flight,
        _ next: RequestPipeline.Rest
    ) async throws(NetworkError) -> Response {
        var authorized = request
        let added = credentials.fields(setBy: held.token, in: &authorized)
        flight.recorder.addSecrets(
            added, credentials.secrets(of: held.token), isBodySecret: !authorized.body.isSame(as: request.body))
        var response = try await next.send(authorized, in: flight)
        // A response that stays open may outlast the token, so it states when the token should be renewed. After a
        // redirect to another origin, no token was sent.
        if flight.options.isLongLived, !response.hasChangedOrigin(since: request) {
            response.tokenRenewalWindow = held.renewalWindow
        }
        return response
    }

    /// Handles a response in which the service demands a login. The token stays, because other calls may still use it.
    private func demandLogin(of flight: Flight, _ held: HeldToken) {
        // If the token is older than a sign-in, the response says nothing about the current token.
        _ = tokens.needsLogin("", TokenIdentity(flight), [flight], ifVersion: held.version)
    }
}
