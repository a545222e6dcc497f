import HTTPTypes
import Runway
import RunwayJSON
import RunwayTestServer
import RunwayTesting
import RunwayTransport
import Testing

/// Cookies on the wire: off, or a jar for each service and account.
@Suite(.timeLimit(.minutes(10)))
struct CookieCallTests {
    enum OtherService: APIService { static let environments: [ServiceEnvironment: String] = [:] }

    struct OtherFetch: Endpoint {
        static let service = OtherService.self
        static let coalesces = false
        let path: EndpointPath
        func encode(to encoder: any Encoder) {}
    }

    private func layer(_ origin: ScriptedOrigin, sinks: [any EventSink] = []) throws -> NetworkLayer {
        let network = try NetworkLayer(to: origin.baseURL, sinks: sinks)
        network.configure(TestService.self) { $0.cookies = .jar() }
        network.configure(OtherService.self) {
            $0.baseURLs = [.release: origin.baseURL]
            $0.cookies = .jar()
        }
        return network
    }

    private func script(_ origin: ScriptedOrigin) {
        origin.on("/set", respond: .text("").header(.setCookie, "session=s3cret; Path=/"))
        origin.otherwise(respond: .text("fine"))
    }

    @Test func withoutAPolicyNothingIsStored() async throws {
        try await withScriptedOrigin { origin in
            script(origin)
            let network = try NetworkLayer(to: origin.baseURL)
            _ = try await network.call(Fetch<GET>("set"))
            _ = try await network.call(Fetch<GET>("a"))
            #expect(origin.requests.allSatisfy { $0["cookie"] == nil })
            #expect(network.cookies(of: TestService.self).isEmpty)
        }
    }

    @Test func cookiesAreSentBackAndNotRecorded() async throws {
        try await withScriptedOrigin { origin in
            script(origin)
            let records = RecordCollector()
            let network = try layer(origin, sinks: [records])
            _ = try await network.call(Fetch<GET>("set"))
            _ = try await network.call(Fetch<GET>("a"))
            #expect(origin.requests.map { $0["cookie"] } == [nil, "session=s3cret"])
            let received = try await records.records(count: 2)
            #expect(received.flatMap { $0.decisions(of: CookieDecision.self) } == [.stored(1), .sent(1)])
            #expect(!received.contains { "\($0) \($0.attempts)".contains("s3cret") })
            #expect(network.cookies(of: TestService.self).map(\.name) == ["session"])
            network.removeCookies(of: TestService.self)
            _ = try await network.call(Fetch<GET>("a"))
            #expect(origin.requests.last?["cookie"] == nil)
        }
    }

    @Test func cookiesAreSeparateByServiceAndAccount() async throws {
        try await withScriptedOrigin { origin in
            script(origin)
            let network = try layer(origin)
            _ = try await network.call(Fetch<GET>("set"))
            _ = try await network.call(OtherFetch(path: "a"))
            #expect(origin.requests.last?["cookie"] == nil)
            network.configure(TestService.self) { $0.account = "one" }
            _ = try await network.call(Fetch<GET>("a"))
            #expect(origin.requests.last?["cookie"] == nil)
            network.configure(TestService.self) { $0.account = nil }
            _ = try await network.call(Fetch<GET>("a"))
            #expect(origin.requests.last?["cookie"] == "session=s3cret")
        }
    }

    @Test func cookieIsReturnedInTheOctetsThatCame() async throws {
        try await withScriptedOrigin { origin in
            let pair = Array("session=".utf8) + [0xE9, 0x80, 0xFF, 0x21]
            var response = ScriptedResponse.text("")
            response.headerFields.append(HTTPField(name: .setCookie, value: pair))
            origin.on("/octets", respond: response)
            script(origin)
            let network = try layer(origin)
            _ = try await network.call(Fetch<GET>("octets"))
            _ = try await network.call(Fetch<GET>("a"))
            let head = try #require(origin.requests.last).head
            #expect(head.firstRange(of: pair + Array("\r\n".utf8)) != nil)
            let cookie = try #require(network.cookies(of: TestService.self).first)
            #expect(cookie.valueOctets == Array(pair.dropFirst(8)) && cookie.name == "session")
        }
    }

    @Test func fieldOfTheCallersOwnIsSentAlone() async throws {
        try await withScriptedOrigin { origin in
            script(origin)
            let network = try layer(origin)
            _ = try await network.call(Fetch<GET>("set"))
            _ = try await network.call(Fetch<GET>("a", headers: ["Cookie": "own=1; two=2"]))
            #expect(origin.requests.last?.values(of: "cookie") == ["own=1; two=2"])
        }
    }

    @Test func everyRedirectHopHasItsOwnCookies() async throws {
        try await withScriptedOrigin { origin in
            script(origin)
            let away = origin.baseURL.replacing("127.0.0.1", with: "localhost")
            let hop = ScriptedResponse.text("", status: .found).header(.setCookie, "hop=1; Path=/")
            origin.on("/hop", respond: hop.header(.location, "/set"))
            origin.on("/away", respond: hop.header(.location, "\(away)/a"))
            let network = try layer(origin)
            _ = try await network.call(Fetch<GET>("hop"))
            _ = try await network.call(Fetch<GET>("away"))
            #expect(origin.requests.map { $0["cookie"] } == [nil, "hop=1", "hop=1; session=s3cret", nil])
        }
    }

    @Test func ignoredCookiesAreRecorded() async throws {
        try await withScriptedOrigin { origin in
            let response = ScriptedResponse.text("").rawHeader("Set-Cookie: a=1; Domain=elsewhere.example")
            origin.on("/a", respond: response.rawHeader("Set-Cookie: __Host-b=2").rawHeader("Set-Cookie: c=3"))
            let records = RecordCollector()
            _ = try await layer(origin, sinks: [records]).call(Fetch<GET>("a"))
            let record = try #require(try await records.records(count: 1).first)
            #expect(record.decisions(of: CookieDecision.self) == [.stored(1), .ignored(2)])
        }
    }
}

/// Cookies against httpbin.
@Suite(.enabled(if: IntegrationServers.areExpected), .timeLimit(.minutes(10)))
struct CookieServerTests {
    @Test func httpbinSetsReadsAndDeletesThem() async throws {
        let network = try IntegrationServers().httpbinLayer()
        network.configure(TestService.self) { $0.cookies = .jar() }
        let set = try await network.call(Fetch<GET>("cookies/set").query(["a": "1", "b": "2"]))
        #expect(set["cookies"]["a"].string == "1" && set["cookies"]["b"].string == "2")
        let deleted = try await network.call(Fetch<GET>("cookies/delete").query(["a": ""]))
        #expect(!deleted["cookies"]["a"].exists && deleted["cookies"]["b"].string == "2")
        #expect(network.cookies(of: TestService.self).map(\.name) == ["b"])
    }
}
