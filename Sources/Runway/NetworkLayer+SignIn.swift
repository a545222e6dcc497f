extension NetworkLayer {
    /// Signs an account in to a service, in the service's current environment.
    ///
    /// Later calls are made as this account and with this token. If the layer's ``TokenStore`` stores the token, this
    /// includes calls of the next launch.
    ///
    /// - Calls of the same account that wait for a renewal of its previous token continue with the new token.
    /// - Calls of a previously signed-in account continue as that account. Its token stays stored, but no manager
    ///   delivers the results of these calls.
    /// - Calls that were made while no account was signed in continue, but no longer send or set cookies.
    ///
    /// - Throws: ``NetworkError/Kind/invalidParameters`` if the token can't be sent; ``NetworkError/Kind/storage`` if
    ///   the token could not be stored within 10 s; ``NetworkError/Kind/cancelled`` if the task is cancelled while the
    ///   token is being stored. In the last two cases the token is in use nevertheless, until the app ends.
    public func signIn<Service: APIService>(
        _ token: AccessToken, to service: Service.Type
    ) async throws(NetworkError) {
        guard token.isUsable else {
            throw NetworkError(
                .invalidParameters, in: .authorizing,
                "The access token is empty, or has a character that is not allowed in a header field.")
        }
        let environment = settings(of: service).environment
        let identity = TokenIdentity(service: service, environment: environment, account: token.account)
        let leeway = service.credentials?.leeway ?? .zero
        var session: AccountSession
        var change: (held: HeldToken, write: TokenStoreQueue.Completion?)?
        var accountWrite: TokenStoreQueue.Completion?
        repeat {
            session = services.session(of: token.account, at: service)
            change = tokens.hold(token, of: identity, in: session, leeway: leeway, clock: clock)
            accountWrite = services.enter(session, of: service)
            // If the account signed out in the meantime, its session has ended, so the account needs a new session.
        } while accountWrite == nil
        servicesDidChange()
        if let held = change?.held {
            tokens.renewals.end(TokenRenewal(identity: identity, session: session), with: .success(held))
        }
        try await settle([change?.write, accountWrite], "The access token is in use, but could not be stored")
    }

    /// Signs out of a service, in the service's current environment. Removes the account's token, cookies and cached
    /// responses.
    ///
    /// Cookies that were set while no account was signed in are removed, too, since a login may have set them. Calls
    /// that were made without an account and are still in flight no longer set cookies.
    ///
    /// The sign-out takes effect at one instant. After it, no earlier call of the account sets a cookie, or stores a
    /// token or a cached response, and no manager delivers the result of such a call. No call after a later sign-in
    /// shares a request with an earlier call. Does nothing if no account is signed in.
    ///
    /// When the function returns, the account's responses have also been removed from disk. The exceptions are a disk
    /// error, a disk that takes longer than ``ResponseCache/maximumFlushWait``, and cancellation of the task. A failed
    /// removal is repeated in this run of the app.
    ///
    /// - Parameters:
    ///   - service: The service.
    ///   - cancelsCalls: Whether the account's calls are cancelled. They and their streamed bodies then fail as
    ///     ``NetworkError/Kind/cancelled``. The default is `true`. With `false`, calls in flight continue and return to
    ///     their callers, but no longer send or store cookies. A call that still needs the access token fails as
    ///     ``NetworkError/Kind/needsLogin``.
    /// - Throws: ``NetworkError/Kind/storage`` if the token could not be removed from its store within 10 s;
    ///   ``NetworkError/Kind/cancelled`` if the task is cancelled while the token is being removed. In both cases the
    ///   token is not used again until the app ends.
    public func signOut<Service: APIService>(
        of service: Service.Type, cancelling cancelsCalls: Bool = true
    ) async throws(NetworkError) {
        guard let (left, accountWrite) = services.leave(service, cancellingCalls: cancelsCalls) else { return }
        servicesDidChange()
        guard let account = left.session.account else {
            return try await settle([accountWrite], "Nobody is signed in any more, but that could not be stored")
        }
        let session = left.session
        let identity = TokenIdentity(service: service, environment: left.settings.environment, account: account)
        let write = tokens.drop(identity, of: session)
        let signedOut = NetworkError(
            .needsLogin, in: .authorizing, "\(account) signed out of \(service.name) while the call waited.")
        tokens.renewals.end(TokenRenewal(identity: identity, session: session), with: .failure(signedOut))
        if cancelsCalls { deadlines.expire { $0.session === session } }
        cache.clear(account: account, of: service)
        // A login that was made while no account was signed in stored its cookies without an account.
        for owner in [account, nil] {
            cookieJars.withJar(of: CookieJars.Owner(service: service, account: owner)) { $0.removeAll() }
        }
        // After the flush, no response of the account remains on disk, even if the app ends.
        await cache.flush()
        try await settle([accountWrite, write], "The access token is not used any more, but could not be removed")
    }

    /// Fails the calls that wait for a renewal of the token as ``NetworkError/Kind/loginCancelled``. Call it if the
    /// user was asked to log in to a service and declined.
    ///
    /// - Returns: Whether a renewal was in progress.
    @discardableResult
    public func cancelLogin<Service: APIService>(of service: Service.Type) -> Bool {
        let configuration = services.configuration(of: service)
        let settings = configuration.settings
        let identity = TokenIdentity(service: service, environment: settings.environment, account: settings.account)
        let declined = NetworkError(
            .loginCancelled, in: .authorizing, "The user did not log in to \(service.name).")
        return tokens.renewals.end(
            TokenRenewal(identity: identity, session: configuration.session), with: .failure(declined))
    }

    /// The functions of the layer that its access tokens use. They have no effect after the layer is released.
    var tokenOwner: AccessTokens.Owner {
        AccessTokens.Owner { [weak self] credentials, token in
            guard let self else { throw NetworkError.cancelled(in: .authorizing) }
            return try await credentials.refresh(token, on: self)
        } askForLogin: { [weak self] identity, flights in
            if let self { NeedsLogin(identity, flights, on: self).post() }
        }
    }

    /// Waits until the token store has made its changes.
    private func settle(
        _ writes: [TokenStoreQueue.Completion?], _ what: String
    ) async throws(NetworkError) {
        do {
            for write in writes { if let write { try await tokens.settle(write) } }
        } catch is CancellationError {
            throw .cancelled(in: .authorizing)
        } catch {
            throw NetworkError(
                .storage, in: .authorizing, "\(what): \(error.redactedDescription)", underlying: error)
        }
    }
}
