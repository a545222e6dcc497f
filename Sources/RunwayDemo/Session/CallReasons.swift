#if Command
    package import Runway

    /// The reason why a call made no request of its own.
    package enum UnsentReason: String, Sendable, Hashable, CaseIterable, Codable, CodingKeyRepresentable {
        /// The call used a cached response.
        case fromCache
        /// The call used the response to another call's request, or joined an identical call of its manager.
        case joined
        /// The call's request was sent together with those of other calls.
        case merged
        /// Another call of its manager was in flight already.
        case ignored
        /// The call's host or endpoint fails repeatedly, and the circuit is open.
        case circuitOpen
        /// The call was not admitted for another reason: no network, a flood, too many calls.
        case notAdmitted
        /// The call's parameters can't be sent.
        case badParameters
        /// The call needed an access token, and there was none.
        case withoutToken
        /// An interceptor was against it.
        case vetoed
        /// The call was cancelled or replaced before its request was sent.
        case ended
        /// The call's record has no reason.
        case unexplained

        /// Reads from the decisions of a call why it made no request; `nil` for one that made one.
        package init?(_ record: FlightRecord) {
            if !record.attempts.isEmpty { return nil }
            self = Self.byOutcome(of: record) ?? Self.byDecision(of: record) ?? .unexplained
        }

        /// The reason in a few words, as a list of calls has it.
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
