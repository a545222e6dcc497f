extension NetworkLayer {
    /// Signs an account in to a service, in the environment that the service is in.
    ///
    /// Calls that take off from now on are the account's, with this token. Calls that wait for a renewal of the account's last token go
    /// on with this one; those of another account fly on as that account's, whose token stays where it is kept.
    ///
    /// - Throws: ``NetworkError/Kind/invalidParameters`` for a token that can't be sent, and ``NetworkError/Kind/storage`` where
    ///   it can't be kept, or not within ``AuthorizingLimits/storeDeadline``: it is in use all the same, until the app ends. So it is
    ///   where the task is cancelled meanwhile, ``NetworkError/Kind/cancelled``.
    public func signIn<Service: APIService>(
        _ token: AccessToken, to service: Service.Type
    ) async throws(NetworkError) {
        guard token.isUsable else {
            throw NetworkError(
                .invalidParameters, in: .stage(.authorizing),
                "The access token is empty, or has a character that may not stand in a header field.")
        }
        let environment = settings(of: service).environment
        let identity = TokenIdentity(service: service, environment: environment, account: token.account)
        let leeway = service.credentials?.leeway ?? .zero
        let change = tokens.hold(token, of: identity, leeway: leeway, clock: clock, ifVersion: nil)
        tokens.resetAskingForLogin(TokenIdentity(service: service, environment: environment, account: nil))
        configure(service) { $0.account = token.account }
        guard let (held, write) = change else { return }
        tokens.renewals.end(identity, with: .success(held))
        try await settle(write, "The access token is in use, but could not be kept")
    }

    /// Signs out of a service, in the environment that the service is in: forgets the account's token and what is kept for it.
    ///
    /// Calls that wait for a renewal of the token fail as ``NetworkError/Kind/needsLogin``. Those that fly land as the account's. Does
    /// nothing where nobody is signed in.
    ///
    /// - Throws: ``NetworkError/Kind/storage`` where the token could not be removed from its store, or not within
    ///   ``AuthorizingLimits/storeDeadline``: it is not used again until the app ends. Nor is it where the task is cancelled meanwhile,
    ///   ``NetworkError/Kind/cancelled``.
    public func signOut<Service: APIService>(of service: Service.Type) async throws(NetworkError) {
        let settings = settings(of: service)
        guard let account = settings.account else { return }
        let identity = TokenIdentity(service: service, environment: settings.environment, account: account)
        configure(service) { if $0.account == account { $0.account = nil } }
        let write = tokens.drop(identity)
        let signedOut = NetworkError(
            .needsLogin, in: .stage(.authorizing), "\(account) signed out of \(service.name) while the call waited.")
        tokens.renewals.end(identity, with: .failure(signedOut))
        // What is under way lands for those who wait, and is joined by nobody who signs in as the same account again.
        cache.clear(account: account, of: service)
        let owner = CookieJars.Owner(service: ObjectIdentifier(service), account: account)
        cookieJars.withJar(of: owner) { $0.removeAll() }
        guard let write else { return }
        try await settle(write, "The access token is out of use, but could not be removed")
    }

    /// The user was asked to log in to a service and declined: the calls that wait for a renewal of the token fail as
    /// ``NetworkError/Kind/loginCancelled``.
    ///
    /// - Returns: Whether there was a renewal under way.
    @discardableResult
    public func cancelLogin<Service: APIService>(of service: Service.Type) -> Bool {
        let settings = settings(of: service)
        let identity = TokenIdentity(service: service, environment: settings.environment, account: settings.account)
        let declined = NetworkError(
            .loginCancelled, in: .stage(.authorizing), "The user did not log in to \(service.name).")
        return tokens.renewals.end(identity, with: .failure(declined))
    }

    private func settle(
        _ write: Task<Result<Void, any Error>, Never>, _ what: String
    ) async throws(NetworkError) {
        do {
            try await tokens.settle(write)
        } catch is CancellationError {
            throw .cancelled(in: .stage(.authorizing))
        } catch {
            throw NetworkError(.storage, in: .stage(.authorizing), "\(what): \(error.safeText)", underlying: error)
        }
    }
}
