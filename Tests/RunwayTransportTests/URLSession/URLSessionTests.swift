import Foundation
import HTTPTypes
import Runway
import RunwayTestServer
import RunwayTesting
import Testing

/// What is true of a session alone; what is true of every transport is tested over every transport.
@Suite(.timeLimit(.minutes(10)))
struct URLSessionTests {
    private func layer(
        _ origin: ScriptedOrigin, _ configuration: URLSessionTransport.Configuration = .init()
    ) -> NetworkLayer {
        NetworkLayer(to: origin.baseURL, over: URLSessionTransport(configuration: configuration))
    }

    private func received<Method: TestMethod>(_ fetch: Fetch<Method>) async throws -> ReceivedRequest {
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .json("{}"))
            _ = try await layer(origin).call(fetch)
            return try #require(origin.requests.first)
        }
    }

    @Test func sessionNamesTheCodingsUnlessTheRequestDoes() async throws {
        let plain = try await received(Fetch<GET>("a"))
        #expect(plain.values(of: "user-agent") == ["runway"])
        #expect(plain["accept-encoding"]?.contains("gzip") == true)
        let part = try await received(Fetch<GET>("a", headers: ["Range": "bytes=0-1"]))
        #expect(part["accept-encoding"] == "identity")
    }

    @Test func bodyIsNotCalledAForm() async throws {
        #expect(try await received(Fetch<PUT>("a", .bytes([1])))["content-type"] == "application/octet-stream")
    }

    @Test func streamOfUnknownLengthArrivesWhole() async throws {
        let parts = RequestTests.parts(["one", "", "two", "三"])
        let request = try await received(Fetch<POST>("a", .stream(parts, byteCount: nil, isReplayable: true)))
        #expect(request.text == "onetwo三")
        #expect((request["content-length"] == nil) != (request["transfer-encoding"] == nil))
    }

    @Test func bodyOfAGetIsRefusedUnsent() async throws {
        try await withScriptedOrigin { origin in
            let error = try await layer(origin).failure(of: Fetch<GET>("a", .bytes([1])))
            #expect(error.kind == .invalidParameters && error.sending == .notSent)
            #expect(origin.connectionCount == 0)
        }
    }

    #if canImport(FoundationNetworking)
        @Test func pinsWithoutAComparableChainAreRefused() throws {
            let pins = try ["a", "b"].map { try PublicKeyPin(certificatePEM: TestAuthority($0).pem).description }
            let error = #expect(throws: NetworkError.self) {
                try URLSessionTransport(pins: [PublicKeyPins(host: "example.com", pins: pins, isEnforced: false)])
            }
            #expect(error?.kind == .invalidConfiguration && error?.detail.contains("NIOTransport") == true)
            _ = try URLSessionTransport(pins: [])
        }

        @Test func readerTooFarBehindGetsAnError() async throws {
            try await withScriptedOrigin { origin in
                let part = [UInt8](repeating: 7, count: 1 << 16)
                var unfinished = ScriptedResponse(chunks: Array(repeating: part, count: 100))
                unfinished.framing = .declaredLength(1 << 30)
                unfinished.ending = .stayOpen
                origin.on("/a", respond: unfinished)
                let network = layer(origin, .init(maximumBufferedByteCount: 200_000))
                let response = try await network.stream(Fetch<GET>("a"))
                try await origin.waitForDisconnects(count: 1)
                let error = try await response.body.failure()
                #expect(error.kind == .invalidResponse)
                #expect(error.detail.contains("more than 200000 bytes waited"))
            }
        }

        @Test func streamBeyondTheLimitIsRefusedUnsent() async throws {
            try await withScriptedOrigin { origin in
                let endless = BodyStream { { [UInt8](repeating: 1, count: 1000) } }
                var configuration = URLSessionTransport.Configuration()
                configuration.maximumStreamedRequestByteCount = 10_000
                let error = try await layer(origin, configuration).failure(
                    of: Fetch<POST>("a", .stream(endless, byteCount: nil, isReplayable: false)))
                #expect(error.kind == .invalidParameters && error.sending == .notSent)
                #expect(origin.connectionCount == 0)
            }
        }
    #endif

    /// One thread serves all sessions of a process.
    @Test func streamMayAwaitAnotherCallOfItsTransport() async throws {
        try await withScriptedOrigin { origin in
            origin.on("/a", respond: .text("outer"))
            origin.on("/b", respond: .text("inner"))
            let network = layer(origin)
            let body = BodyStream {
                var isFirst = true
                return {
                    defer { isFirst = false }
                    return isFirst ? try await network.call(Fetch<GET>("b")).bytes : nil
                }
            }
            let raw = try await network.call(Fetch<POST>("a", .stream(body, byteCount: nil, isReplayable: true)))
            #expect(raw.text == "outer")
            #expect(origin.requests.contains { $0.text == "inner" })
        }
    }

    @Test func cancelledCallEndsDespiteItsWaitingBody() async throws {
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .text("late"))
            let network = layer(origin)
            let wanted = ScriptedGate()
            let body = BodyStream {
                {
                    try await wanted.pass()
                    return [1]
                }
            }
            let call = Task {
                try await network.call(Fetch<POST>("a", .stream(body, byteCount: nil, isReplayable: false)))
            }
            try await wanted.waitForArrivals()
            call.cancel()
            let error = try await #require(throws: NetworkError.self) { try await call.value }
            #expect(error.kind == .cancelled)
            wanted.open()
        }
    }

    @Test(.enabled(if: IntegrationServers.areExpected))
    func filesOfNginxArriveWholeAndStreamed() async throws {
        let servers = try IntegrationServers()
        let network = NetworkLayer(to: servers.plainNginx, over: URLSessionTransport())
        for name in ["iso_15924.json", "iso_639-3.json"] {
            let file = try Array(Data(contentsOf: servers.isoCodes.appending(path: name)))
            #expect(try await network.call(Fetch<GET>("\(name)")).bytes == file)
            let response = try await network.stream(Fetch<GET>("\(name)"))
            #expect(try await response.body.collect(upTo: 1 << 24) == file)
            let part = try await network.call(Fetch<GET>("\(name)", headers: ["Range": "bytes=100-199"]))
            #expect(part.response.status == .partialContent && part.bytes == Array(file[100..<200]))
        }
    }

    @Test(.enabled(if: IntegrationServers.areExpected))
    func nginxWithoutATrustedAuthorityGetsNoRequest() async throws {
        let network = NetworkLayer(to: try IntegrationServers().nginx, over: URLSessionTransport())
        #expect(try await network.failure(of: Fetch<GET>("a")).kind == .notTrusted)
    }
}
