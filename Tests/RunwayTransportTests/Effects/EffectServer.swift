import HTTPTypes
import Runway
import RunwayJSON
import RunwayTestServer
import RunwayTesting
import Synchronization

/// A server that counts what took effect, and responds by chance: well, with a redirect, with a refusal, or not at all.
///
/// A request is for `…/<what>/<id>`, alone or in an envelope. Two origins share the counts, so that a redirect can lead from one to the
/// other, or to a port at which nobody listens.
final class EffectServer: Sendable {
    /// What the server does with one request.
    struct Reply {
        var status: Int
        var location: String?
        /// Whether the connection ends without a response.
        var isLost = false
    }

    fileprivate struct State {
        var random: SeededGenerator
        /// How often the request with an id took effect, and how often the server received it.
        var effects: [Int: Int] = [:]
        var arrivals: [Int: Int] = [:]
        var redirectCount = 0
    }

    /// The targets of redirects: this origin, another one, and a port at which nobody listens.
    private let bases: [String]
    /// Guards the counts and the random numbers.
    private let state: Mutex<State>

    init(seed: UInt64, bases: [String]) {
        self.bases = bases
        state = Mutex(State(random: SeededGenerator(seed: seed)))
    }

    func effectCount(_ id: Int) -> Int { state.withLock { $0.effects[id] ?? 0 } }
    func arrivalCount(_ id: Int) -> Int { state.withLock { $0.arrivals[id] ?? 0 } }
    var redirectCount: Int { state.withLock { $0.redirectCount } }

    /// Responds to a request.
    func respond(to request: ReceivedRequest) -> ScriptedResponse {
        if request.path.hasSuffix("/_batch"), request.method == .post { return respondToEnvelope(request) }
        let reply = reply(request.method, request.path)
        return reply.isLost ? .closing : reply.response("{}")
    }

    private func reply(_ method: HTTPRequest.Method, _ path: String) -> Reply {
        let id = path.split(separator: "/").last.flatMap { Int($0) } ?? 0
        return state.withLock { state in
            state.arrivals[id, default: 0] += 1
            return state.reply(method, id, bases)
        }
    }

    private func respondToEnvelope(_ request: ReceivedRequest) -> ScriptedResponse {
        guard let document = try? JSONDocument(request.body) else { return .text("", status: .badRequest) }
        let items = Array(document.root["requests"].elements)
        let first = items.first?["path"].string.flatMap { $0.split(separator: "/").last }.flatMap { Int($0) } ?? 0
        let choice = state.withLock { Int.random(in: 0..<12, using: &$0.random) }
        // What the server refuses to read it does not run.
        switch choice {
        case 0: return .text("", status: .badRequest)
        case 1: return .text("", status: .unauthorized)
        case 2: return .text("", status: .serviceUnavailable)
        case 3: return .closing
        default: break
        }
        let members = items.map { item in
            let method = HTTPRequest.Method(item["method"].string ?? "") ?? .get
            let reply = reply(method, item["path"].string ?? "")
            let headers = reply.location.map { #"[["Location","\#($0)"]]"# } ?? "[]"
            let status = reply.isLost ? 502 : reply.status
            return #"{"id":"\#(item["id"].string ?? "")","status":\#(status),"headers":\#(headers),"body":"{}"}"#
        }
        switch choice {
        case 4: return .closing
        case 5, 6:
            let location = state.withLock { state in
                state.redirectCount += 1
                return "\(bases.randomElement(using: &state.random) ?? "")/v1/hop/\(first)"
            }
            return Reply(status: 303, location: location).response("")
        default: return .json(#"{"responses":[\#(members.joined(separator: ","))]}"#)
        }
    }
}

extension EffectServer.Reply {
    func response(_ body: String) -> ScriptedResponse {
        var response = ScriptedResponse.json(body, status: HTTPResponse.Status(code: status))
        response.headerFields[.location] = location
        return response
    }
}

extension EffectServer.State {
    /// The effect of one request: the target of a redirect that keeps the method has not taken effect, and a request refused
    /// with 401 has not either; everything else may have.
    fileprivate mutating func reply(
        _ method: HTTPRequest.Method, _ id: Int, _ bases: [String]
    ) -> EffectServer.Reply {
        let location = "\(bases.randomElement(using: &random) ?? "")/v1/hop/\(id)"
        func takeEffect() { if ![.get, .head].contains(method) { effects[id, default: 0] += 1 } }
        switch Int.random(in: 0..<16, using: &random) {
        case 0...4:
            takeEffect()
            return EffectServer.Reply(status: 200)
        case 5...8:
            redirectCount += 1
            // 301 and 302 make a GET of a POST alone.
            let status = method == .post ? [301, 302, 303].randomElement(using: &random) ?? 303 : 303
            takeEffect()
            return EffectServer.Reply(status: status, location: location)
        case 9:
            redirectCount += 1
            return EffectServer.Reply(status: Bool.random(using: &random) ? 307 : 308, location: location)
        case 10, 11:
            if Bool.random(using: &random) { takeEffect() }
            return EffectServer.Reply(status: 0, isLost: true)
        case 12:
            if Bool.random(using: &random) { takeEffect() }
            return EffectServer.Reply(status: [500, 502, 503].randomElement(using: &random) ?? 500)
        case 13, 14: return EffectServer.Reply(status: 401)
        default: return EffectServer.Reply(status: 404)
        }
    }
}
