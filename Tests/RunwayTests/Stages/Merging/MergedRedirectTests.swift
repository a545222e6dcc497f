import HTTPTypes
import RunwayJSON
import RunwayTesting
import Testing

@testable import Runway

/// Redirects of merged requests, and of the envelopes that they are in.
@Suite(.timeLimit(.minutes(10)))
struct MergedRedirectTests {
    private struct Order: Endpoint {
        static let service = Merged.self
        static let method = HTTPRequest.Method.post
        var path: EndpointPath { "order" }
        func encode(to encoder: any Encoder) {}
    }

    private static let refusedConnection = NetworkError(
        .noNetwork, in: .transporting, "No connection.", sending: .notSent)

    /// Makes a change and a read that leave in one envelope. Returns the error of the change.
    private func failure(on layer: MergingLayer) async throws -> NetworkError {
        let first = try await layer.holdOne()
        let change = Task { [network = layer.network] in
            try await network.call(Order(), options: CallOptions(retry: RetryPolicy(baseWait: .zero)))
        }
        try await layer.waitForWaiting(1)
        let read = Task { [network = layer.network] in try await network.call(Read("read")) }
        try await layer.waitForWaiting(2)
        layer.server.held.open()
        _ = try await first.value
        _ = await read.result
        return try await #require(throws: NetworkError.self) { try await change.value }
    }

    /// How often the change was sent, in an envelope or alone.
    private func count(_ layer: MergingLayer) -> Int {
        layer.server.requests.count { $0.itemPaths.contains("/v1/order") || $0.head.path == "/v1/order" }
    }

    @Test func redirectedFailureDoesNotRepeatAMergedChange() async throws {
        let server = EnvelopeServer { request in
            let items = request.items.map { item in
                let id = item["id"].string ?? ""
                return item["method"].string == "POST"
                    ? #"{"id":"\#(id)","status":303,"headers":[["Location","/done"]],"body":""}"#
                    : #"{"id":"\#(id)","status":200,"headers":[],"body":"{}"}"#
            }
            return .json(#"{"responses":[\#(items.joined(separator: ","))]}"#)
        } item: { request throws(NetworkError) in
            if request.head.path == "/done" { throw Self.refusedConnection }
            return .path(of: request)
        }
        let layer = MergingLayer(server)
        let error = try await failure(on: layer)
        #expect(error.kind == .noNetwork && error.sending == .sent)
        #expect(error.redirectedOrigin?.host == "merged.test")
        #expect(count(layer) == 1)
    }

    /// What an envelope's redirect leads to says nothing about whether its requests took effect.
    @Test(arguments: [400, 401, 403, 404, 405, 501, 503])
    func redirectedEnvelopesRequestsAreNotSentAgain(_ status: Int) async throws {
        let server = EnvelopeServer(
            envelope: { _ in .redirect(.seeOther, to: "/elsewhere") },
            item: { request in
                request.head.path == "/elsewhere"
                    ? .json("{}", status: HTTPResponse.Status(code: status)) : .path(of: request)
            })
        let layer = MergingLayer(server)
        let error = try await failure(on: layer)
        #expect(error.status?.code == status && error.sending == .sent)
        #expect(count(layer) == 1)
        #expect(!layer.server.paths.contains("/v1/read"))
    }

    @Test func redirectedEnvelopeIsNotAccepted() async throws {
        let server = EnvelopeServer { request in
            request.head.path == "/v1/_batch"
                ? .redirect(.permanentRedirect, to: "/v1/_batch/") : .json("{}", status: .notFound)
        }
        let layer = MergingLayer(server)
        for call in try await layer.merge([Read("1"), Read("2")]) { _ = try await call.value }
        #expect(layer.server.paths.filter { !$0.contains("_batch") }.sorted() == ["/v1/1", "/v1/2", "/v1/held"])
    }

    @Test func refusedEnvelopeIsNotStoredForItsRequests() async throws {
        let server = EnvelopeServer { _ in
            var response = Response.json("{}", status: .forbidden)
            response.head.headerFields[.cacheControl] = "max-age=600"
            return response
        }
        let layer = MergingLayer(server)
        let first = try await layer.holdOne()
        let cached = CallOptions(cache: .http())
        let calls = ["1", "2"].map { path in
            Task { [network = layer.network] in try await network.call(Read("\(path)"), options: cached) }
        }
        try await layer.waitForWaiting(2)
        layer.server.held.open()
        _ = try await first.value
        for call in calls {
            let error = try await #require(throws: NetworkError.self) { try await call.value }
            #expect(error.status == .forbidden)
        }
        #expect(layer.network.cache.count == 0)
        #expect(try await layer.network.call(Read("1"), options: cached)["path"].string == "/v1/1")
    }
}
