import HTTPTypes
import Runway
import RunwayTestServer
import RunwayTesting
import Testing

@testable import RunwayTransport

/// What HTTP/1.1 connections of our own do, and AsyncHTTPClient's do not.
@Suite(.timeLimit(.minutes(10)))
struct HTTP1WireTests {
    private func layer(
        _ origin: ScriptedOrigin, _ wire: WireSettings = WireSettings(), sinks: [any EventSink] = []
    ) throws -> NetworkLayer {
        var configuration = TransportConfiguration(connectTimeout: .seconds(300))
        configuration.wire = wire
        return NetworkLayer(
            to: origin.baseURL, over: try NIOTransport(configuration: configuration), sinks: sinks)
    }

    @Test func unknownTransferCodingIsNotCalledMalformed() async throws {
        try await withScriptedOrigin { origin in
            origin.on("/a", respond: .raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: squeeze\r\n\r\nbody"))
            let network = NetworkLayer(
                to: origin.baseURL,
                over: try NIOTransport(configuration: TransportConfiguration(connectTimeout: .seconds(300))))
            let error = try await network.failure(of: Fetch<GET>("a"))
            #expect(error.kind == .invalidResponse)
            #expect(error.detail.contains(#"its transfer coding "squeeze" is not known"#))
        }
    }

    @Test(arguments: [ScriptedResponse.closing, .resetting])
    func readOnAClosingConnectionMovesToAnother(_ ending: ScriptedResponse) async throws {
        try await withScriptedOrigin { origin in
            origin.on("/first", respond: .text("first"))
            origin.on("/a", respond: [ending, .text("second")])
            let network = try layer(origin)
            _ = try await network.call(Fetch<GET>("first"))
            #expect(try await network.call(Fetch<GET>("a")).text == "second")
            #expect(origin.connectionCount == 2)
        }
    }

    /// A connection that a middlebox or the server has dropped gets no response: each connection of that age would lose the
    /// call again.
    @Test(arguments: [ScriptedResponse.closing, .resetting])
    func readAmongStaleConnectionsUsesANewOne(_ ending: ScriptedResponse) async throws {
        try await withScriptedOrigin { origin in
            let gate = ScriptedGate()
            origin.on("/first", respond: .text("first").held(by: gate))
            origin.on("/a") { request in request.connection > 8 ? .text("second") : ending }
            let records = RecordCollector()
            let network = try layer(origin, sinks: [records])
            try await withThrowingTaskGroup { group in
                for _ in 0..<8 { group.addTask { _ = try await network.call(Fetch<GET>("first")) } }
                try await gate.waitForArrivals(count: 8)
                gate.open()
                try await group.waitForAll()
            }
            #expect(origin.connectionCount == 8)
            #expect(try await network.call(Fetch<GET>("a")).text == "second")
            #expect(origin.requests.count { $0.path == "/a" } == 2)
            #expect(try await records.records(count: 9).last?.attempts.first?.wire?.moveCount == 1)
            // The others of that age are not reused.
            try await origin.waitForDisconnects(count: 8)
            #expect(try await network.call(Fetch<POST>("a")).text == "second")
            #expect(origin.connectionCount == 9)
        }
    }

    @Test func readThatIsLostTwiceFails() async throws {
        try await withScriptedOrigin { origin in
            origin.on("/first", respond: .text("first"))
            origin.on("/a", respond: .closing)
            let network = try layer(origin)
            _ = try await network.call(Fetch<GET>("first"))
            let error = try await network.failure(of: Fetch<GET>("a"))
            #expect(error.kind == .noNetwork && error.sending == .unknown)
            #expect(origin.requestCount == 3)
        }
    }

    @Test func changeOnAClosingConnectionIsSentOnce() async throws {
        try await withScriptedOrigin { origin in
            origin.on("/first", respond: .text("first"))
            origin.on("/a", respond: [.closing, .text("second")])
            let network = try layer(origin)
            _ = try await network.call(Fetch<GET>("first"))
            let error = try await network.failure(of: Fetch<POST>("a", .bytes([1])))
            #expect(error.kind == .noNetwork && error.sending == .unknown)
            #expect(origin.requests.count { $0.path == "/a" } == 1)
        }
    }

    @Test func readWithAnUnrepeatableStreamIsSentOnce() async throws {
        try await withScriptedOrigin { origin in
            origin.on("/first", respond: .text("first"))
            origin.on("/a", respond: [.closing, .text("second")])
            let network = try layer(origin)
            _ = try await network.call(Fetch<GET>("first"))
            let body = RequestBody.stream(RequestTests.parts(["one"]), byteCount: 3, isReplayable: false)
            let error = try await network.failure(of: Fetch<PUT>("a", body))
            #expect(error.kind == .noNetwork)
            #expect(origin.requests.count { $0.path == "/a" } == 1)
        }
    }

    @Test func connectionDiesAtEveryByteOfAResponse() async throws {
        let body = "a body of some length"
        for count in 0..<60 {
            try await withScriptedOrigin { origin in
                origin.on("/first", respond: .text("first"))
                origin.on("/a", respond: [.text(body).cut(after: .headBytes(count)), .text("again")])
                let network = try layer(origin)
                _ = try await network.call(Fetch<GET>("first"))
                do throws(NetworkError) {
                    // Before the first byte the connection was stale; the head is not longer than some of these counts.
                    let text = try await network.call(Fetch<GET>("a")).text
                    #expect(text == (count == 0 ? "again" : body), "after \(count) bytes")
                } catch {
                    #expect(count > 0 && error.sending == .sent, "after \(count) bytes: \(error)")
                }
            }
        }
    }

    @Test func bodyWaitsForTheServersWord() async throws {
        try await withScriptedOrigin { origin in
            origin.on("/a", respond: .text("done"))
            var wire = WireSettings()
            wire.expectContinueByteCount = 1000
            wire.continueTimeout = .seconds(300)
            let records = RecordCollector()
            let network = try layer(origin, wire, sinks: [records])
            let body = [UInt8](repeating: 7, count: 5000)
            #expect(try await network.call(Fetch<POST>("a", .bytes(body))).text == "done")
            let request = try #require(origin.requests.first)
            #expect(request["expect"] == "100-continue")
            #expect(request.body == body)
            #expect(try await network.call(Fetch<POST>("a", .bytes([1]))).text == "done")
            #expect(origin.requests.last?["expect"] == nil)
            #expect(origin.connectionCount == 1)
            let wires = try await records.records(count: 2).compactMap { $0.attempts.first?.wire }
            #expect(wires.map(\.informationalStatuses) == [[100], []])
        }
    }

    @Test func bodyIsSentWhenTheServerSaysNothing() async throws {
        try await withScriptedOrigin { origin in
            origin.on("/a", responding: .afterRequestWithoutContinue, respond: .text("done"))
            var wire = WireSettings()
            wire.expectContinueByteCount = 1
            wire.continueTimeout = .milliseconds(20)
            let network = try layer(origin, wire)
            #expect(try await network.call(Fetch<POST>("a", .bytes([1, 2]))).text == "done")
            #expect(origin.requests.first?.body == [1, 2])
        }
    }

    @Test func bodyThatTheServerRefusesIsNotSent() async throws {
        try await withScriptedOrigin(limits: .init(bodyBytes: 0)) { origin in
            origin.on("/a", responding: .afterHead, respond: .text("too much", status: .contentTooLarge))
            var wire = WireSettings()
            wire.expectContinueByteCount = 1
            wire.continueTimeout = .seconds(300)
            let error = try await layer(origin, wire).failure(of: Fetch<POST>("a", .bytes([1, 2])))
            #expect(error.status == .contentTooLarge)
            try await origin.waitForDisconnects(count: 1)
            #expect(origin.requests.allSatisfy { $0.bodyByteCount == 0 })
        }
    }

    @Test func unknownExpectationIsRetriedWithout() async throws {
        try await withScriptedOrigin { origin in
            let refusal = ScriptedResponse.text("what?", status: .expectationFailed)
            origin.on("/a", responding: .afterHead, respond: [refusal, .text("done")])
            var wire = WireSettings()
            wire.expectContinueByteCount = 1
            wire.continueTimeout = .seconds(300)
            let network = try layer(origin, wire)
            #expect(try await network.call(Fetch<POST>("a", .bytes([1, 2]))).text == "done")
            #expect(origin.requests.map { $0["expect"] } == ["100-continue", nil])
        }
    }

    @Test func trailersEndAResponseNotTheConnection() async throws {
        try await withScriptedOrigin { origin in
            let body = Array("3\r\none\r\n0\r\nX-Sum: 1\r\n\r\n".utf8)
            origin.on("/a", respond: ScriptedResponse(headerFields: [.transferEncoding: "chunked"], chunks: [body]))
            let network = try layer(origin)
            for _ in 0..<2 { #expect(try await network.call(Fetch<GET>("a")).text == "one") }
            #expect(origin.connectionCount == 1)
        }
    }

    @Test func responseThatDoesNotBeginInTimeFails() async throws {
        try await withScriptedOrigin { origin in
            origin.on("/a", respond: .never)
            var wire = WireSettings()
            wire.firstByteTimeout = .milliseconds(50)
            let error = try await layer(origin, wire).failure(of: Fetch<GET>("a"))
            #expect(error.kind == .timedOut)
            #expect(error.detail == "127.0.0.1:\(origin.port) did not begin to respond in time.")
            try await origin.waitForDisconnects(count: 1)
        }
    }

    @Test func callIsSentWhenConnectionsAreAcceptedAgain() async throws {
        let test = try TestDialer(resolved: ["127.0.0.1"])
        try await withScriptedOrigin(tls: test.certificate.tls) { origin in
            let gate = ScriptedGate()
            origin.onConnections([.serve, .reset, .close, .serve])
            origin.on("/poll", respond: .text("news").held(by: gate))
            origin.on("/a", respond: .text("sent"))
            let layer = NetworkLayer(
                to: "https://\(dialHost):\(origin.port)",
                over: NIOTransport(
                    configuration: TransportConfiguration(connectTimeout: .seconds(300)), dialer: test.dialer))
            let poll = Task { try await layer.call(Fetch<GET>("poll")) }
            try await gate.waitForArrivals()
            #expect(try await layer.call(Fetch<GET>("a")).text == "sent")
            #expect(origin.connectionCount == 4)
            gate.open()
            #expect(try await poll.value.text == "news")
        }
    }

    @Test func unusedConnectionIsClosedInTime() async throws {
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .text("there"))
            let configuration = TransportConfiguration(connectTimeout: .seconds(300), keepAlive: .milliseconds(50))
            let network = NetworkLayer(to: origin.baseURL, over: try NIOTransport(configuration: configuration))
            _ = try await network.call(Fetch<GET>("a"))
            try await origin.waitForDisconnects(count: 1)
        }
    }

