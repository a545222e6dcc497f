import Synchronization

extension Flight {
    /// The session of the account that the call was made for.
    var session: AccountSession { configuration.session }

    /// Whether the call was cancelled because its account signed out, or because the app's time in the background was
    /// over. Its deadline counts as passed then, so that nothing waits for it.
    var isEndedEarly: Bool { session.areCallsCancelled || isOutOfGrace.load(ordering: .acquiring) }

    /// Whether the session that the call was made in is the one of the calls that are made now.
    var belongsToCurrentSession: Bool {
        func current<Service: APIService>(_ service: Service.Type) -> AccountSession {
            context.services.configuration(of: service).session
        }
        return current(service) == session
    }

    /// Whether the account that the call was made for is signed in. A call that was made while no account was signed in
    /// belongs to every account.
    var belongsToCurrentAccount: Bool { account == nil || belongsToCurrentSession }

    /// Returns the error of a call that was cancelled because its account signed out, or the app's time in the
    /// background was over.
    func earlyEnd(in step: FlightStep, sending: SendState = .unknown) -> NetworkError {
        let reason =
            session.areCallsCancelled
            ? "\(account ?? "The account") signed out of \(service.name)" : "The app's time in the background was over"
        return NetworkError(.cancelled, in: step, "\(reason) before the call ended.", sending: sending)
    }

    /// Throws if the call was ended early.
    func checkSession(in step: FlightStep) throws(NetworkError) {
        if isEndedEarly { throw earlyEnd(in: step, sending: .sent) }
    }
}

extension Flight {
    /// Whether the account of the call has signed out, with the cancellation of its calls.
    package var isSignedOut: Bool { session.areCallsCancelled }
}
