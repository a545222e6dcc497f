import Synchronization

/// The configurations of a layer's services, and the sessions of their accounts.
///
/// The account of a service, and whether its last session has ended, change together, under one lock.
final class ServiceConfigurations: Sendable {
    private struct Entry {
        var configuration: ServiceConfiguration
        /// The session of calls that are made while nobody is signed in.
        var anonymous: AccountSession
        /// The sessions that are not over, by account. They are weak: calls, configurations and tokens in memory hold them, which bounds
        /// their number.
        var sessions: [String: WeakSession] = [:]
    }

    private struct WeakSession {
        weak var session: AccountSession?
    }

    /// Guards the settings of the services and the accounts that are signed in to them.
    private let entries = Mutex<[ObjectIdentifier: Entry]>([:])

    /// The transports that services have of their own.
    var transports: [any Transport] {
        entries.withLock { $0.values.compactMap(\.configuration.settings.transport) }
    }

    /// What calls that are made now use.
    func configuration<Service: APIService>(of service: Service.Type) -> ServiceConfiguration {
        let key = ObjectIdentifier(service)
        if let known = entries.withLock({ $0[key]?.configuration }) { return known }
        // Made outside the lock, since a service's description is code of the app; of two that are made at once the first counts.
        let anonymous = AccountSession(account: nil)
        let made = ServiceConfiguration(ServiceSettings(service), of: service, in: anonymous)
        return entries.withLock { entries in
            if let known = entries[key]?.configuration { return known }
            entries[key] = Entry(configuration: made, anonymous: anonymous)
            return made
        }
    }

    /// Changes the settings of a service. `change` runs again if another change came first.
    func change<Service: APIService>(_ service: Service.Type, _ change: (inout ServiceSettings) -> Void) {
        while true {
            let known = configuration(of: service)
            var settings = known.settings
            change(&settings)
            let isSameAccount = settings.account == known.settings.account
            let session = isSameAccount ? known.session : session(of: settings.account, at: service)
            let changed = ServiceConfiguration(settings, of: service, in: session)
            if replace(known, by: changed) { return }
        }
    }

    /// Returns the session of an account: the one that has not ended, or a new one.
    func session<Service: APIService>(of account: String?, at service: Service.Type) -> AccountSession {
        _ = configuration(of: service)
        return entries.withLock { entries in
            let key = ObjectIdentifier(service)
            guard let account else { return entries[key]?.anonymous ?? AccountSession(account: nil) }
            if let session = entries[key]?.sessions[account]?.session { return session }
            let session = AccountSession(account: account)
            var sessions = entries[key]?.sessions.filter { $0.value.session != nil } ?? [:]
            sessions[account] = WeakSession(session: session)
            entries[key]?.sessions = sessions
            return session
        }
    }

    /// Makes an account's session that of the calls from now on.
    ///
    /// - Returns: `false` if the session has ended.
    func enter<Service: APIService>(_ session: AccountSession, of service: Service.Type) -> Bool {
        while !session.isOver {
            let known = configuration(of: service)
            var settings = known.settings
            settings.account = session.account
            let changed = ServiceConfiguration(settings, of: service, in: session)
            // The next anonymous session is a new one, so that the app can be notified of a needed login again.
            if replace(known, by: changed, anonymous: AccountSession(account: nil)) { return true }
        }
        return false
    }

    /// Ends the session of the account that is signed in to a service; `nil` if nobody is.
    ///
    /// - Returns: The configuration of the calls until now.
    func leave<Service: APIService>(_ service: Service.Type, cancellingCalls: Bool) -> ServiceConfiguration? {
        while true {
            let known = configuration(of: service)
            guard known.settings.account != nil else { return nil }
            var settings = known.settings
            settings.account = nil
            // The account may have been set without a sign-in, so that the last anonymous session is not over.
            let anonymous = AccountSession(account: nil)
            let changed = ServiceConfiguration(settings, of: service, in: anonymous)
            if replace(
                known, by: changed, anonymous: anonymous, ending: known.session, cancellingCalls: cancellingCalls)
            {
                return known
            }
        }
    }

    /// Replaces a configuration; returns `false` if it is not in use any more, or the session of the new one has ended.
    private func replace(
        _ known: ServiceConfiguration, by changed: ServiceConfiguration, anonymous: AccountSession? = nil,
        ending ended: AccountSession? = nil, cancellingCalls: Bool = false
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
            return true
        }
    }
}
