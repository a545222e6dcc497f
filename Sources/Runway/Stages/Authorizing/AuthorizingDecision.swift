/// An event in the handling of a call's access token, for the record. The token is never part of it.
package enum AuthorizingDecision: StageDecision, Equatable {
    /// The call was sent without a token, since no account was signed in.
    case unsigned
    /// The call started to load the token, or to renew it because it ends soon or was refused.
    case beganRenewal
    /// The call waited for the renewal that another call started.
    case waited(for: FlightID)
    /// The service issued a new token.
    case renewed
    /// The service did not renew the token.
    case notRenewed(NetworkError.Kind)
    /// The new token could not be stored; it is lost when the app ends.
    case notSaved(String)
    /// The service refused the token.
    case refused
    /// The request was sent again with a newer token.
    case replayed
    /// The service refused the newer token, too.
    case refusedAgain
    /// The token was not renewed, since the service refused a renewed token a short time ago; see ``RenewalBackoff``.
    case renewedTooOften
    /// The app was notified that the user has to log in.
    case askedForLogin

    package static var step: FlightStep { .authorizing }

    package var entry: DecisionRecord {
        switch self {
        case .unsigned: .init("unsigned", "sent without an access token: nobody is signed in")
        case .beganRenewal: .init("renewalBegan", "began to renew the access token")
        case .waited(let flight):
            .init("waited", ["flight": flight], "waited for the access token that \(flight) renews")
        case .renewed: .init("renewed", "has a new access token")
        case .notRenewed(let kind):
            .init("notRenewed", ["kind": kind.name], "the access token was not renewed")
        case .notSaved(let detail):
            .init("notSaved", ["detail": detail], "the new access token could not be saved: \(detail)")
        case .refused: .init("refused", "the access token was refused")
        case .replayed: .init("replayed", "sent again with a newer access token")
        case .refusedAgain: .init("refusedAgain", "the newer access token was refused, too")
        case .renewedTooOften:
            .init("renewalDelayed", "not renewed: the last renewal was futile and too recent")
        case .askedForLogin: .init("askedForLogin", "notified the app that the user has to log in")
        }
    }
}
