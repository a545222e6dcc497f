import Foundation
import HTTPTypes
import Runway
import RunwayJSON
import RunwayStreams
import RunwayTesting
import Synchronization

/// A transport whose event streams a test plays.
final class FakeEvents: Transport {
    /// A call that changes topics.
    struct Change: Sendable, Equatable {
        var added: Set<String> = []
        var removed: Set<String> = []
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

    var links: [FakeLink] { state.withLock { $0.links } }
    var changes: [Change] { state.withLock { $0.changes } }
    /// How many marks were sent.
    var markCount: Int { state.withLock { $0.markCount } }
    /// The paths of the pages that were asked for.
    var pagePaths: [String] { state.withLock { $0.pagePaths } }

    /// Links are opened when the gate is.
    func holdLinks(at gate: ScriptedGate) { state.withLock { $0.openGate = gate } }
    /// The next link is refused with a status.
    func refuseLink(_ status: HTTPResponse.Status) { state.withLock { $0.openStatuses.append(status) } }
    /// The header fields of the links that are opened from now on, beside those of every link; an empty one is left out.
    func setFields(_ fields: [String: String]) { state.withLock { $0.fields = fields } }
    /// Changes of topics are responded to when the gate is open.
    func holdChanges(at gate: ScriptedGate) { state.withLock { $0.changeGate = gate } }
    /// The next change of topics is responded to with a status.
    func refuseChange(_ status: HTTPResponse.Status) { state.withLock { $0.changeStatuses.append(status) } }
    /// The responses to changes of topics, probes included, name topics that the client may not follow.
    func loseTopics(_ topics: [String]) { state.withLock { $0.lostTopics = topics } }
    /// The page of every conversation, and its status.
    func setPage(_ page: String, status: HTTPResponse.Status = .ok) {
        state.withLock { ($0.page, $0.pageStatus) = (page, status) }
    }

    func send(_ request: Request, in flight: Flight) async throws(NetworkError) -> Response {
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
final class FakeLink: Sendable {
    let request: Request
    private let parts: AsyncThrowingStream<[UInt8], any Error>
    private let continuation: AsyncThrowingStream<[UInt8], any Error>.Continuation
    /// Guards how often the client has asked for a part.
    private let count = Mutex(0)

    init(_ request: Request) {
        self.request = request
        (parts, continuation) = AsyncThrowingStream.makeStream(of: [UInt8].self)
    }

    /// The body of the response.
    var body: BodyStream {
        BodyStream {
            var iterator = self.parts.makeAsyncIterator()
            return {
                self.count.withLock { $0 += 1 }
                return try await iterator.next(isolation: #isolation)
            }
        }
    }

    /// How many parts the client has read: it asks for another when it has read one.
    var readCount: Int { count.withLock { max(0, $0 - 1) } }

    /// The topics that the client asked for.
    var topics: Set<String> {
        let query = (request.head.path ?? "").removingPercentEncoding?.split(separator: "?").last ?? ""
        let value = query.split(separator: "&").first { $0.hasPrefix("topics=") }?.dropFirst(7) ?? ""
        return Set(value.split(separator: ",").map(String.init))
    }

    /// The value of a header field of the request; empty if it has none.
    func field(_ name: String) -> String { HTTPField.Name(name).flatMap { request.head.headerFields[$0] } ?? "" }

    func send(_ text: String) { continuation.yield(Array(text.utf8)) }

    /// The server begins as it says in one word: `reset` or `resumed`.
    func open(_ kind: String, at offset: Int, refusing refused: [String] = []) {
        let names = refused.map { "\"\($0)\"" }.joined(separator: ",")
        let data = #"{"connection":"c","from":"e-\#(offset)","refused":[\#(names)]}"#
        send("id: e-\(offset)\nevent: runway.\(kind)\ndata: \(data)\n\n")
    }

    func event(_ offset: Int, _ text: String, topic: String = "a") {
        send("id: e-\(offset)\ntopic: \(topic)\ndata: \(text)\n\n")
    }

    /// The server ends the response.
    func end() { continuation.finish() }
    /// The connection is lost.
    func lose() {
        continuation.finish(throwing: NetworkError(.noNetwork, in: .transporting, "The connection was lost."))
    }
}

/// The system's time in the background, which a test ends.
final class ScriptedGrace: BackgroundGrace {
    /// Guards what the layer holds.
    private let expiries = Mutex<[@Sendable () -> Void]>([])

    func begin(_ name: String, onExpiry: @escaping @Sendable () -> Void) -> Int? {
        expiries.withLock { expiries in
            expiries.append(onExpiry)
            return expiries.count
        }
    }

    func end(_ token: Int) {}

    /// The time is over.
    func expire() { for expire in expiries.withLock({ $0 }) { expire() } }
}

/// A layer over streams that a test plays, and the stream that one reader follows.
final class FollowedStream: Sendable {
    let clock = ManualClock()
    let server = FakeEvents()
    let records = RecordCollector()
    let reception = Reception()
    let network: NetworkLayer
    let events: EventSequence
    private let task: Task<NetworkError?, Never>

    init(
        _ topics: Set<String>? = ["a"], grace: ScriptedGrace? = nil, after cursor: String = "",
        of followed: Set<String>? = nil, without refused: Set<String> = [], wakingEarly: Bool = false,
        prepare: (FakeEvents) -> Void = { _ in }
    ) {
        prepare(server)
        network = NetworkLayer(
            transport: server, pipeline: .tested,
            clock: wakingEarly ? LayerClock(EarlyClock(clock)) : LayerClock(clock), sinks: [records],
            status: SettableNetworkStatus(), grace: grace)
        network.configure(Newsroom.self) { $0.baseURLs = [.release: "https://news.example"] }
        let cursors = MemoryStreamCursorStore()
        if !cursor.isEmpty {
            let place = StreamCursor(
                stream: "news", lastEventID: cursor, topics: followed, refusedTopics: refused)
            cursors.store(place, for: "news")
        }
        events = network.events(of: News(topics), cursors: cursors, key: "news", randomness: SeededGenerator(seed: 1))
        task = reception.follow(events)
    }

    deinit { task.cancel() }

    /// The link of a number, from 1. The clock is advanced to the end of the wait for it.
    func link(_ number: Int) async throws -> FakeLink {
        let limit = waitLimit
        try await waitUntil("link \(number)") {
            server.links.count >= number
        } meanwhile: {
            clock.advanceToDeadline(upTo: limit)
        }
        return server.links[number - 1]
    }

    /// The first link, which begins at a place and has been followed by the reader.
    func openedLink(at offset: Int = 7) async throws -> FakeLink {
        let link = try await link(1)
        link.open("reset", at: offset)
        try await reception.wait(forConnections: 1)
        return link
    }

    /// After the end of any wait of these tests between two links, and before a link that was just opened is suspected.
    var waitLimit: ManualClock.Instant { clock.now.advanced(by: .seconds(5)) }

    /// Waits for the end, and returns the error.
    func end() async -> NetworkError? { await task.value }
}