    @Test func moreRequestsThanMayWaitFailAsOverloaded() async throws {
        try await withScriptedOrigin { origin in
            let gate = ScriptedGate()
            origin.otherwise(respond: .text("held").held(by: gate))
            var configuration = TransportConfiguration(connectTimeout: .seconds(300), maximumConnectionsPerOrigin: 1)
            configuration.wire.maximumWaitingRequests = 0
            let network = NetworkLayer(to: origin.baseURL, over: try NIOTransport(configuration: configuration))
            let error = try await network.failure(of: Fetch<GET>("a"))
            #expect(error.kind == .overloaded && error.sending == .notSent)
            #expect(origin.connectionCount == 0)
        }
    }

    @Test func recordHasTheWirePhases() async throws {
        try await withScriptedOrigin { origin in
            origin.on(
                "/a", respond: .raw("HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\none"))
            let records = RecordCollector()
            let network = try layer(origin, sinks: [records])
            _ = try await network.call(Fetch<POST>("a", .bytes([1, 2, 3])))
            let record = try #require(try await records.records(count: 1).first)
            let wire = try #require(record.attempts.first?.wire)
            #expect(wire.isReused == false && wire.address == "127.0.0.1:\(origin.port)" && wire.tlsVersion == nil)
            #expect(wire.tcp != nil && wire.tls == nil)
            #expect(wire.sending != nil && wire.waiting != nil && wire.receiving != nil)
            #expect(wire.informationalStatuses == [103])
            let request = try #require(origin.requests.first)
            #expect(wire.sentByteCount == request.head.count + 3)
            #expect(wire.receivedByteCount == 28 + 41)
            #expect(record.description.contains("new connection, to 127.0.0.1:\(origin.port), "))
        }
    }

    @Test func warmedConnectionIsThereForTheFirstCall() async throws {
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .text("warm"))
            let transport = try NIOTransport(configuration: TransportConfiguration(connectTimeout: .seconds(300)))
            transport.warmUp(origin.baseURL)
            transport.warmUp("no URL of ours")
            try await origin.waitForConnections(count: 1)
            let network = NetworkLayer(to: origin.baseURL, over: transport)
            #expect(try await network.call(Fetch<GET>("a")).text == "warm")
            #expect(origin.connectionCount == 1)
            transport.retireConnections()
            try await origin.waitForDisconnects(count: 1)
            #expect(try await network.call(Fetch<GET>("a")).text == "warm")
            #expect(origin.connectionCount == 2)
        }
    }
}
