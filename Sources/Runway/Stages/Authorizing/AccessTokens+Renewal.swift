import HTTPTypes

extension AccessTokens {
    /// Returns the token in memory for a call, or `nil` if the token must be loaded or renewed.
    ///
    /// - Throws: ``NetworkError/Kind/needsLogin`` if no account is signed in.
    func heldToken(for flight: Flight) throws(NetworkError) -> HeldToken? {
        if let held = usableToken(for: flight) { return held }
        let identity = TokenIdentity(flight)
        if identity.account != nil { return nil }
        let advice =
            "call signIn(_:to:), or set the account of its ServiceSettings; a public call has the authorization none."
        throw needsLogin(
            "Nobody is signed in to \(flight.service.name): \(advice)", identity, [flight], ifVersion: 0)
    }

    /// Waits until the token of a call is loaded from the store or renewed by the service. All calls that need the
    /// token share the wait.
    ///
    /// - Throws: ``NetworkError/Kind/needsLogin`` if there is no token; the error of a failed renewal.
    func renewedToken(for flight: Flight, _ credentials: any Credentials) async throws(NetworkError) -> HeldToken {
        let identity = TokenIdentity(flight)
        let key = TokenRenewal(identity: identity, session: flight.session)
        switch try renewals.enter(key, for: flight, endsInTime: false) {
        case .finished(let outcome, _): return try outcome.get()
        case .follower(let lease, let leader):
            flight.note(AuthorizingDecision.waited(for: leader.id))
            return try await renewals.follow(lease)
        case .leader(let lease):
            return try await renewals.lead(lease) { () async throws(NetworkError) in
                SharedWork.Completion(value: try await self.renew(identity, lease.work, flight, credentials))
            }
        }
    }

    /// Returns the error of calls that need a login, and notifies the app. The app is not notified in three cases: it
    /// was notified before, the account of the calls is no longer signed in, or the token has another version than
    /// `version`.
    func needsLogin(
        _ detail: String, _ identity: TokenIdentity, _ flights: [Flight], ifVersion version: UInt64,
        underlying: (any Error)? = nil
    ) -> NetworkError {
        let concerned = flights.flatMap(\.flightsSharingRequest)
        if let flight = flights.first, flight.belongsToCurrentSession,
            beginsAskingForLogin(identity, in: flight.session, ifVersion: version)
        {
            for flight in flights { flight.note(AuthorizingDecision.askedForLogin) }
            owner?.askForLogin(identity, concerned)
        }
        return NetworkError(.needsLogin, in: .authorizing, detail, underlying: underlying)
    }

    /// Loads the token if it is not in memory, and requests a new one if necessary.
    private func renew(
        _ identity: TokenIdentity, _ number: UInt64, _ flight: Flight, _ credentials: any Credentials
    ) async throws(NetworkError) -> HeldToken {
        let limit = min(max(credentials.refreshDeadline, .zero), .seconds(86_400))
        let timeout = timer.schedule(at: flight.clock.now + limit) { [renewals] in
            let late = NetworkError(
                .timedOut, in: .authorizing, "The access token was not renewed within \(limit.text).")
            renewals.end(number, with: .failure(late))
        }
        defer { timer.remove(timeout) }
        if case .unknown = knowledge(of: identity).knowledge { try await load(for: flight, credentials) }
        // The state must be read in one step. If a sign-in happened between two reads, its new token would be renewed
        // instead of the refused one.
        let (usable, knowledge, version) = tokenState(for: flight)
        if let usable { return usable }
        guard !flight.session.isOver, case .held(let old) = knowledge else {
            let detail = "No access token is stored for \(identity.account ?? "nobody") for \(flight.service.name)."
            throw needsLogin(detail, identity, renewals.flights(waitingFor: number), ifVersion: version)
        }
        if let delay = renewalDelay(of: identity) {
            throw NetworkError(
                .needsAccessToken, in: .authorizing,
                "\(flight.service.name) refuses access tokens that it has just issued; the next renewal is possible in \(delay.text)."
            )
        }
        flight.note(AuthorizingDecision.beganRenewal)
        do {
            guard let owner else { throw NetworkError.cancelled(in: .authorizing) }
            var token = try await RenewalScope.run(for: flight) {
                try await owner.refresh(credentials, old.token)
            }
            guard token.isUsable, token.account == old.token.account else { throw InvalidToken() }
            if token.refreshToken == nil { token.refreshToken = old.token.refreshToken }
            return try await take(token, identity, version, flight, credentials)
        } catch {
            // A sign-in has set a valid token in the meantime, so the outcome of this renewal has no effect.
            if let newer = usableToken(for: flight), newer.version != old.version { return newer }
            throw failure(error, identity, old, number, flight, credentials)
        }
    }

