/// The facts that a repeated call takes over from the failed one.
struct Resumption: Sendable, Hashable {
    /// The call that failed.
    let flight: FlightID
    /// The account that the call was made for; `nil` if none was signed in.
    let account: String?
    let environment: ServiceEnvironment
    /// Whether the call may only continue an upload, since the sent part may have taken effect.
    let mustContinue: Bool
}

extension NetworkError {
    /// The error of a call that may only continue an upload, and can't.
    static var notContinued: NetworkError {
        NetworkError(
            .storage, in: .preparing,
            "What is stored of the upload is gone, in use or of another request: what may have taken effect is not sent again.",
            sending: .notSent)
    }
}

extension Flight {
    /// Records the call that this one resumes, if it resumes one.
    ///
    /// - Throws: ``NetworkError/Kind/loginCancelled`` if the resumed call was made for another account, or in another
    ///   environment.
    func checkResumption() throws(NetworkError) {
        guard let resumption = options.resumption else { return }
        note(CallDecision.resumed(resumption.flight), in: .preparing)
        if let made = resumption.account, made != account {
            throw NetworkError(
                .loginCancelled, in: .preparing,
                "The call was made for \(made), and is not sent for \(account ?? "nobody"), who is signed in to \(service.name) now."
            )
        }
        if resumption.environment != environment {
            throw NetworkError(
                .loginCancelled, in: .preparing,
                "The call was made in the environment \"\(resumption.environment)\", and is not sent in \"\(environment)\"."
            )
        }
    }
}
