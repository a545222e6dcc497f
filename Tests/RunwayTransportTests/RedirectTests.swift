import HTTPTypes
import Runway
import RunwayTestServer
import RunwayTesting
import RunwayTransport
import Testing

/// The redirecting stage over real sockets, to one origin and to another.
@Suite(.timeLimit(.minutes(10)), .overEveryTransport)
struct RedirectTests {
    private static let credentials = [
        "Authorization": "Bearer 1", "Cookie": "a=1", "X-Own": "stored", "Accept": "text/plain",
    ]

    private func withTwoOrigins(
        _ body: (ScriptedOrigin, ScriptedOrigin, NetworkLayer, RecordCollector) async throws -> Void
    ) async throws {
        try await withScriptedOrigin { home in
            try await withScriptedOrigin { away in
                let records = RecordCollector()
                let network = try NetworkLayer(to: home.baseURL, sinks: [records])
                try await body(home, away, network, records)
            }
        }
    }

    @Test func chainWithinItsOriginIsFollowedWithCredentials() async throws {
        try await withTwoOrigins { home, _, network, records in
            home.on("/a", respond: .redirect(to: "/b?c=1"))
            home.on("/b", respond: .redirect(to: home.baseURL + "/d", status: .movedPermanently))
            home.on("/d", respond: .text("there"))
            #expect(try await network.call(Fetch<GET>("a", headers: Self.credentials)).text == "there")
            #expect(home.requests.map(\.target) == ["/a", "/b?c=1", "/d"])
            #expect(home.requests.allSatisfy { $0["authorization"] == "Bearer 1" && $0["cookie"] == "a=1" })
            #expect(home.connectionCount == 1)
            let record = try #require(try await records.records(count: 1).first)
            #expect(record.attempts.map { $0.status?.code } == [302, 301, 200])
            #expect(
                record.decisions(of: RedirectDecision.self) == [
                    .followed(status: 302, hop: 1), .followed(status: 301, hop: 2),
                ])
        }
    }

    @Test func credentialsAreNeverCarriedAcrossOriginsOrBack() async throws {
        try await withTwoOrigins { home, away, network, _ in
            home.on("/a", respond: .redirect(to: away.baseURL + "/b", status: .temporaryRedirect))
            away.on("/b", respond: .redirect(to: home.baseURL + "/c", status: .temporaryRedirect))
            home.on("/c", respond: .text("back"))
            let body = RequestBody.bytes(Array("stored".utf8))
            #expect(try await network.call(Fetch<POST>("a", body, headers: Self.credentials)).text == "back")
            let abroad = try #require(away.requests.first)
            #expect(abroad.method == .post)
            #expect(abroad.text == "stored")
            #expect(abroad["authorization"] == nil && abroad["cookie"] == nil)
            #expect(abroad["x-own"] == nil, "nobody here knows what it means")
            #expect(abroad["accept"] == "text/plain")
            #expect(abroad["host"] == "127.0.0.1:\(away.port)")
            #expect(home.requests.map { $0["authorization"] } == ["Bearer 1", nil])
        }
    }

    @Test func anotherHostAtSamePortIsAnotherOrigin() async throws {
        try await withTwoOrigins { home, _, network, _ in
            home.on("/a", respond: .redirect(to: "http://localhost:\(home.port)/b"))
            home.on("/b", respond: .text("there"))
            _ = try await network.call(Fetch<GET>("a", headers: Self.credentials))
            #expect(home.requests.map { $0["cookie"] } == ["a=1", nil])
        }
    }

    @Test func seeOtherTurnsAPostIntoBodilessGet() async throws {
        try await withTwoOrigins { home, _, network, _ in
            home.on(.post, "/a", respond: .redirect(to: "/b", status: .seeOther))
            home.on(.get, "/b", respond: .text("there"))
            #expect(try await network.call(Fetch<POST>("a", .bytes([1, 2, 3]))).text == "there")
            let second = try #require(home.requests.last)
            #expect(second.bodyByteCount == 0)
            #expect(second["content-type"] == nil && second["content-length"] == nil)
        }
    }

    @Test func signedTargetIsRequestedAsSigned() async throws {
        try await withTwoOrigins { home, away, network, _ in
            home.on("/a", respond: .redirect(to: away.baseURL + "/x/../f?sig=a%2Fb%3D&name=my file.pdf"))
            away.otherwise(respond: .text("there"))
            _ = try await network.call(Fetch<GET>("a"))
            #expect(away.requests.map(\.target) == ["/f?sig=a%2Fb%3D&name=my%20file.pdf"])
        }
    }

    @Test func aNameInBracketsIsNotDialled() async throws {
        try await withTwoOrigins { home, away, network, _ in
            home.on("/a", respond: .redirect(to: "http://[localhost]:\(away.port)/x"))
            let refusal = try await network.failure(of: Fetch<GET>("a"))
            #expect(refusal.kind == .refused && away.connectionCount == 0)
            let head = HTTPRequest(method: .get, scheme: "http", authority: "[localhost]:\(away.port)", path: "/x")
            let error = await #expect(throws: NetworkError.self) {
                try await network.exchange(Request(head: head), with: TestService.self)
            }
            #expect(error?.kind == .invalidParameters && away.connectionCount == 0)
        }
    }

    /// AsyncHTTPClient passes field values as text, of which the octets are lost.
    @Test func octetsOfATargetAreNotReplaced() async throws {
        try await withScriptedOrigin { origin in
            var response = ScriptedResponse.status(.found)
            response.headerFields.append(
                HTTPField(name: .location, value: Array("/caf".utf8) + [0xE9] + Array("?x=%E9".utf8)))
            origin.on("/a", respond: response)
            origin.on("/caf%E9", respond: .text("there"))
            let network = NetworkLayer(
                to: origin.baseURL,
                over: try NIOTransport(configuration: TransportConfiguration(connectTimeout: .seconds(300))))
            #expect(try await network.call(Fetch<GET>("a")).text == "there")
            #expect(origin.requests.last?.target == "/caf%E9?x=%E9")
            let other = NetworkLayer(to: origin.baseURL, over: try AsyncHTTPClientTransport())
            #expect(try await other.failure(of: Fetch<GET>("a")).kind == .invalidResponse)
            #expect(origin.requestCount == 3)
        }
    }

    @Test(arguments: ["xn--bcher-kva.localhost", "b\u{FC}cher.localhost"])
    func internationalHostIsProvedByItsALabel(_ host: String) async throws {
        let label = "xn--bcher-kva.localhost"
        let certificate = try TestCertificate(for: label)
        try await withScriptedOrigin(tls: certificate.tls) { origin in
            origin.otherwise(respond: .text("there"))
            let trust = TransportConfiguration.Trust.certificates(pem: [certificate.certificatePEM])
            let network = NetworkLayer(
                to: "https://\(host):\(origin.port)",
                over: try NIOTransport(
                    configuration: TransportConfiguration(trust: trust, connectTimeout: .seconds(300))))
            #expect(try await network.call(Fetch<GET>("a")).text == "there")
            let request = try #require(origin.requests.first)
            #expect(request.serverName == label && request["host"] == "\(label):\(origin.port)")
        }
    }

    @Test func repeatableStreamIsSentAgain() async throws {
        try await withTwoOrigins { home, _, network, _ in
            home.on("/a", respond: .redirect(to: "/b", status: .permanentRedirect))
            home.on("/b", respond: .text("there"))
            let body = RequestBody.stream(BodyStream(Array("again".utf8)), byteCount: nil, isReplayable: true)
            let raw = try await network.call(Fetch<PUT>("a", body))
            #expect(raw.text == "there")
            #expect(home.requests.map(\.text) == ["again", "again"])
        }
    }

    @Test func unrepeatableStreamEndsTheChain() async throws {
        try await withTwoOrigins { home, _, network, _ in
            home.on("/a", respond: .redirect(to: "/b", status: .permanentRedirect))
            let body = RequestBody.stream(BodyStream(Array("once".utf8)), byteCount: nil, isReplayable: false)
            let error = try await network.failure(of: Fetch<PUT>("a", body))
            #expect(error.kind == .refused)
            #expect(error.status == .permanentRedirect)
            #expect(home.requestCount == 1)
        }
    }

    @Test func aCircleEndsBeforeItsFirstRepetition() async throws {
        try await withTwoOrigins { home, away, network, _ in
            home.on("/a", respond: .redirect(to: "\(away.baseURL)/b", status: .temporaryRedirect))
            away.on("/b", respond: .redirect(to: "\(home.baseURL)/a", status: .temporaryRedirect))
            let error = try await network.failure(of: Fetch<POST>("a", .bytes([1])))
            #expect(error.kind == .refused && error.status == .temporaryRedirect)
            #expect(home.requestCount == 1 && away.requestCount == 1)
        }
    }

    @Test(.exceptSessionOfRealSystem)
    func tlsIsNeverLeft() async throws {
        let certificate = try TestCertificate()
        try await withScriptedOrigin(tls: certificate.tls) { secure in
            try await withScriptedOrigin { plain in
                secure.on("/a", respond: .redirect(to: plain.baseURL + "/b"))
                let trust = TransportConfiguration.Trust.certificates(pem: [certificate.certificatePEM])
                let network = try NetworkLayer(
                    to: secure.baseURL, TransportConfiguration(trust: trust, connectTimeout: .seconds(300)))
                #expect(try await network.failure(of: Fetch<GET>("a")).kind == .refused)
                #expect(plain.connectionCount == 0)
            }
        }
    }

    /// The body of a redirect that nobody reads must not keep the only connection from the next hop.
    @Test(.exceptSessionOnLinux("the body of a redirect comes whole"))
    func aStreamedRedirectReleasesItsConnection() async throws {
        try await withScriptedOrigin { origin in
            let gate = ScriptedGate()
            origin.on(
                "/a",
                respond: .chunks(["see ", "there"], status: .found).header(.location, "/b")
                    .pausing(.beforeChunk(1), .gate(gate)))
            origin.on(
                "/b",
                respond: .chunks(["or ", "there"], status: .found).header(.location, "/c")
                    .pausing(.beforeChunk(1), .gate(gate)))
            origin.on("/c", respond: .chunks(["the ", "response"]))
            let configuration = TransportConfiguration(connectTimeout: .seconds(60), maximumConnectionsPerOrigin: 1)
            let network = try NetworkLayer(to: origin.baseURL, configuration)
            let response = try await network.stream(Fetch<GET>("a"))
            #expect(try await response.body.text() == "the response")
            gate.open()
        }
    }

    @Test func bodyOfARedirectIsNoResponse() async throws {
        try await withTwoOrigins { home, _, network, _ in
            home.on("/a", respond: .text("see there", status: .found).header(.location, "/b"))
            home.on("/b", respond: .chunks(["the ", "response"]))
            let response = try await network.stream(Fetch<GET>("a"))
            #expect(try await response.body.text() == "the response")
        }
    }
}
