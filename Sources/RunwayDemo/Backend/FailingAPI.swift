#if Command
    import HTTPTypes
    import HummingbirdCore
    import NIOCore
    import Synchronization

    /// Responses that fail on purpose: statuses, a truncated body, errors within an envelope.
    final class FailingAPI: Sendable {
        private let teams: [String: any TeamAPI]
        /// Guards how often ``status(_:)`` responded without a configured status.
        private let responseCount = Mutex(0)

        init(teams: [any TeamAPI]) {
            self.teams = Dictionary(uniqueKeysWithValues: teams.map { (type(of: $0).name, $0) })
        }

        private struct Body: Encodable {
            let error: String
        }

        /// The status of `status=`, from 400 to 599; without it 500 and 503 by turns, 500 first.
        func status(_ query: QueryParameters) throws -> Response {
            let asked = try query.integer("status", in: 400...599)
            let code =
                asked
                ?? responseCount.withLock { count in
                    count += 1
                    return count % 2 == 1 ? 500 : 503
                }
            let status = HTTPResponse.Status(code: code)
            return try .json(Body(error: "this API fails on purpose with \(code)"), status: status)
        }

        /// A list of second-hand homes, complete as HTTP, whose JSON is truncated.
        func truncated(_ query: QueryParameters) throws -> Response {
            let whole = """
                {"status":"ok","data":{"list":[{"esf_id":"E100001","esf_title":"翠湖花园 3室","esf_total_price":523.4},\
                {"esf_id":"E100002","esf_title":"云山
                """
            return .json(bytes: ByteBuffer(string: whole))
        }

        /// The failure of `error=` (a ``BackendFailure/name``, by default `token_expired`) as `team=` (`esf`, `zf` or
        /// `xinfang`, by default `zf`) writes it.
        func envelope(_ query: QueryParameters) throws -> Response {
            let teamName = query.string("team") ?? RentalAPI.name
            guard let team = teams[teamName] else {
                throw BackendFailure.badParameter(
                    name: "team", found: teamName, expected: teams.keys.sorted().joined(separator: ", "))
            }
            let failures: [BackendFailure] = [.unknownPlace("atlantis"), .tokenExpired, .loginRequired, .housekeeping]
            let name = query.string("error") ?? BackendFailure.tokenExpired.name
            guard let failure = failures.first(where: { $0.name == name }) else {
                throw BackendFailure.badParameter(
                    name: "error", found: name, expected: failures.map(\.name).joined(separator: ", "))
            }
            return try team.respond(to: failure)
        }
    }
#endif
