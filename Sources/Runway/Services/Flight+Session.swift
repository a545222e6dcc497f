import Synchronization

extension Flight {
    var session: AccountSession { configuration.session }

    /// Whether the call was cancelled because its account signed out or because the app's background time expired. Its
    /// deadline then counts as passed, so that nothing waits for it.
    var isEndedEarly: Bool { session.areCallsCancelled || isOutOfGrace.load(ordering: .acquiring) }

    /// Whether the account session in which the call was made is still the current session of its service.
    var belongsToCurrentSession: Bool {
        func current<Service: APIService>(_ service: Service.Type) -> AccountSession {
            context.services.configuration(of: service).session
        }
        return current(service) == session
    }

    /// Whether the call's account is signed in. A call that was made while no account was signed in belongs to every
    /// account.
    var belongsToCurrentAccount: Bool { account == nil || belongsToCurrentSession }

    /// Returns the error of a call that was cancelled because its account signed out or the app's background time
    /// expired.
    func earlyEnd(in step: FlightStep, sending: SendState = .unknown) -> NetworkError {
        let reason =
            session.areCallsCancelled
            ? "\(account ?? "The account") signed out of \(service.name)" : "The app's time in the background was over"
        return NetworkError(.cancelled, in: step, "\(reason) before the call ended.", sending: sending)
    }

    func checkSession(in step: FlightStep) throws(NetworkError) {
        if isEndedEarly { throw earlyEnd(in: step, sending: .sent) }
    }
}

extension Flight {
    /// Whether the call's account signed out and its calls were cancelled.
    package var isSignedOut: Bool { session.areCallsCancelled }
}
