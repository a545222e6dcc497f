import HTTPTypes
import RunwayJSON
import RunwayTestServer
import RunwayTesting
import RunwayTransport
import Testing

@testable import Runway

/// What becomes of requests whose envelope is lost on the wire.
@Suite(.timeLimit(.minutes(10)))
struct MergedRetryTests {
    /// A change that may be made twice.
    private struct Replace: Endpoint {
        static let service = Merged.self
        static let method = HTTPRequest.Method.put
        var path: EndpointPath { "replaced" }
        func encode(to encoder: any Encoder) {}
    }

    /// A change that the server makes once, however often it is asked.
    private struct KeyedWrite: Endpoint {
        static let service = Merged.self
        static let method = HTTPRequest.Method.post
        static let sendsIdempotencyKey = true
        var path: EndpointPath { "keyed" }
        func encode(to encoder: any Encoder) {}
    }

    private let records = RecordCollector()
    private let held = ScriptedGate()

    /// Responds to every request with its path, also in envelopes, but closes the connection for envelopes with a change that
    /// may not be repeated.
    private func serve(_ origin: ScriptedOrigin) {
        origin.on("/v1/held") { [held] _ in
            try await held.pass()
            return .json("{}")
        }
        origin.on(.post, "/v1/_batch") { request in
            let items = request.items
            if items.contains(where: { $0["path"].string == "/v1/write" }) { return .closing }
            let members = items.map { item in
                let body = #"{\"path\":\"\#(item["path"].string ?? "")\"}"#
                return #"{"id":"\#(item["id"].string ?? "")","status":200,"headers":[],"body":"\#(body)"}"#
            }
            return .json(#"{"responses":[\#(members.joined(separator: ","))]}"#)
        }
        origin.otherwise { .json(#"{"path":"\#($0.path)"}"#) }
    }

    private func makeNetwork(_ origin: ScriptedOrigin) throws -> NetworkLayer {
        let network = NetworkLayer(
            transport: try NIOTransport(configuration: TransportConfiguration(connectTimeout: .seconds(300))),
            pipeline: .tested, clock: LayerClock(ManualClock()), sinks: [records],
            limits: LayerLimits(admission: .none))
        network.configure(Merged.self) { $0.baseURLs = [.release: "\(origin.baseURL)/v1"] }
        return network
    }

    /// Starts a call whose request waits to leave with others.
    private func call<E: Endpoint>(_ endpoint: E, on network: NetworkLayer) async throws -> Task<RawData, any Error> {
        let count = network.merger.waitingCount
        let options = CallOptions(retry: RetryPolicy(baseWait: .zero))
        let call = Task { try await network.call(endpoint, options: options) }
        try await waitUntil { network.merger.waitingCount != count }
        return call
    }

    @Test func onlyRepeatableItemsAreRetried() async throws {
        try await withScriptedOrigin { origin in
            serve(origin)
            let network = try makeNetwork(origin)
            let first = Task { try await network.call(Read("held")) }
            try await held.waitForArrivals()
            let repeatable = [
                try await call(Read("read"), on: network), try await call(Replace(), on: network),
                try await call(KeyedWrite(), on: network),
            ]
            let write = try await call(Write(content: .bytes([1])), on: network)
            held.open()
            _ = try await first.value
            let paths = ["/v1/read", "/v1/replaced", "/v1/keyed"]
            for (call, path) in zip(repeatable, paths) { #expect(try await call.value["path"].string == path) }
            let error = try await #require(throws: NetworkError.self) { try await write.value }
            #expect(error.kind == .noNetwork)

            let sent = origin.requests.flatMap { $0.path == "/v1/_batch" ? $0.itemPaths : [$0.path] }
            for path in paths { #expect(sent.count { $0 == path } == 2, "\(path) in \(sent)") }
            #expect(sent.count { $0 == "/v1/write" } == 1)
            #expect(origin.requests[1].itemPaths.count == 4)
            await network.flushRecords()
            let retries = records.records.flatMap { $0.decisions(of: RetryDecision.self) }
            let cause = RetryCause.noNetwork(error.sending)
            let again = RetryDecision.again(attempt: 2, wait: .zero, cause: cause, retryAfter: nil)
            #expect(retries.count { $0 == again } == 3)
            #expect(retries.count { $0 == .gaveUp(.notRepeatable, cause: cause) } == 1)
        }
    }
}

extension ReceivedRequest {
    /// What is in an envelope.
    fileprivate var items: [JSONValue] {
        guard let document = try? JSONDocument(body) else { return [] }
        return Array(document.root["requests"].elements)
    }

    fileprivate var itemPaths: [String] { items.map { $0["path"].string ?? "" } }
}
