import Synchronization

/// The configurations of a layer's services, and the sessions of their accounts.
///
/// One lock guards both, so that the account of a service changes at the same time as its last session ends.
final class ServiceConfigurations: Sendable {
    private struct Entry {
        var configuration: ServiceConfiguration
        /// The session for calls that are made while no account is signed in.
        var anonymous: AccountSession
        /// The sessions that have not ended, by account. The references are weak. Calls, configurations and tokens in
        /// memory retain the sessions, which limits their number.
        var sessions: [String: WeakSession] = [:]

        /// Returns the account's session if it has not ended; otherwise creates a session.
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
    /// Guards the settings of the services, and their signed-in accounts.
    private let entries = Mutex<[ObjectIdentifier: Entry]>([:])

    init(_ accounts: SignedInAccounts) { self.accounts = accounts }

    /// The transports of services that do not use the layer's transport.
    var transports: [any Transport] {
        entries.withLock { $0.values.compactMap(\.configuration.settings.transport) }
    }

    /// Returns the current configuration of a service. If the last signed-in account could not be restored before,
    /// tries again.
    func configuration<Service: APIService>(of service: Service.Type) -> ServiceConfiguration {
        let key = ObjectIdentifier(service)
        let known = entries.withLock { $0[key]?.configuration }
        if let known, known.accountProblem == nil { return known }
        // The settings are created outside the lock, because a service's declaration and a token store are the app's
        // code. If two threads create them at the same time, the first result is used.
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

    /// Changes the settings of a service. If another thread changes the settings at the same time, `change` may run
    /// again.
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

    /// Restores the account that was signed in to a service when the app ended, for the environment in the settings.
    ///
    /// - Returns: The reason why the account can't be read; `nil` if it was read.
    private func restoreAccount(
        of service: any APIService.Type, in settings: inout ServiceSettings
    ) -> NetworkError? {
        let stored = accounts.restored(service.name, settings.environment.name)
        settings.restore(account: (try? stored.get()) ?? nil)
        return if case .failure(let error) = stored { error } else { nil }
    }

    /// Returns the account's session if it has not ended; otherwise creates a session.
    func session<Service: APIService>(of account: String?, at service: Service.Type) -> AccountSession {
        _ = configuration(of: service)
        return entries.withLock { $0[ObjectIdentifier(service)]?.session(of: account) }
            ?? AccountSession(account: account)
    }

    /// Uses an account's session for later calls, and stores the account for the next launch.
    ///
    /// - Returns: The pending change of the token store, or `nil` if the session has ended.
    func enter<Service: APIService>(
        _ session: AccountSession, of service: Service.Type
    ) -> Task<Result<Void, any Error>, Never>? {
        var write: Task<Result<Void, any Error>, Never>?
        while !session.isOver {
            let known = configuration(of: service)
            var settings = known.settings
            settings.account = session.account
            let changed = ServiceConfiguration(settings, of: service, in: session)
            // The next anonymous session must be a new one, so that the app can be notified of a needed login again.
            if replace(
                known, by: changed, anonymous: AccountSession(account: nil), then: { write = storeAccount(of: changed) }
            ) {
                return write
            }
        }
        return nil
    }

    /// Ends the session of the account that is signed in to a service. At the next launch no account is signed in.
    /// Returns `nil` if no account was signed in.
    ///
    /// - Returns: The configuration of earlier calls, and the pending change of the token store.
    func leave<Service: APIService>(
        _ service: Service.Type, cancellingCalls: Bool
    ) -> (configuration: ServiceConfiguration, write: Task<Result<Void, any Error>, Never>?)? {
        var write: Task<Result<Void, any Error>, Never>?
        while true {
            let known = configuration(of: service)
            // If the account could not be read, the sign-out also prevents it from being restored later.
            guard known.settings.account != nil || known.accountProblem != nil else { return nil }
            var settings = known.settings
            settings.account = nil
            // The account may have been set without a sign-in, so the last anonymous session may not have ended.
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

    /// Stores the signed-in account for the next launch. Must be called under the lock, so that changes reach the store
    /// in order.
    private func storeAccount(of changed: ServiceConfiguration) -> Task<Result<Void, any Error>, Never> {
        accounts.store(changed.settings.account, changed.service.name, changed.settings.environment.name)
    }

    /// Replaces a configuration. Returns `false` if the old configuration is no longer in use, or if the session of the
    /// new configuration has ended.
    private func replace(
        _ known: ServiceConfiguration, by changed: ServiceConfiguration, anonymous: AccountSession? = nil,
        ending ended: AccountSession? = nil, cancellingCalls: Bool = false, then store: () -> Void = {}
    ) -> Bool {
        entries.withLock { entries in
            let key = ObjectIdentifier(known.service)
            guard entries[key]?.configuration === known, !changed.session.isOver else { return false }
            entries[key]?.configuration = changed
            if let anonymous {
                // If the anonymous session did not end here, one of its calls could set a cookie later. That cookie
                // would outlive the sign-out, which clears the anonymous cookies.
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

/// Reads and stores the account that is signed in to a service. The names of the service and its environment identify
/// the stored account, which is in the access token store.
struct SignedInAccounts: Sendable {
    /// Returns the account that was signed in when the app ended, or `nil` if none was signed in. Returns immediately.
    let restored: @Sendable (_ service: String, _ environment: String) -> Result<String?, NetworkError>
    /// Stores the account for the next launch, after all earlier changes. Returns immediately, with the pending change.
    let store:
        @Sendable (_ account: String?, _ service: String, _ environment: String) -> Task<Result<Void, any Error>, Never>
}
