import HTTPTypes
import Synchronization

enum ScriptedReply: Sendable {
    case response(ScriptedResponse)
    case closure(@Sendable (ReceivedRequest) async throws -> ScriptedResponse)
}

/// Chooses the response to each request by the lines of the script.
final class OriginScript: Sendable {
    /// The requests that a line of the script applies to. A `nil` method matches every method.
    struct Route: Hashable, CustomStringConvertible {
        let method: HTTPRequest.Method?
        let path: String

        var description: String { "\(method?.rawValue ?? "any method") \(path)" }
    }

    struct Line {
        var replies: ArraySlice<ScriptedReply>
        let repeatsLast: Bool
        let moment: ScriptedOrigin.ResponseMoment
    }

    struct Choice: Sendable {
        let reply: ScriptedReply
        let moment: ScriptedOrigin.ResponseMoment
        let isScripted: Bool
    }

    private struct State {
        var lines: [Route: Line] = [:]
        var fallback: Line?
        var connections: ArraySlice<ScriptedConnection> = []
    }

    /// Guards the remaining lines of the script.
    private let state = Mutex(State())

    func set(_ line: Line, for route: Route) { state.withLock { $0.lines[route] = line } }

    func setFallback(_ line: Line) { state.withLock { $0.fallback = line } }

    func set(connections: [ScriptedConnection]) { state.withLock { $0.connections = connections[...] } }

    /// Takes the behaviour for the next connection. The last behaviour repeats.
    func takeConnection() -> ScriptedConnection {
        state.withLock { state in
            guard let next = state.connections.first else { return .serve }
            if state.connections.count > 1 { state.connections.removeFirst() }
            return next
        }
    }

    func takeResponse(for request: ReceivedRequest) -> Choice {
        state.withLock { state in
            for path in [request.target, request.path] {
                for method in [request.method, nil] {
                    let route = Route(method: method, path: path)
                    if let choice = state.lines[route]?.take() { return choice }
                }
            }
            if let choice = state.fallback?.take() { return choice }
            let routes = state.lines.keys.map(\.description).sorted().joined(separator: ", ")
            let text =
                "No response is scripted for \(request.method.rawValue) \(request.target). "
                + (routes.isEmpty ? "Nothing is scripted at all." : "Scripted, perhaps used up: \(routes).")
            return Choice(
                reply: .response(.text(text + "\n", status: .notFound)), moment: .afterRequest, isScripted: false)
        }
    }
}

extension OriginScript.Line {
    fileprivate mutating func take() -> OriginScript.Choice? {
        guard let next = replies.first else { return nil }
        if replies.count > 1 || !repeatsLast { replies.removeFirst() }
        return OriginScript.Choice(reply: next, moment: moment, isScripted: true)
    }
}

/// How a ``ScriptedOrigin`` treats an accepted connection.
///
/// The system accepts connections before a program sees them. So a client connects successfully before the script
/// applies. Only a reset may be so fast that connecting fails.
public enum ScriptedConnection: Sendable {
    /// Requests are read, and the script responds to them.
    case serve
    /// The connection is closed at once, before a TLS handshake.
    case close
    /// The connection is reset at once, before a TLS handshake.
    case reset
    /// The connection stays open. All received bytes, including a TLS handshake, are discarded, and nothing is sent.
    case ignore
    /// The associated response is sent before any request is read, after a TLS handshake if there is one. Then requests
    /// are served, unless the response ended the connection.
    case respond(ScriptedResponse)
}
