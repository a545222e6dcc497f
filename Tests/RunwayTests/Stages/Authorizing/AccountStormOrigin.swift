import HTTPTypes
import RunwayTesting
import Synchronization

@testable import Runway

/// What happened in an ``AccountStorm``. Places are counted up with everything that is written.
struct AccountLog: Sendable {
    /// A stretch in which an account was signed in; `end` is where the sign-out, or the sign-in of another account, had returned.
    struct Stretch: Sendable {
        var session: Int
        var begin: Int
        var end = Int.max
    }

    private(set) var place = 0
    /// The stretches in the order of their sign-ins.
    var stretches: [Stretch] = []
    /// The session of each account that has not signed out.
    var sessions: [String: Int] = [:]
    var sessionCount = 0
    var problems: [String] = []
    /// How many responses, landings, redirects, renewals and refusals there were, by name: a storm of none shows nothing.
    var counts: [String: Int] = [:]

    mutating func next() -> Int {
        place += 1
        return place
    }

    /// Notes where a session was seen that was not signed in at any time between two places.
    mutating func check(_ session: Int, from begin: Int, to end: Int, _ what: String) {
        counts[what, default: 0] += 1
        let isFound = stretches.contains { $0.session == session && $0.begin <= end && begin <= $0.end }
        if !isFound { problems.append("\(what) between \(begin) and \(end) is of session \(session)") }
    }
}

/// The server of ``Club`` in an ``AccountStorm``. Tokens, refresh tokens and cookies name the session that they were given in.
final class AccountStormOrigin: Transport {
    private struct State {
        var random: SeededGenerator
        var log = AccountLog()
        var tokenCount = 0
        var revoked: Set<String> = []
    }

    /// Guards what happened.
    private let state: Mutex<State>

    init(seed: UInt64) { state = Mutex(State(random: SeededGenerator(seed: seed))) }

    func write<Value: Sendable>(_ body: (inout AccountLog) -> Value) -> Value { state.withLock { body(&$0.log) } }

    /// Makes a token of a session.
    func token(_ session: Int, of account: String) -> AccessToken {
        let count = state.withLock { state in
            state.tokenCount += 1
            return state.tokenCount
        }
        return AccessToken("\(session).\(count)", account: account, refreshToken: "\(session).r")
    }

    /// Takes some tokens out of use.
    func revoke() { state.withLock { state in state.revoked.formUnion((0...state.tokenCount).map { ".\($0)" }) } }

    func send(_ request: Request, in flight: Flight) async throws(NetworkError) -> Response {
        for _ in 0..<state.withLock({ Int.random(in: 0...6, using: &$0.random) }) { await Task.yield() }
        if Task.isCancelled { throw .cancelled(in: .transporting) }
        let fields = request.head.headerFields
        let sender = fields[.authorization].map { $0.dropFirst("Bearer ".count) }
        let cookie = fields[.cookie].flatMap { Int($0.dropFirst("who=".count)) }
        return state.withLock { state in
            guard request.head.authority == "club.test" else {
                if sender != nil || cookie != nil { state.log.problems.append("another origin got \(fields)") }
                state.log.counts["redirected", default: 0] += 1
                return .json("{}")
            }
            let body = if case .bytes(let bytes) = request.body { String(decoding: bytes, as: UTF8.self) } else { "" }
            let names =
                sender.map { String($0) } ?? body.split { !$0.isNumber && $0 != "." }.first.map { String($0) } ?? ""
            let session = Int(names.prefix { $0.isNumber })
            if let session, let cookie, session != cookie {
                state.log.problems.append("session \(session) sent the cookie of session \(cookie)")
            }
            if cookie != nil { state.log.counts["cookies", default: 0] += 1 }
            guard let session else { return .json("{}") }
            return request.head.path == "/token" ? Self.renew(session, &state) : Self.respond(names, session, &state)
        }
    }

    private static func renew(_ session: Int, _ state: inout State) -> Response {
        switch Int.random(in: 1...8, using: &state.random) {
        case 1: return .json("{}", status: .internalServerError)
        case 2: return .json("{}", status: .badRequest)
        default:
            state.tokenCount += 1
            state.log.counts["renewed", default: 0] += 1
            return response(#"{"access_token":"\#(session).\#(state.tokenCount)"}"#, session)
        }
    }

    private static func respond(_ token: String, _ session: Int, _ state: inout State) -> Response {
        if state.revoked.contains(String(token.drop { $0 != "." })) {
            state.log.counts["refused", default: 0] += 1
            return .json("{}", status: .unauthorized)
        }
        guard Int.random(in: 1...6, using: &state.random) > 1 else {
            var response = response("", session, status: .found)
            response.head.headerFields[.location] =
                Bool.random(using: &state.random) ? "https://other.test/members/1" : "/members/9"
            return response
        }
        return response(#"{"session":\#(session)}"#, session)
    }

    private static func response(_ text: String, _ session: Int, status: HTTPResponse.Status = .ok) -> Response {
        let head = HTTPResponse(
            status: status, headerFields: [.cacheControl: "private, max-age=60", .setCookie: "who=\(session)"])
        return Response(head: head, body: .whole(RawData(Array(text.utf8), response: head)))
    }
}
