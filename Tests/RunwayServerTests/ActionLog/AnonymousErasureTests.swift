import AsyncHTTPClient
import Foundation
import Hummingbird
import NIOCore
import NIOHTTP1
import RunwayServer
import Testing

/// The route by which a client has the records erased that it sent while nobody was signed in, over a socket.
@Suite(.timeLimit(.minutes(10)))
struct AnonymousErasureTests {
    /// A sink that can't erase.
    private struct FailingSink: ActionLogErasing {
        struct Failure: Error {}

        func store(_ batch: RunwayServer.ActionLogBatch) async throws -> ActionLogStorage { throw Failure() }
        func erase(account: String) async throws { throw Failure() }
        func erase(anonymousRecordsOf installation: UUID) async throws { throw Failure() }
    }

    private static let secret = Data(count: 32).base64EncodedString()
    /// SHA-256 of 32 zeros begins with 66687aad f862bd77 6c8fc18b 8e9f8e20.
    private static let installation = UUID(uuidString: "66687aad-f862-8d77-ac8f-c18b8e9f8e20")

    /// Serves the routes to a client that has proved no account.
    private func serve(
        _ sink: some ActionLogErasing, maximumRunningCount: Int = 64, _ use: (Int) async throws -> Void
    ) async throws {
        let router = Router()
        ActionLogRoute(to: sink, maximumRunningCount: maximumRunningCount).addErasure(to: router) { _, _ in nil }
        try await serving(router) { port in try await use(port) }
    }

    /// Sends a body to a port, and returns the status of the response and its body.
    private func erase(_ body: String, at port: Int) async throws -> (code: Int, byteCount: Int) {
        var request = HTTPClientRequest(url: "http://127.0.0.1:\(port)/log/erasure")
        request.method = .POST
        request.body = .bytes(Array(body.utf8))
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
        let reply = try await response.body.collect(upTo: 1 << 20)
        return (Int(response.status.code), reply.readableBytes)
    }

    /// A sink with a record without an account, one of the same installation with an account, and one of another installation.
    private func sink() throws -> (MemoryActionLogSink, own: UUID, others: [UUID]) {
        let (sink, installation) = (MemoryActionLogSink(), try #require(Self.installation))
        var ids: [UUID] = []
        let owners: [(UUID, String?)] = [(installation, nil), (installation, "ada"), (UUID(), nil)]
        for (installation, account) in owners {
            let id = UUID()
            _ = try sink.store(
                RunwayServer.ActionLogBatch(
                    installation: installation, stream: UUID(), number: 1, account: account,
                    records: [.init(id: id, name: "opened", json: [])]))
            ids.append(id)
        }
        return (sink, ids[0], Array(ids.dropFirst()))
    }

    @Test func secretErasesTheRecordsOfNobody() async throws {
        let (sink, own, others) = try sink()
        try await serve(sink) { port in
            let body = #"{"secret":"\#(Self.secret)"}"#
            // The response is the same when nothing is left.
            for _ in 0..<2 {
                let reply = try await erase(body, at: port)
                #expect(reply.code == 204 && reply.byteCount == 0)
                #expect(sink.records.map(\.id) == others)
            }
        }
        // What was erased is not stored again.
        let again = RunwayServer.ActionLogBatch(
            installation: try #require(Self.installation), stream: UUID(), number: 1, account: nil,
            records: [.init(id: own, name: "opened", json: [])])
        #expect(try sink.store(again) == .stored(duplicates: [own]))
    }

    @Test func wrongSecretErasesNothing() async throws {
        let (sink, own, others) = try sink()
        try await serve(sink) { port in
            let other = Data(repeating: 1, count: 32).base64EncodedString()
            let reply = try await erase(#"{"secret":"\#(other)"}"#, at: port)
            #expect(reply.code == 204 && reply.byteCount == 0)
        }
        #expect(sink.records.map(\.id) == [own] + others)
    }

    @Test(arguments: [
        "", "{", "[]", "{}", #"{"secret":7}"#, #"{"secret":""}"#, #"{"secret":"no base64"}"#,
        #"{"secret":"66687aad-f862-8d77-ac8f-c18b8e9f8e20"}"#,
        #"{"secret":"\#(Data(count: 31).base64EncodedString())"}"#,
        #"{"secret":"\#(Data(count: 33).base64EncodedString())"}"#,
    ])
    func malformedBodyIsRefused(_ body: String) async throws {
        let (sink, _, _) = try sink()
        try await serve(sink) { port in
            let reply = try await erase(body, at: port)
            #expect(reply.code == 400, "\(body)")
        }
        #expect(sink.records.count == 3)
    }

    @Test func longBodyIsRefused() async throws {
        let (sink, _, _) = try sink()
        try await serve(sink) { port in
            let padding = String(repeating: " ", count: 1024)
            let reply = try await erase(#"{"secret":"\#(Self.secret)"}"# + padding, at: port)
            #expect(reply.code == 413)
        }
        #expect(sink.records.count == 3)
    }

    @Test func failureAndOverloadAreReported() async throws {
        let body = #"{"secret":"\#(Self.secret)"}"#
        try await serve(FailingSink()) { port in
            let reply = try await erase(body, at: port)
            #expect(reply.code == 503)
        }
        try await serve(MemoryActionLogSink(), maximumRunningCount: 0) { port in
            let reply = try await erase(body, at: port)
            #expect(reply.code == 429)
        }
    }
}
