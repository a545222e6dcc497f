import Foundation
package import HTTPTypes
package import Runway
import RunwayJSON
import RunwayStreams
package import RunwayTesting
import Synchronization

/// A transport whose event streams a test plays.
package final class FakeEvents: Transport {
    /// A call that changes topics.
    package struct Change: Sendable, Equatable {
        package var added: Set<String> = []
        package var removed: Set<String> = []

        package init(added: Set<String> = [], removed: Set<String> = []) {
            (self.added, self.removed) = (added, removed)
        }
    }

    private struct State {
        var links: [FakeLink] = []
        var openStatuses: [HTTPResponse.Status] = []
        var openGate: ScriptedGate?
        var fields: [String: String] = [:]
        var changes: [Change] = []
        var changeStatuses: [HTTPResponse.Status] = []
        var lostTopics: [String] = []
        var pagePaths: [String] = []
        var markCount = 0
        var page = #"{"messages":[],"first":1,"last":0,"marks":[]}"#
        var pageStatus = HTTPResponse.Status.ok
        var changeGate: ScriptedGate?
    }

    /// Guards what was opened and changed, and what becomes of the next requests.
    private let state = Mutex(State())

    package init() {}

    package var links: [FakeLink] { state.withLock { $0.links } }
    package var changes: [Change] { state.withLock { $0.changes } }
    /// How many marks were sent.
    package var markCount: Int { state.withLock { $0.markCount } }
    /// The paths of the pages that were asked for.
    package var pagePaths: [String] { state.withLock { $0.pagePaths } }

    /// Links are opened when the gate is.
    package func holdLinks(at gate: ScriptedGate) { state.withLock { $0.openGate = gate } }
    /// The next link is refused with a status.
    package func refuseLink(_ status: HTTPResponse.Status) { state.withLock { $0.openStatuses.append(status) } }
    /// The header fields of the links that are opened from now on, beside those of every link; an empty one is left out.
    package func setFields(_ fields: [String: String]) { state.withLock { $0.fields = fields } }
    /// Changes of topics are responded to when the gate is open.
    package func holdChanges(at gate: ScriptedGate) { state.withLock { $0.changeGate = gate } }
    /// The next change of topics is responded to with a status.
    package func refuseChange(_ status: HTTPResponse.Status) { state.withLock { $0.changeStatuses.append(status) } }
    /// The responses to changes of topics, probes included, name topics that the client may not follow.
    package func loseTopics(_ topics: [String]) { state.withLock { $0.lostTopics = topics } }
    /// The page of every conversation, and its status.
    package func setPage(_ page: String, status: HTTPResponse.Status = .ok) {
        state.withLock { ($0.page, $0.pageStatus) = (page, status) }
    }

    package func send(_ request: Request, in flight: Flight) async throws(NetworkError) -> Response {
        if request.head.method == .post { return try await change(request) }
        if request.head.path?.contains("/messages") == true {
            let (page, status) = state.withLock { state in
                state.pagePaths.append(request.head.path ?? "")
                return (state.page, state.pageStatus)
            }
            return .json(page, status: status)
        }
        try await pass(state.withLock { $0.openGate })
        return state.withLock { state in
            if !state.openStatuses.isEmpty { return .json("", status: state.openStatuses.removeFirst()) }
            let link = FakeLink(request)
            state.links.append(link)
            var head = HTTPResponse(status: .ok, headerFields: [.contentType: "text/event-stream"])
            let fields = state.fields.merging(["Runway-Stream": "news"], uniquingKeysWith: { one, _ in one })
            for (name, value) in fields where !value.isEmpty {
                if let name = HTTPField.Name(name) { head.headerFields[name] = value }
            }
            return Response(head: head, body: .stream(link.body))
        }
    }

    private func change(_ request: Request) async throws(NetworkError) -> Response {
        var change = Change()
        if case .bytes(let bytes) = request.body, let json = try? JSONDocument(bytes).root {
            change.added = Set(json["add"].elements.compactMap(\.string))
            change.removed = Set(json["remove"].elements.compactMap(\.string))
        }
        let gate = state.withLock { state in
            state.changes.append(change)
            if request.head.path?.hasSuffix("/marks") == true { state.markCount += 1 }
            return state.changeGate
        }
        try await pass(gate)
        let (status, lost) = state.withLock { state in
            (state.changeStatuses.isEmpty ? .ok : state.changeStatuses.removeFirst(), state.lostTopics)
        }
        let names = lost.map { "\"\($0)\"" }.joined(separator: ",")
        return .json(#"{"position":"e-0","refused":[\#(names)]}"#, status: status)
    }

    private func pass(_ gate: ScriptedGate?) async throws(NetworkError) {
        do { try await gate?.pass() } catch {
            throw NetworkError(.cancelled, in: .transporting, "The call was cancelled.")
        }
    }
}

/// An open link, whose server a test plays. The epoch of its events is `e`.
package final class FakeLink: Sendable {
    package let request: Request
    private let parts: AsyncThrowingStream<[UInt8], any Error>
    private let continuation: AsyncThrowingStream<[UInt8], any Error>.Continuation
    /// Guards how often the client has asked for a part.
    private let count = Mutex(0)

    package init(_ request: Request) {
        self.request = request
        (parts, continuation) = AsyncThrowingStream.makeStream(of: [UInt8].self)
    }

    /// The body of the response.
    package var body: BodyStream {
        BodyStream {
            var iterator = self.parts.makeAsyncIterator()
            return {
                self.count.withLock { $0 += 1 }
                return try await iterator.next(isolation: #isolation)
            }
        }
    }

    /// How many parts the client has read: it asks for another when it has read one.
    package var readCount: Int { count.withLock { max(0, $0 - 1) } }

    /// The topics that the client asked for.
    package var topics: Set<String> {
        let query = (request.head.path ?? "").removingPercentEncoding?.split(separator: "?").last ?? ""
        let value = query.split(separator: "&").first { $0.hasPrefix("topics=") }?.dropFirst(7) ?? ""
        return Set(value.split(separator: ",").map(String.init))
    }

    /// The value of a header field of the request; empty if it has none.
    package func field(_ name: String) -> String {
        HTTPField.Name(name).flatMap { request.head.headerFields[$0] } ?? ""
    }

    package func send(_ text: String) { continuation.yield(Array(text.utf8)) }

    /// The server begins as it says in one word: `reset` or `resumed`.
    package func open(_ kind: String, at offset: Int, refusing refused: [String] = []) {
        let names = refused.map { "\"\($0)\"" }.joined(separator: ",")
        let data = #"{"connection":"c","from":"e-\#(offset)","refused":[\#(names)]}"#
        send("id: e-\(offset)\nevent: runway.\(kind)\ndata: \(data)\n\n")
    }

    package func event(_ offset: Int, _ text: String, topic: String = "a") {
        send("id: e-\(offset)\ntopic: \(topic)\ndata: \(text)\n\n")
    }

    /// The server ends the response.
    package func end() { continuation.finish() }
    /// The connection is lost.
    package func lose() {
        continuation.finish(throwing: NetworkError(.noNetwork, in: .transporting, "The connection was lost."))
    }
}

/// The system's time in the background, which a test ends.
package final class ScriptedGrace: BackgroundGrace {
    /// Guards what the layer holds.
    private let expiries = Mutex<[@Sendable () -> Void]>([])

    package init() {}

    package func begin(_ name: String, onExpiry: @escaping @Sendable () -> Void) -> Int? {
        expiries.withLock { expiries in
            expiries.append(onExpiry)
            return expiries.count
        }
    }

    package func end(_ token: Int) {}

    /// The time is over.
    package func expire() { for expire in expiries.withLock({ $0 }) { expire() } }
}
