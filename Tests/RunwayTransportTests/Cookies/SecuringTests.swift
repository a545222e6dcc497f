import Foundation
import HTTPTypes
import RunwayTesting
import Testing

@testable import Runway

/// Nothing goes without TLS unless the service says so.
struct SecuringTests {
    /// Responds to every request and records the URLs.
    private func layer(
        _ baseURL: String, headers: HTTPFields = [:], clock: LayerClock = .system,
        _ change: (inout ServiceSettings) -> Void = { _ in }
    ) -> (network: NetworkLayer, transport: StubTransport) {
        let transport = StubTransport { request in
            let head = HTTPResponse(status: .ok, headerFields: headers)
            return Response(head: head, body: .whole(RawData(Array(request.url.utf8), response: head)))
        }
        let network = NetworkLayer(
            transport: transport, pipeline: .tested, clock: clock,
            limits: LayerLimits(admission: .none, retrying: .none))
        network.configure(TestService.self) {
            $0.baseURLs = [.release: baseURL]
            change(&$0)
        }
        return (network, transport)
    }

    @Test(arguments: [
        "http://example.com", "http://127.0.0.1.example.com", "http://128.0.0.1", "http://localhost.example",
    ])
    func aRequestWithoutTLSDoesNotLeave(url: String) async throws {
        let (network, _) = layer(url)
        let error = try await network.failure(of: Fetch<GET>("a"))
        #expect(error.kind == .invalidConfiguration && error.sending == .notSent)
        #expect(error.step == .securing && error.attempt == 0)
        #expect(error.detail.hasSuffix("which the service does not allow: its allowsPlainHTTP is false."))
    }

    @Test(arguments: [
        "https://example.com", "http://127.0.0.1:8080", "http://127.1.2.3", "http://localhost", "http://a.localhost:1",
        "http://[::1]:8080", "http://localhost.", "http://[::ffff:127.0.0.1]", "http://127.0.0.1.",
    ])
    func tlsAndThisMachineItselfAreFine(url: String) async throws {
        #expect(try await layer(url).network.call(Fetch<GET>("a")).text == "\(url)/a")
    }

    @Test func aServiceMayAllowPlainHTTP() async throws {
        let (network, _) = layer("http://example.com") { $0.allowsPlainHTTP = true }
        #expect(try await network.call(Fetch<GET>("a")).text == "http://example.com/a")
    }

    @Test func aRedirectDoesNotLeaveTLSEither() async throws {
        let transport = StubTransport { request in
            let head = HTTPResponse(status: .found, headerFields: [.location: "http://example.com/b"])
            return Response(head: head, body: .whole(RawData([], response: head)))
        }
        let network = NetworkLayer(
            transport: transport, pipeline: .tested, limits: LayerLimits(admission: .none, retrying: .none))
        network.configure(TestService.self) { $0.baseURLs = [.release: "https://example.com"] }
        let error = try await network.failure(of: Fetch<GET>("a"))
        #expect(error.kind == .refused && error.status == .found)
        #expect(transport.requests.count == 1)
    }

    @Test func strictTransportUpgradesRequests() async throws {
        let now = Date()
        let time = ManualClock()
        let clock = LayerClock(time, wall: { now })
        for remembers in [true, false] {
            let (network, _) = layer(
                "https://example.com", headers: [.strictTransportSecurity: "max-age=100; includeSubDomains"],
                clock: clock
            ) {
                $0.allowsPlainHTTP = true
                $0.remembersStrictTransport = remembers
            }
            _ = try await network.call(Fetch<GET>("a"))
            func url(at base: String) async throws -> String? {
                network.configure(TestService.self) { $0.baseURLs = [.release: base] }
                return try await network.call(Fetch<GET>("a")).text
            }
            let scheme = remembers ? "https" : "http"
            #expect(try await url(at: "http://example.com") == "\(scheme)://example.com/a")
            #expect(try await url(at: "http://sub.example.com:8080") == "\(scheme)://sub.example.com:8080/a")
            // The dot of the root names the same host, and is no way around.
            #expect(try await url(at: "http://example.com.:81") == "\(scheme)://example.com.:81/a")
            #expect(
                try await url(at: "http://SUB.example.com.")
                    == (remembers ? "https://sub.example.com./a" : "http://SUB.example.com./a"))
            #expect(try await url(at: "http://other.example") == "http://other.example/a")
        }
    }

    @Test(arguments: [
        ("max-age=31536000", 31_536_000.0, false), ("max-age=\"1\" ; includesubdomains", 1, true),
        ("MAX-AGE=0; preload", 0, false), ("includeSubDomains;max-age=5", 5, true), ("max-age=5;\u{301}", 5, false),
    ])
    func policiesAreRead(field: String, age: Double, includes: Bool) throws {
        let policy = try #require(StrictTransport.policy(field))
        #expect(policy.maximumAge == age && policy.includesSubdomains == includes)
    }

    @Test(arguments: [
        "", "max-age", "max-age=", "max-age=x", "max-age=1; max-age=2", "includeSubDomains", "max-age=-1",
    ])
    func invalidPoliciesAreIgnored(field: String) {
        #expect(StrictTransport.policy(field) == nil)
    }

    @Test func hostsExpireAndAreBounded() {
        let hosts = StrictTransport()
        let now = Date()
        hosts.store("max-age=10", of: "a.example", at: now)
        #expect(hosts.requiresTLS("a.example", at: now) && !hosts.requiresTLS("b.a.example", at: now))
        #expect(!hosts.requiresTLS("a.example", at: now.addingTimeInterval(10)))
        hosts.store("max-age=0", of: "a.example", at: now)
        #expect(!hosts.requiresTLS("a.example", at: now))
        hosts.store("max-age=10", of: "127.0.0.1", at: now)
        #expect(!hosts.requiresTLS("127.0.0.1", at: now))
        for number in 0...StrictTransport.maximumCount {
            hosts.store("max-age=\(100 + number)", of: "h\(number).example", at: now)
        }
        #expect(!hosts.requiresTLS("h0.example", at: now) && hosts.requiresTLS("h1.example", at: now))
    }
}
