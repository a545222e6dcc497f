import Foundation
import HTTPTypes
import RunwaySignatures
import RunwayTesting
import Testing

@testable import RunwayServer

/// Signed requests that something changes on the way as HTTP allows it, over real sockets.
@Suite(.timeLimit(.minutes(5)))
struct TransitTests {
    @Test(arguments: [1, 2] as [UInt64])
    func everyLegalReorderingIsAccepted(seed: UInt64) async throws {
        try await withSignedServer(rules: { $0.failureLimits = nil }) { server in
            var generator = TransitGenerator(seed: seed)
            for number in 0..<150 {
                var request = try await generator.next()
                let original = request
                request.reorder(&generator.random)
                let (status, text) = try await server.send(request, to: server.port)
                #expect(status == "200", "seed \(seed), number \(number):\n\(original)\n\(request)\n\(text)")
            }
        }
    }

    @Test func illegalReorderingsAreRefused() async throws {
        try await withSignedServer(rules: { $0.failureLimits = nil }) { server in
            let names = ["X-List", "X-Empty"].compactMap { HTTPField.Name($0) }
            var call = SignedCall()
            for (name, value) in [(names[0], "a"), (names[0], "b"), (names[1], "")] {
                call.fields.append(HTTPField(name: name, value: value))
            }
            call.covered = [.method, .authority, .path, .query] + names.map { .field($0) }
            for change: (inout TransitRequest) -> Void in [
                // Lines of one name in another order.
                { $0.lines.reverse() },
                { $0.lines.append(("X-List", " more")) },
                { $0.target += $0.target.contains("?") ? "&" : "?b" },
                { request in request.lines.removeAll { $0.name == "X-Empty" } },
            ] {
                var request = TransitRequest(try await call.again.signed())
                change(&request)
                let status = try await server.send(request, to: server.port).status
                #expect(["400", "401"].contains(status), "\(request)")
            }
        }
    }
}

/// The same through a real nginx, which changes `Host`, adds fields, and sends a chunked body with its length.
@Suite(.timeLimit(.minutes(5)), .enabled(if: NginxBeforeServer.isExpected))
struct NginxSignatureTests {
    private let nginx: NginxBeforeServer

    init() throws { nginx = try NginxBeforeServer() }

    @Test(arguments: [1, 2] as [UInt64])
    func everyReorderingPassesThroughNginx(seed: UInt64) async throws {
        let nginx = nginx
        try await withSignedServer(rules: { $0.failureLimits = nil }) { server in
            var generator = TransitGenerator(seed: seed)
            for number in 0..<100 {
                var request = try await generator.next()
                request.reorder(&generator.random)
                let (status, text) = try await server.send(request, to: nginx.port)
                #expect(status == "200", "seed \(seed), number \(number):\n\(request)\n\(text)")
            }
        }
    }

    @Test func linesThatNginxJoinsAndMovesAreCovered() async throws {
        let nginx = nginx
        let name = try #require(HTTPField.Name("X-Forwarded-For"))
        try await withSignedServer { server in
            var call = SignedCall()
            call.path = "/v1/fields/joined"
            call.fields = [.accept: "*/*"]
            for value in ["10.0.0.1", "10.0.0.2"] { call.fields.append(HTTPField(name: name, value: value)) }
            call.covered = [.method, .authority, .path, .query, .field(.accept), .field(name)]
            let (status, text) = try await server.send(TransitRequest(try await call.signed()), to: nginx.port)
            #expect(status == "200", "\(text)")
            let joined = try #require(text.firstRange(of: "x-forwarded-for: 10.0.0.1, 10.0.0.2\n"))
            let moved = try #require(text.firstRange(of: "accept: */*\n"))
            #expect(joined.lowerBound < moved.lowerBound)
            // Joined in another order.
            var request = TransitRequest(try await call.again.signed())
            request.lines.reverse()
            #expect(try await server.send(request, to: nginx.port).status == "401")
        }
    }

    @Test func chunkedBodyIsVerifiedWithItsLength() async throws {
        let nginx = nginx
        try await withSignedServer { server in
            let call = SignedCall.post("amount=12")
            var request = TransitRequest(try await call.signed(), body: call.body)
            request.isChunked = true
            let (status, text) = try await server.send(request, to: nginx.port)
            #expect(status == "200" && text.contains("amount=12"))
            var tampered = TransitRequest(try await call.again.signed(), body: Array("amount=13".utf8))
            tampered.isChunked = true
            #expect(try await server.send(tampered, to: nginx.port).text.contains("urn:runway:signature:body"))
        }
    }

    @Test func targetThatNginxNormalizesIsRefused() async throws {
        let nginx = nginx
        try await withSignedServer { server in
            for (path, status) in [
                ("/v1/echo/normalized/a", "200"), ("/v1/echo/normalized/a%2Fb", "401"),
                ("/v1/echo/normalized//a", "401"), ("/v1/echo/normalized/%7e", "401"),
                // The same paths where nginx passes what was sent.
                ("/v1/echo/a%2Fb", "200"), ("/v1/echo//a", "200"), ("/v1/echo/%7e?", "200"),
            ] {
                var call = SignedCall()
                call.path = path
                let reply = try await server.send(TransitRequest(try await call.signed()), to: nginx.port)
                #expect(reply.status == status, "\(path): \(reply.text)")
            }
        }
    }
}

/// The nginx that `Scripts/integration-servers.sh` starts, as a proxy before a server of a test.
struct NginxBeforeServer: Sendable {
    /// Whether the tests that need it run: when it is there, and when it is required to be.
    static var isExpected: Bool {
        let environment = ProcessInfo.processInfo.environment
        return environment["RUNWAY_NGINX_SIGNED_PORT"] != nil || environment["RUNWAY_REQUIRE_INTEGRATION"] == "1"
    }

    /// Its port.
    let port: Int

    init() throws {
        let text = try #require(
            ProcessInfo.processInfo.environment["RUNWAY_NGINX_SIGNED_PORT"],
            "RUNWAY_NGINX_SIGNED_PORT is not set: run Scripts/integration-servers.sh start DIR, and source DIR/environment"
        )
        port = try #require(Int(text))
    }
}