    private func take(
        _ token: AccessToken, _ identity: TokenIdentity, _ version: UInt64, _ flight: Flight,
        _ credentials: any Credentials
    ) async throws -> HeldToken {
        guard
            let (held, write) = hold(
                token, of: identity, in: flight.session, leeway: credentials.leeway, clock: flight.clock,
                renewing: version)
        else {
            // An account signed in or out in the meantime. The sign-in or sign-out has resumed the waiters, so the
            // outcome comes too late.
            throw NetworkError.cancelled(in: .authorizing)
        }
        flight.note(AuthorizingDecision.renewed)
        guard let write else { return held }
        do { try await settle(write) } catch { flight.note(AuthorizingDecision.notSaved(error.redactedDescription)) }
        return held
    }

    /// Returns the error for all calls that wait for a failed renewal.
    private func failure(
        _ error: any Error, _ identity: TokenIdentity, _ old: HeldToken, _ number: UInt64, _ flight: Flight,
        _ credentials: any Credentials
    ) -> NetworkError {
        let known = error as? NetworkError
        flight.note(AuthorizingDecision.notRenewed(known?.kind ?? .needsLogin))
        if var known, known.leavesTokenValid {
            // No waiter was cancelled, so the renewal has cancelled itself.
            if known.kind == .cancelled { known.kind = .needsAccessToken }
            // The step shows that the error says nothing about the host of the waiting calls. It is therefore no reason
            // to retry them.
            known.step = .authorizing
            return known
        }
        let isRefused = credentials.isRefusal(error)
        var secrets = FlightSecrets()
        secrets.add([], credentials.secrets(of: old.token))
        // The text of a foreign error may contain secrets, so only its type is used.
        let reason = known.map { secrets.masked($0.detail) } ?? "\(type(of: error))"
        var needed = needsLogin(
            "The access token was not renewed, the user has to log in: \(reason)", identity,
            renewals.flights(waitingFor: number), ifVersion: old.version, underlying: known == nil ? nil : error)
        if let known {
            // The error itself has no status. Callers such as an action log would take the status of the renewal for
            // the status of their own call.
            (needed.request, needed.host) = (known.request.map { secrets.masked($0) }, known.host)
            needed.attempt = known.attempt
        }
        if isRefused { drop(identity, ifVersion: old.version) }
        return needed
    }
}

/// Thrown if a refresh returned a token that can't be sent or that belongs to another account.
private struct InvalidToken: Error {}

extension NetworkError {
    /// Whether a refresh failed for a reason that says nothing about the token: no network, a server failure, a
    /// timeout, a missing or refused signature, or a user who declined to log in.
    fileprivate var leavesTokenValid: Bool {
        if step == .signing { return true }
        switch outlook.obstacle {
        case .login, .unreadable: return false
        case .refused, .conflict, .executed: return status?.kind == .serverError
        default: return true
        }
    }
}

extension TokenIdentity {
    init(_ flight: Flight) {
        self.init(service: flight.service, environment: flight.environment, account: flight.account)
    }
}
