extension NetworkLayer {
    /// Signs an account in to a service, in the environment that the service is in.
    ///
    /// Later calls, also those of the next launch if the layer's ``TokenStore`` stores the token, are made as this
    /// account and with this token. Calls that wait for a renewal of the account's last token continue with this token.
    /// Calls of an account that was signed in before continue as that account's, and its token stays stored; no manager
    /// lands them. Calls that were made while no account was signed in continue, but no longer send or set cookies.
    ///
    /// - Throws: ``NetworkError/Kind/invalidParameters`` if the token can't be sent; ``NetworkError/Kind/storage`` if
    ///   the token could not be stored, or not within 10 s; ``NetworkError/Kind/cancelled`` if the task is cancelled
    ///   while the token is being stored. In the latter two cases the token is nevertheless in use until the app ends.
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
            // If the account signed out meanwhile, the sign-out ended that session, and the account signs in to a new
            // one.
        } while accountWrite == nil
        servicesDidChange()
        if let held = change?.held {
            tokens.renewals.end(TokenRenewal(identity: identity, session: session), with: .success(held))
        }
        try await settle([change?.write, accountWrite], "The access token is in use, but could not be stored")
    }

    /// Signs out of a service, in the environment that the service is in: removes the account's token, cookies and
    /// cached responses.
    ///
    /// Cookies that were set while no account was signed in are removed, too, since a login may have set them. Calls
    /// that were made while no account was signed in, and that are still in flight, set no cookies afterwards.
    ///
    /// The sign-out takes effect at one instant. After it, no earlier call of the account sets a cookie, stores a token
    /// or a cached response, or is landed by a manager, and no call of a later sign-in shares a request with an earlier
    /// call. Does nothing if no account is signed in.
    ///
    /// When the function returns, the account's responses are removed from disk, too, unless the disk fails, takes
    /// longer than ``ResponseCache/maximumFlushWait``, or the task is cancelled. A removal that failed is repeated in
    /// this run.
    ///
    /// - Parameters:
    ///   - service: The service.
    ///   - cancelsCalls: Whether the account's calls are cancelled. They fail as ``NetworkError/Kind/cancelled``, and
    ///     so do their streamed bodies. The default is `true`. With `false`, calls in flight continue and return to
    ///     their callers; they neither send nor store cookies any more, and a call that still needs the access token
    ///     fails as ``NetworkError/Kind/needsLogin``.
    /// - Throws: ``NetworkError/Kind/storage`` if the token could not be removed from its store, or not within 10 s;
    ///   ``NetworkError/Kind/cancelled`` if the task is cancelled while it is being removed. In both cases the token is
    ///   not used again until the app ends.
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
        // An app that ends from here on leaves no response of the account.
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

    /// The functions of the layer that its tokens use. They work as long as the layer exists.
    var tokenOwner: AccessTokens.Owner {
        AccessTokens.Owner { [weak self] credentials, token in
            guard let self else { throw NetworkError.cancelled(in: .authorizing) }
            return try await credentials.refresh(token, on: self)
        } askForLogin: { [weak self] identity, flights in
            if let self { NeedsLogin(identity, flights, on: self).post() }
        }
    }

    /// Waits until changes of the store are made.
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
