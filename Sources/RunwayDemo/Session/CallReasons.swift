#if Command
    package import Runway

    /// The reason why a call did not send its own request.
    package enum UnsentReason: String, Sendable, Hashable, CaseIterable, Codable, CodingKeyRepresentable {
        case fromCache
        /// The call shared the request of another call, or joined an identical call of its manager.
        case joined
        /// The call's request was merged with the requests of other calls.
        case merged
        /// The manager ignored the call, since another one was in flight.
        case ignored
        /// The circuit of the call's host or endpoint is open after repeated failures.
        case circuitOpen
        /// The call was not admitted for another reason, such as no network or too many waiting calls.
        case notAdmitted
        case badParameters
        /// The call needed an access token, and none was available.
        case withoutToken
        case vetoed
        /// The call was cancelled or replaced before its request was sent.
        case ended
        case unexplained

        /// Finds the reason in the decisions of a call. Returns `nil` if the call sent its own request.
        package init?(_ record: FlightRecord) {
            if !record.attempts.isEmpty { return nil }
            self = Self.byOutcome(of: record) ?? Self.byDecision(of: record) ?? .unexplained
        }

        package var reason: String {
            switch self {
            case .fromCache: "used a cached response"
            case .joined: "joined another call's request"
            case .merged: "merged with others into one request"
            case .ignored: "ignored: another was in flight"
            case .circuitOpen: "refused: the circuit was open"
            case .notAdmitted: "not admitted"
            case .badParameters: "had a bad parameter"
            case .withoutToken: "had no access token"
            case .vetoed: "vetoed by an interceptor"
            case .ended: "ended before the request left"
            case .unexplained: "for no reason on record"
            }
        }

        private static func byOutcome(of record: FlightRecord) -> UnsentReason? {
            switch record.outcome.kind {
            case .joined: .joined
            case .ignored: .ignored
            case .vetoed: .vetoed
            case .failed:
                switch record.outcome.error?.outlook.obstacle {
                case .app: .badParameters
                case .login: .withoutToken
                case .ended where record.outcome.error?.kind == .loginCancelled: .withoutToken
                default: nil
                }
            default: nil
            }
        }

        private static func byDecision(of record: FlightRecord) -> UnsentReason? {
            for decision in record.decisions.map(\.decision) {
                switch decision {
                case MergeDecision.carried: return .merged
                case SharingDecision.joined: return .joined
                case AdmissionDecision.refused(.circuitOpen): return .circuitOpen
                case AdmissionDecision.refused: return .notAdmitted
                default: continue
                }
            }
            if record.source == .cache || record.source == .staleCache { return .fromCache }
            switch record.outcome.kind {
            case .cancelled, .replaced: return .ended
            default: return nil
            }
        }
    }

    /// The reason why a call made more than one request.
    package enum Repetition: String, Sendable, Hashable, CaseIterable, Codable, CodingKeyRepresentable {
        /// The previous request failed temporarily.
        case retried
        /// The server refused the access token of the previous request.
        case newToken
        /// The response to the previous request was a redirect.
        case redirected

        /// Returns the reason for each request of a call after the first, from the decisions of the call.
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

        package var reason: String {
            switch self {
            case .retried: "retried after a failure"
            case .newToken: "sent again with a new token"
            case .redirected: "sent on by a redirect"
            }
        }
    }
#endif
