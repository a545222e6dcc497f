import Foundation
import HTTPTypes
import RunwayJSON
import RunwayTesting
import Synchronization

@testable import Runway

/// The server of ``Club`` in an ``AccountStorm``. Its responses name the session of the call that received them; tokens and
/// refresh tokens name their account and login, as in `ann-3.17` and `ann-3.r`.
final class AccountStormOrigin: Transport {
    private struct State {
        var random: SeededGenerator
        var log = AccountLog()
        var tokenCount = 0
        var revoked: Set<String> = []
    }

    /// What a request says, alone or in an envelope.
    private struct Call {
        var path: String
        var token: String?
        var body: String
    }

    private let clock: ManualClock
    private let date: Date
    /// Guards what happened.
    private let state: Mutex<State>

    init(seed: UInt64, clock: ManualClock, startingAt date: Date) {
        self.clock = clock
        self.date = date
        state = Mutex(State(random: SeededGenerator(seed: seed)))
    }

    func write<Value: Sendable>(_ body: (inout AccountLog) -> Value) -> Value { state.withLock { body(&$0.log) } }

    /// Makes a token of a login.
    func token(_ login: Int, of account: String) -> AccessToken {
        let (count, lifetime) = state.withLock { state in
            state.tokenCount += 1
            return (state.tokenCount, Double.random(in: 40...200, using: &state.random))
        }
        return AccessToken(
            "\(account)-\(login).\(count)", account: account, expiry: date(after: lifetime),
            refreshToken: "\(account)-\(login).r")
    }

    private func date(after lifetime: Double) -> Date {
        let (seconds, attoseconds) = clock.now.offset.components
        return date.addingTimeInterval(lifetime + Double(seconds) + Double(attoseconds) / 1e18)
    }

    /// Takes some tokens out of use.
    func revoke() { state.withLock { state in state.revoked.formUnion((0...state.tokenCount).map { ".\($0)" }) } }

    func endsInTime(_ request: Request) -> Bool { true }

    func send(_ request: Request, in flight: Flight) async throws(NetworkError) -> Response {
        let (yields, delay, ignoresCancellation) = state.withLock { state in
            (
                Int.random(in: 0...6, using: &state.random),
                Int.random(in: 1...4, using: &state.random) == 1 ? Int.random(in: 1...60, using: &state.random) : 0,
                Int.random(in: 1...4, using: &state.random) == 1
            )
        }
        for _ in 0..<yields { await Task.yield() }
        if delay > 0 { try? await clock.sleep(for: .milliseconds(delay)) }
        // One that ignores cancellation responds after all, when nobody waits any more.
        if Task.isCancelled, !ignoresCancellation { throw .cancelled(in: .transporting) }
        let begin = StormCall.current?.begin ?? 0
        return state.withLock { state in
            if request.hedgedAttempt?.contender == .second { state.log.count("hedged") }
            return Self.respond(request, in: flight, since: begin, &state)
        }
    }

    private static func respond(
        _ request: Request, in flight: Flight, since begin: Int, _ state: inout State
    ) -> Response {
        let session = state.log.number(of: flight.session)
        let fields = request.head.headerFields
        let token = fields[.authorization].map { String($0.dropFirst("Bearer ".count)) }
        let cookies = (fields[.cookie] ?? "").split(separator: "; ").compactMap { Int($0.dropFirst("who=".count)) }
        guard request.head.authority == "club.test" else {
            if token != nil || !cookies.isEmpty { state.log.note("another origin got \(fields)") }
            state.log.count("redirected")
            return .json("{}")
        }
        for cookie in cookies { state.log.checkSent(cookie, in: session, since: begin, "cookie") }
        let path = request.head.path ?? ""
        guard path == "/_batch" else {
            let body = if case .bytes(let bytes) = request.body { String(decoding: bytes, as: UTF8.self) } else { "" }
            return respond(Call(path: path, token: token, body: body), in: session, since: begin, &state)
        }
        let items = request.items.map { item in
            state.log.count("merged")
            let field = item["headers"].elements.first { $0[0].string?.lowercased() == "authorization" }
            let call = Call(
                path: item["path"].string ?? "", token: field?[1].string.map { String($0.dropFirst("Bearer ".count)) },
                body: item["body"].string ?? "")
            return respond(call, in: session, since: begin, &state).asItem(item["id"].string ?? "")
        }
        return response(#"{"responses":[\#(items.joined(separator: ","))]}"#, session)
    }

    private static func respond(_ call: Call, in session: Int, since begin: Int, _ state: inout State) -> Response {
        let name = call.token ?? call.body.firstMatch(of: /[a-z]+-\d+\.r/).map { String($0.output) }
        if let name {
            let account = name.prefix { $0 != "-" }
            let login = Int(name.drop { $0 != "-" }.dropFirst().prefix { $0.isNumber })
            if state.log.account(of: session) != String(account) {
                state.log.note("a call of session \(session) sent \(name)")
            }
            if let login, let own = state.log.logins[login] {
                state.log.checkSent(own, in: session, since: begin, "token")
            }
        }
        if call.path == "/token" { return renew(name ?? "", session, &state) }
        guard let token = call.token else { return response(#"{"session":\#(session)}"#, session) }
        if state.revoked.contains(String(token.drop { $0 != "." })) {
            state.log.count("refused")
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

    private static func renew(_ name: String, _ session: Int, _ state: inout State) -> Response {
        switch Int.random(in: 1...8, using: &state.random) {
        case 1: return .json("{}", status: .internalServerError)
        case 2: return .json("{}", status: .badRequest)
        default:
            state.tokenCount += 1
            state.log.count("renewed")
            let token = "\(name.prefix { $0 != "." }).\(state.tokenCount)"
            // One in eight is never good, so that the next renewal has to wait.
            if Int.random(in: 1...8, using: &state.random) == 1 { state.revoked.insert(".\(state.tokenCount)") }
            return response(#"{"access_token":"\#(token)","expires_in":100}"#, session)
        }
    }

    private static func response(_ text: String, _ session: Int, status: HTTPResponse.Status = .ok) -> Response {
        let head = HTTPResponse(
            status: status,
            headerFields: [
                .cacheControl: "private, max-age=60, stale-while-revalidate=300", .setCookie: "who=\(session)",
            ])
        return Response(head: head, body: .whole(RawData(Array(text.utf8), response: head)))
    }
}

extension Response {
    /// The response as an item of a merged one.
    fileprivate func asItem(_ id: String) -> String {
        let fields = head.headerFields.filter { $0.name != .setCookie }
            .map { #"["\#($0.name.rawName)","\#($0.value)"]"# }.joined(separator: ",")
        let body = (text ?? "").replacing("\"", with: "\\\"")
        return #"{"id":"\#(id)","status":\#(head.status.code),"headers":[\#(fields)],"body":"\#(body)"}"#
    }
}
