import HTTPTypes
import Runway
import RunwayTestServer
import RunwayTesting
import RunwayTransport
import StreamFixtures
import Testing

@testable import RunwayStreams

/// What ends a stream with its reason, since another link would end in the same way, and what does not.
@Suite(.timeLimit(.minutes(10)))
struct StreamRefusalTests {
    private static let gzipHead: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3]

    private static func stream(_ chunks: [UInt8]..., coding: String? = nil) -> ScriptedResponse {
        var response = ScriptedResponse(headerFields: [.contentType: "text/event-stream"], chunks: chunks)
        response.headerFields[.contentEncoding] = coding
        return response.framed(.chunked)
    }

    /// Follows a stream whose links get these responses, and returns the error of its end and the number of links.
    private func end(after responses: [ScriptedResponse]) async throws -> (error: NetworkError?, linkCount: Int) {
        try await withScriptedOrigin { origin in
            origin.on("/news/a%20b", respond: responses)
            let (network, transport) = try makeNetwork(port: 0)
            network.configure(Newsroom.self) { $0.baseURLs = [.release: origin.baseURL] }
            let error = await Reception().follow(network.events(of: News(), options: hasty)).value
            await transport.shutdown(waitingAtMost: .zero)
            return (error, origin.requests.count)
        }
    }

    @Test(arguments: [
        stream(Array("data: a\n\n".utf8), coding: "compress"), stream(gzipHead + [0xFF, 0xFF], coding: "gzip"),
        stream(Array("data: a\n\n".utf8), coding: "gzip"),
        stream(Array("data: a\n\n".utf8)).rawHeader("Transfer-Encoding: zork, chunked"),
        stream(Array("data: a\n\n".utf8)).framed(.brokenChunk(0)),
    ])
    func undecodableBodyEndsTheStream(_ response: ScriptedResponse) async throws {
        let (error, linkCount) = try await end(after: [response])
        #expect(error?.kind == .invalidResponse)
        #expect(linkCount == 1)
    }

    @Test(arguments: [
        stream(gzipHead, coding: "gzip"), stream(Array("data: a\n\n".utf8)).framed(.chunkedWithoutEnd),
        stream(Array("data: a\n\n".utf8)).cut(after: .bodyBytes(5), by: .reset),
        stream(Array("data: a\n\n".utf8), Array("data: b\n\n".utf8)).framed(.brokenChunk(1)),
    ])
    func passingFailureIsFollowedByAnotherLink(_ response: ScriptedResponse) async throws {
        let (error, linkCount) = try await end(after: [response, .status(.noContent)])
        #expect(error == nil)
        #expect(linkCount == 2)
    }

    @Test func errorNamesAWrongStatus() async throws {
        var response = Self.stream(Array("data: a\n\n".utf8))
        response.status = .accepted
        let (error, linkCount) = try await end(after: [response])
        #expect(error?.kind == .invalidResponse && error?.status == .accepted)
        #expect(error?.detail.contains("its status is 202") == true)
        #expect(linkCount == 1)
    }

    @Test func errorNamesAnUnknownCoding() async throws {
        let stream = FollowedStream { $0.setFields(["Content-Encoding": "compress"]) }
        let error = await stream.end()
        #expect(error?.detail.contains("content coding compress") == true)
        let decision = try #require(try await stream.records.records(count: 1).first?.decisions.last)
        #expect(decision.name == "streamNotOpened" && decision.fields["coding"] == "compress")
    }

    @Test(arguments: [400, 403, 404, 410, 501, 505]) func lastingRefusalEndsTheStream(_ code: Int) async throws {
        let (error, linkCount) = try await end(after: [.status(.init(code: code))])
        #expect(error?.status?.code == code)
        #expect(linkCount == 1)
    }

    @Test(arguments: [408, 429, 500, 502, 503, 504])
    func passingRefusalIsFollowedByAnotherLink(_ code: Int) async throws {
        let (error, linkCount) = try await end(after: [.status(.init(code: code)), .status(.noContent)])
        #expect(error == nil)
        #expect(linkCount == 2)
    }

    @Test(arguments: [NetworkError.Kind.invalidResponse, .service])
    func reportedOutageIsFollowedByAnotherLink(_ kind: NetworkError.Kind) {
        let outage = NetworkError(kind, in: .judging, "down", status: .serviceUnavailable)
        if case .transient = LinkFailure(outage) {} else { Issue.record("the stream would end") }
        let refusal = NetworkError(kind, in: .judging, "no", status: .ok)
        if case .final = LinkFailure(refusal) {} else { Issue.record("the stream would reconnect") }
    }

    @Test func loginOfANetworkIsWaitedFor() async throws {
        let stream = FollowedStream { $0.refuseLink(.networkAuthenticationRequired) }
        try await waitUntil("the wait") { stream.events.state == .waiting && stream.clock.nextDeadline != nil }
        #expect(try #require(stream.clock.nextDeadline).offset >= StreamOptions().untrustedBackoff)
    }
}
