import Crypto
import HTTPTypes
import Hummingbird
import RunwayServer
import RunwaySignatures
import Testing

/// Requests that are accepted, over real sockets.
@Suite(.timeLimit(.minutes(5)))
struct SignedRequestTests {
    @Test(arguments: SignedServer.Wire.allCases)
    func signedRequestReachesHandlerWithItsSigner(_ wire: SignedServer.Wire) async throws {
        try await withSignedServer(wire) { server in
            let reply = try await SignedCall().send(to: server)
            #expect(reply.status == 200)
            #expect(reply.isHTTP2 == (wire == .http2))
            #expect(reply.text == "k-1 anna /v1/echo/a%2Fb?x=1&x=2&y=")
            #expect(try server.outcomes("accepted") == 1)
        }
    }

    @Test(arguments: SignedServer.Wire.allCases)
    func signedBodyReachesHandlerUnchanged(_ wire: SignedServer.Wire) async throws {
        try await withSignedServer(wire) { server in
            for text in ["{}", String(repeating: "0123456789", count: 50_000)] {
                let reply = try await SignedCall.post(text).send(to: server)
                #expect(reply.status == 200)
                #expect(reply.text == text)
            }
        }
    }

    @Test func chunkedBodyIsVerified() async throws {
        try await withSignedServer { server in
            let call = SignedCall.post("in many parts")
            #expect(try await server.send(call.signed(), body: call.body, streaming: true).text == "in many parts")
            let other = try await server.send(call.again.signed(), body: Array("in other parts".utf8), streaming: true)
            #expect(try other.reason == "body")
        }
    }

    @Test func deviceKeyOfP256IsAccepted() async throws {
        try await withSignedServer { server async throws in
            var call = SignedCall()
            (call.key, call.keyID, call.algorithm) = (.p256(SignedServer.deviceKey), "k-2", .ecdsaP256SHA256)
            #expect(try await call.send(to: server).text.hasPrefix("k-2 ben "))
        }
    }

    @Test func otherSignaturesAreIgnored() async throws {
        try await withSignedServer { server in
            let reply = try await SignedCall().send(to: server) { request in
                request.headerFields.append(
                    try LabelledSignature(
                        label: "proxy",
                        parameters: SignatureParameters(components: CoveredComponents([.method]), tag: "proxy"),
                        signature: [1, 2, 3]))
            }
            #expect(reply.status == 200)
        }
    }

    @Test func bothKeysAreAcceptedDuringRotation() async throws {
        try await withSignedServer { server in
            let secret = SymmetricKey(size: .bits256)
            let successor = KeyRecord(id: "k-9", key: try .hmac(secret), owner: "anna")
            #expect(server.keys.rotate("k-1", to: successor, at: ServerTime.start, overlap: .seconds(60)))
            var new = SignedCall()
            (new.key, new.keyID) = (try .hmac(secret), "k-9")
            #expect(try await new.send(to: server).status == 200)
            #expect(try await SignedCall().send(to: server).status == 200)
            server.time.set(ServerTime.start + .seconds(61))
            #expect(try await SignedCall().send(to: server).status == 401)
            #expect(try await new.again.send(to: server).status == 200)
        }
    }

    @Test func streamedBodyFailsAtItsEnd() async throws {
        try await withSignedServer(rules: { $0.streamsBody = { $0.path == "/v1/mirror" } }) { server in
            let long = String(repeating: "x", count: 2 << 20)
            let reply = try await SignedCall.post(long).send(to: server)
            #expect(reply.status == 200)
            #expect(reply.body.count == long.utf8.count)
            let call = SignedCall.post("abc")
            let changed = try await call.send(to: server, body: Array("abd".utf8))
            #expect(changed.status == 400)
            #expect(try changed.reason == "body")
            let wanted = try #require(try changed.fields.signatureRequests().first)
            #expect(wanted.tag == "app" && wanted.components.contains(.contentDigest))
            // The handler had begun.
            #expect(server.handled.value == 2)
            #expect(try server.outcomes("body") == 1)
        }
    }

    @Test func requestMayNameOneOfSeveralAuthorities() async throws {
        let origin = PublicOrigin("api.example.com", "127.0.0.1:1")
        try await withSignedServer(rules: { $0.origin = origin }) { server in
            var call = SignedCall()
            call.fields[try #require(HTTPField.Name("Host"))] = "API.example.com:443"
            #expect(try await call.send(to: server).status == 200)
            let other = try await SignedCall().send(to: server)
            #expect(other.status == 421)
            #expect(try other.reason == "authority")
        }
    }

    @Test func proxyFieldNamesTheAuthority() async throws {
        let field = try #require(HTTPField.Name("X-Forwarded-Host"))
        var origin = PublicOrigin("api.example.com", "www.example.com")
        origin.proxyField = field
        try await withSignedServer(rules: { [origin] in $0.origin = origin }) { server async throws in
            var call = SignedCall()
            call.fields[field] = "api.example.com"
            #expect(try await call.send(to: server).status == 200)
            call.fields[field] = "www.example.com"
            #expect(try await call.again.send(to: server).reason == "invalid")
            call.fields[field] = "other.example.com"
            #expect(try await call.again.send(to: server).reason == "authority")
        }
    }

    @Test func routesAddedBeforeAreOpen() async throws {
        try await withSignedServer { server async throws in
            let head = HTTPRequest(method: .get, scheme: nil, authority: nil, path: "/v1/public")
            #expect(try await server.send(head).text == "public")
        }
    }
}

extension SignedCall {
    /// The same call with a nonce of its own.
    var again: SignedCall {
        var call = self
        call.nonce = "again-\(UInt64.random(in: 0 ... .max))"
        return call
    }
}
