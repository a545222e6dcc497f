/// The facts about a failed call that are needed to repeat it.
struct Resumption: Sendable, Hashable {
    let flight: FlightID
    /// The account that the call was made for; `nil` if no account was signed in.
    let account: String?
    let environment: ServiceEnvironment
    /// Whether the repetition may only continue an upload, because the part that was sent may have taken effect.
    let mustContinue: Bool
}

extension NetworkError {
    /// The error of a call that may only continue an upload but can't continue it.
    static var notContinued: NetworkError {
        NetworkError(
            .storage, in: .preparing,
            "What is stored of the upload is gone, in use or of another request: what may have taken effect is not sent again.",
            sending: .notSent)
    }
}

extension Flight {
    /// Records which call this one resumes, if any.
    ///
    /// - Throws: ``NetworkError/Kind/loginCancelled`` if the resumed call was made for another account or in another
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
