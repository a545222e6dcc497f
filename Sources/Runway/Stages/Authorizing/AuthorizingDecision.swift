/// A decision about a call's access token, for the call's record. It never contains the token.
package enum AuthorizingDecision: StageDecision, Equatable {
    /// The call was sent without a token, because no account was signed in.
    case unsigned
    /// The call started to load the token, or to renew it because it expires soon or was refused.
    case beganRenewal
    /// The call waited for a renewal that another call had started.
    case waited(for: FlightID)
    case renewed
    case notRenewed(NetworkError.Kind)
    /// The new token could not be stored, so it will be lost when the app ends.
    case notSaved(String)
    case refused
    case replayed
    /// The service also refused the newer token.
    case refusedAgain
    /// The token was not renewed, because the service recently refused a renewed token; see ``RenewalBackoff``.
    case renewedTooOften
    /// The app was notified that the user must log in.
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
