import HTTPTypes
import Runway
import RunwayTestServer
import RunwayTesting
import RunwayTransport
import Testing

/// Responses and servers that are not as they should be: each ends in one error that says what happened.
@Suite(.timeLimit(.minutes(10)), .overEveryTransport)
struct MisbehaviourTests {
    private func failure(of response: ScriptedResponse) async throws -> NetworkError {
        try await withScriptedOrigin { origin in
            origin.on("/a", respond: response)
            let error = try await NetworkLayer(to: origin.baseURL).failure(of: Fetch<GET>("a"))
            #expect(error.step == .transporting)
            #expect(error.request == "GET \(origin.baseURL)/a")
            #expect(error.host == "127.0.0.1")
            #expect(error.attempt == 1)
            #expect(error.underlying != nil)
            return error
        }
    }

    static let truncated: [(String, ScriptedResponse)] = [
        ("length too long", .text("short").declaring(length: 99)),
        ("length too long, reset", .text("short").declaring(length: 99).ending(.reset)),
        ("length too long, half closed", .text("short").declaring(length: 99).ending(.halfClose)),
        ("chunks without end", .chunks(["one"]).framed(.chunkedWithoutEnd)),
        ("cut in a chunk", .chunks(["one", "two"]).cut(after: .bodyBytes(10))),
        ("cut in the head", .text("body").cut(after: .headBytes(20))),
        ("cut in the status line", .text("body").cut(after: .headBytes(5))),
        ("reset in the head", .text("body").cut(after: .headBytes(20), by: .reset)),
        ("closed without a word", .closing),
        ("reset without a word", .resetting),
        ("half closed without a word", .raw().ending(.halfClose)),
    ]

