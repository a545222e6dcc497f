import Synchronization

/// The configurations of a layer's services, and the sessions of their accounts.
///
/// The account of a service and the end of its last session change together, under one lock.
final class ServiceConfigurations: Sendable {
    private struct Entry {
        var configuration: ServiceConfiguration
        /// The session of calls that are made while no account is signed in.
        var anonymous: AccountSession
        /// The sessions that are not over, by account. They are weak: calls, configurations and tokens in memory hold
        /// them, which limits their number.
        var sessions: [String: WeakSession] = [:]

        /// Returns the session of an account that has not ended, or a new one.
        mutating func session(of account: String?) -> AccountSession {
            guard let account else { return anonymous }
            if let session = sessions[account]?.session { return session }
            let session = AccountSession(account: account)
            sessions = sessions.filter { $0.value.session != nil }
            sessions[account] = WeakSession(session: session)
            return session
        }
    }

    private struct WeakSession {
        weak var session: AccountSession?
    }

    private let accounts: SignedInAccounts
    /// Guards the settings of the services and the accounts that are signed in to them.
    private let entries = Mutex<[ObjectIdentifier: Entry]>([:])

    init(_ accounts: SignedInAccounts) { self.accounts = accounts }

    /// The transports of services that have their own.
    var transports: [any Transport] {
        entries.withLock { $0.values.compactMap(\.configuration.settings.transport) }
    }

    /// Returns the configuration for calls that are made now. If the account that was signed in at the app's last end
    /// could not be read, it is read again.
    func configuration<Service: APIService>(of service: Service.Type) -> ServiceConfiguration {
        let key = ObjectIdentifier(service)
        let known = entries.withLock { $0[key]?.configuration }
        if let known, known.accountProblem == nil { return known }
        // Created outside the lock, since a service's description and a token store are code of the app. If two are
        // created at once, the first counts.
        var settings = known?.settings ?? ServiceSettings(service)
        let problem = restoreAccount(of: service, in: &settings)
        if let known {
            guard problem == nil else { return known }
            let session = entries.withLock { $0[key]?.session(of: settings.account) } ?? known.session
            _ = replace(known, by: ServiceConfiguration(settings, of: service, in: session))
            return configuration(of: service)
        }
        let anonymous = AccountSession(account: nil)
        let session = settings.account.map { AccountSession(account: $0) } ?? anonymous
        let made = ServiceConfiguration(settings, of: service, in: session, accountProblem: problem)
        var entry = Entry(configuration: made, anonymous: anonymous)
        if let account = settings.account { entry.sessions[account] = WeakSession(session: session) }
        return entries.withLock { [entry] entries in
            if let known = entries[key]?.configuration { return known }
            entries[key] = entry
            return made
        }
    }

    /// Changes the settings of a service. `change` runs again if another change came first.
    func change<Service: APIService>(_ service: Service.Type, _ change: (inout ServiceSettings) -> Void) {
        while true {
            let known = configuration(of: service)
            var settings = known.settings
            change(&settings)
            var problem = settings.isAccountRestored ? known.accountProblem : nil
            if settings.isAccountRestored, settings.environment != known.settings.environment {
                problem = restoreAccount(of: service, in: &settings)
            }
            let isSameAccount = settings.account == known.settings.account
            let session = isSameAccount ? known.session : session(of: settings.account, at: service)
            let changed = ServiceConfiguration(settings, of: service, in: session, accountProblem: problem)
            if replace(known, by: changed) { return }
        }
    }

    /// Sets the account that was signed in to a service when the app ended, in the environment of the settings.
    ///
    /// - Returns: The reason why it can't be read; `nil` if it was.
    private func restoreAccount(
        of service: any APIService.Type, in settings: inout ServiceSettings
    ) -> NetworkError? {
        let stored = accounts.restored(service.name, settings.environment.name)
        settings.restore(account: (try? stored.get()) ?? nil)
        return if case .failure(let error) = stored { error } else { nil }
    }

    /// Returns the session of an account that has not ended, or a new one.
    func session<Service: APIService>(of account: String?, at service: Service.Type) -> AccountSession {
        _ = configuration(of: service)
        return entries.withLock { $0[ObjectIdentifier(service)]?.session(of: account) }
            ?? AccountSession(account: account)
    }

    /// Uses an account's session for later calls, and stores the account for the next launch.
    ///
    /// - Returns: The pending change of the store; `nil` if the session has ended.
    func enter<Service: APIService>(
        _ session: AccountSession, of service: Service.Type
    ) -> Task<Result<Void, any Error>, Never>? {
        var write: Task<Result<Void, any Error>, Never>?
        while !session.isOver {
            let known = configuration(of: service)
            var settings = known.settings
            settings.account = session.account
            let changed = ServiceConfiguration(settings, of: service, in: session)
            // The next anonymous session is a new one, so that the app can be notified of a needed login again.
            if replace(
                known, by: changed, anonymous: AccountSession(account: nil), then: { write = storeAccount(of: changed) }
            ) {
                return write
            }
        }
        return nil
    }

    /// Ends the session of the account that is signed in to a service; returns `nil` if none is. No account is signed
    /// in at the next launch.
    ///
    /// - Returns: The configuration of calls so far, and the pending change of the store.
    func leave<Service: APIService>(
        _ service: Service.Type, cancellingCalls: Bool
    ) -> (configuration: ServiceConfiguration, write: Task<Result<Void, any Error>, Never>?)? {
        var write: Task<Result<Void, any Error>, Never>?
        while true {
            let known = configuration(of: service)
            // An account that can't be read is not restored later either.
            guard known.settings.account != nil || known.accountProblem != nil else { return nil }
            var settings = known.settings
            settings.account = nil
            // The account may have been set without a sign-in, so that the last anonymous session is not over.
            let anonymous = AccountSession(account: nil)
            let changed = ServiceConfiguration(settings, of: service, in: anonymous)
            if replace(
                known, by: changed, anonymous: anonymous, ending: known.session, cancellingCalls: cancellingCalls,
                then: { write = storeAccount(of: changed) })
            {
                return (known, write)
            }
        }
    }

    /// Stores the signed-in account for the next launch. Called under the lock, so that the changes reach the store in
    /// their order.
    private func storeAccount(of changed: ServiceConfiguration) -> Task<Result<Void, any Error>, Never> {
        accounts.store(changed.settings.account, changed.service.name, changed.settings.environment.name)
    }

    /// Replaces a configuration; returns `false` if it is no longer in use, or the session of the new one has ended.
    private func replace(
        _ known: ServiceConfiguration, by changed: ServiceConfiguration, anonymous: AccountSession? = nil,
        ending ended: AccountSession? = nil, cancellingCalls: Bool = false, then store: () -> Void = {}
    ) -> Bool {
        entries.withLock { entries in
            let key = ObjectIdentifier(known.service)
            guard entries[key]?.configuration === known, !changed.session.isOver else { return false }
            entries[key]?.configuration = changed
            if let anonymous {
                // A cookie that an earlier anonymous call sets later would outlive the sign-out that clears the anonymous jar.
                entries[key]?.anonymous.end(cancellingCalls: false)
                entries[key]?.anonymous = anonymous
            }
            if let ended {
                ended.end(cancellingCalls: cancellingCalls)
                if let account = ended.account { entries[key]?.sessions[account] = nil }
            }
            store()
            return true
        }
    }
}
