#if Command
    import Runway

    /// The reason why a call made more than one request.
    package enum Repetition: String, Sendable, Hashable, CaseIterable, Codable, CodingKeyRepresentable {
        /// The request before it failed temporarily.
        case retried
        /// The access token of the request before it was refused.
        case newToken
        /// The response to the request before it pointed to another place.
        case redirected

        /// Reads from the decisions of a call why each of its requests after the first was made.
        static func all(of record: FlightRecord) -> [Repetition] {
            record.decisions.compactMap { decision in
                switch decision.decision {
                case RetryDecision.again: .retried
                case AuthorizingDecision.replayed: .newToken
                case RedirectDecision.followed: .redirected
                default: nil
                }
            }
        }

        /// The reason in a few words, as a list of requests has it.
        package var reason: String {
            switch self {
            case .retried: "retried after a failure"
            case .newToken: "sent again with a new token"
            case .redirected: "sent on by a redirect"
            }
        }
    }
#endif