    @Test(arguments: truncated.indices)
    func truncatedResponsesNeverSucceed(index: Int) async throws {
        let (name, response) = Self.truncated[index]
        let isLibcurl = TransportUnderTest.isSessionOnLinux
        // This ends the process, inside Foundation on Linux.
        if isLibcurl, name == "cut in the head" { return }
        let error = try await failure(of: response)
        #expect(error.kind == .noNetwork || error.kind == .invalidResponse, "\(name)")
        #expect(error.sending != .notSent, "\(name)")
        #expect(error.detail.contains("127.0.0.1:"), "\(name): \(error.detail)")
        #expect(error.detail.hasSuffix("."), "\(name): \(error.detail)")
        // libcurl does not say where it ended.
        if isLibcurl { return }
        #expect(
            error.detail.contains("closed the connection") || error.detail.contains("was lost")
                || error.detail.contains("ended in the middle"),
            "\(name): \(error.detail)")
    }

    @Test(arguments: truncated.indices.prefix(5))
    func truncatedStreamsThrowWhereTheyEnd(index: Int) async throws {
        let (name, response) = Self.truncated[index]
        try await withScriptedOrigin { origin in
            let gate = ScriptedGate()
            origin.on("/a", respond: response.pausing(.beforeChunk(0), .gate(gate)))
            let response = try await NetworkLayer(to: origin.baseURL).stream(Fetch<GET>("a"))
            gate.open()
            let error = try await response.body.failure()
            #expect(error.kind == .noNetwork || error.kind == .invalidResponse, "\(name)")
            #expect(error.step == .transporting)
            #expect(error.request == "GET \(origin.baseURL)/a")
        }
    }

    /// A caller that reads a response of any length does not take the server's word for it.
    @Test func aLengthBeyondAllMemoryTakesNone() async throws {
        struct Boundless: Endpoint {
            static let service = TestService.self
            static let maximumResponseByteCount = Int.max
            var path: EndpointPath { "a" }
        }
        try await withScriptedOrigin { origin in
            origin.on("/a", respond: .text("short").declaring(length: 999_999_999_999_999_999))
            let error = try await NetworkLayer(to: origin.baseURL).failure(of: Boundless())
            #expect(error.kind == .noNetwork || error.kind == .invalidResponse)
        }
    }

    static let garbage: [ScriptedResponse] = [
        .raw("SSH-2.0-OpenSSH_9.2p1\r\n"), .raw("<html>a response of HTTP/0.9</html>"),
        .raw("HTTP/1.1 abc OK\r\n\r\n"), .raw("HTTP/9.9 200 OK\r\n\r\n"), .raw([0, 1, 2, 3, 255, 254]),
        .raw("HTTP/1.1 200 OK\r\nno colon here\r\n\r\n"),
        .raw("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"),
        .raw("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n"),
        .raw("HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999\r\n\r\nab"),
        .chunks(["one", "two"]).framed(.brokenChunk(1)),
    ]

    @Test(.except(.urlSession, "the system decides what is HTTP"), arguments: garbage.indices)
    func bytesOtherThanHTTPAreAnInvalidResponse(index: Int) async throws {
        let error = try await failure(of: Self.garbage[index])
        #expect(error.kind == .invalidResponse)
        #expect(error.detail.contains("is not HTTP"))
    }

    @Test(.except(.urlSession, "the system decides what is HTTP"))
    func aHeadWithoutBoundIsRefused() async throws {
        let error = try await failure(of: .text("body").paddedHead(bytes: 4 << 20))
        #expect(error.kind == .invalidResponse)
        #expect(error.detail.contains("is not HTTP"))
    }

    @Test func aLargeHeadIsRead() async throws {
        try await withScriptedOrigin { origin in
            origin.on("/a", respond: .text("body").paddedHead(bytes: 32 << 10))
            let raw = try await NetworkLayer(to: origin.baseURL).call(Fetch<GET>("a"))
            #expect(raw.response.headerFields[HTTPField.Name("x-padding")!]?.utf8.count == 32 << 10)
        }
    }

    /// Bytes after a response that were read with it must never be taken for the response to the next request.
    ///
    /// Bytes that arrive after the next request was sent can't be distinguished from its response in HTTP/1.1.
    @Test(arguments: [
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfirstHTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecond",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfirst and more than was said",
    ])
    func bytesAfterAResponseBelongToNoRequest(responses: String) async throws {
        try await withScriptedOrigin { origin in
            origin.on("/a", respond: .raw(responses).ending(.stayOpen))
            origin.on("/b", respond: .text("clean"))
            let network = try NetworkLayer(to: origin.baseURL)
            let first = try await network.call(Fetch<GET>("a"))
            #expect(first.text == "first")
            try await origin.waitForDisconnects(count: 1)
            #expect(try await text(of: "b", over: network) == "clean")
        }
    }

    /// The response of a call. The pool may learn a moment later than the origin that a connection is closed: then the call is made
    /// again.
    private func text(of path: EndpointPath, over network: NetworkLayer) async throws -> String? {
        do throws(NetworkError) {
            return try await network.call(Fetch<GET>(path)).text
        } catch {
            guard error.kind == .noNetwork else { throw error }
            return try await network.call(Fetch<GET>(path)).text
        }
    }

    @Test func earlyResponseIsRefusedOrOfItsRequest() async throws {
        try await withScriptedOrigin { origin in
            origin.onConnections([.respond(.text("unasked")), .serve])
            origin.on("/a", respond: .text("asked"))
            let network = try NetworkLayer(to: origin.baseURL)
            do throws(NetworkError) {
                // HTTP/1.1 gives a client no way to distinguish an early response from a requested one, unless it arrives with
                // the handshake of TLS: UnsolicitedResponseTests.
                let raw = try await network.call(Fetch<GET>("a"))
                #expect(raw.text == "unasked" || raw.text == "asked")
            } catch {
                #expect(error.kind == .noNetwork || error.kind == .invalidResponse)
            }
            #expect(try await text(of: "a", over: network) == "asked")
        }
    }

    static let switched = ScriptedResponse.raw(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: upgrade\r\n\r\n\0\0\0")

    @Test func unrequestedSwitchOfProtocolsIsNoResponse() async throws {
        try await withScriptedOrigin { origin in
            origin.on("/a", respond: Self.switched)
            origin.on("/b", respond: .text("next"))
            let network = try NetworkLayer(to: origin.baseURL)
            let error = try await network.failure(of: Fetch<GET>("a"))
            #expect(error.kind == .invalidResponse && error.step == .transporting)
            // A session does not say what it could not read in a response, nor whether the request was sent.
            if TransportUnderTest.current == .urlSession { return }
            #expect(error.sending == .sent)
            #expect(error.detail.hasSuffix("responded with status 101, which the request had not asked for."))
            #expect(try await network.call(Fetch<GET>("b")).text == "next")
            #expect(origin.connectionCount == 2, "a connection that switched carries no other request")
        }
    }

    @Test(.except(.urlSession, "it does not say why it could not connect"))
    func aRefusedConnectionFailsAtOnceWithoutRetry() async throws {
        let port = try RefusingPort()
        // A client that tried again would do so for as long as this, which is beyond the limit of the test.
        let network = try NetworkLayer(
            to: "http://127.0.0.1:\(port.number)", TransportConfiguration(connectTimeout: .seconds(3600)))
        let error = try await network.failure(of: Fetch<GET>("a"))
        #expect(error.kind == .noNetwork)
        #expect(error.detail.hasPrefix("No connection to 127.0.0.1:\(port.number) could be made: "))
        #expect(error.detail.hasSuffix("Connection refused."))
    }

    @Test func nameThatNobodyKnowsFailsAsNoNetwork() async throws {
        let error = try await NetworkLayer(to: "https://nobody.invalid").failure(of: Fetch<GET>("a"))
        #expect(error.kind == .noNetwork)
        #expect(error.detail.contains("No connection to nobody.invalid could be made: its name could not be looked up"))
        #expect(error.host == "nobody.invalid")
    }

    @Test(arguments: [ScriptedConnection.close, .reset])
    func connectionEndingAtOnceFailsAsNoNetwork(connection: ScriptedConnection) async throws {
        try await withScriptedOrigin { origin in
            origin.onConnections([connection])
            let error = try await NetworkLayer(to: origin.baseURL).failure(of: Fetch<GET>("a"))
            #expect(error.kind == .noNetwork)
        }
    }
}
