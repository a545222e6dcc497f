import Crypto
import HTTPTypes
import Hummingbird
import Logging
import RunwaySignatures
import Testing

@testable import RunwayServer

/// Responses that are signed, bound to their requests.
@Suite(.timeLimit(.minutes(5)))
struct ResponseSigningTests {
    private static let key = Curve25519.Signing.PrivateKey()
    private static let keys = InMemoryKeyDirectory([
        KeyRecord(id: "server", key: .ed25519(key.publicKey), owner: "server")
    ])

    private static func sign(_ rules: inout SignatureRules) {
        rules.responses = ResponseSigning(by: SigningKey.ed25519(key), keyID: "server", tag: "reply")
    }

    /// Verifies as a client does that asked for a signature with a nonce.
    private static func verify(
        _ reply: SignedCall.Reply, to request: HTTPRequest, nonce: String
    ) async throws -> VerifiedSignature {
        let response = HTTPResponse(status: HTTPResponse.Status(code: reply.status), headerFields: reply.fields)
        let verifier = SignatureVerifier(
            policy: .response(tag: "reply", nonce: nonce), keys: keys, nonces: NonceMemory(startedAt: ServerTime.start))
        let signature = try await verifier.verify(
            SignatureContext(response, to: request), hasBody: !reply.body.isEmpty, at: ServerTime.start)
        try signature.verifyBody(reply.body, at: ServerTime.start)
        return signature
    }

    private static func call(nonce: String) throws -> SignedCall {
        var call = SignedCall()
        let wanted = try SignatureRequest(
            label: "answer", components: CoveredComponents([.field(.contentType)]), nonce: nonce, tag: "reply")
        try call.fields.append(wanted)
        return call
    }

    @Test(arguments: SignedServer.Wire.allCases)
    func clientVerifiesResponseBoundToItsRequest(_ wire: SignedServer.Wire) async throws {
        try await withSignedServer(wire, rules: Self.sign) { server in
            let request = try await Self.call(nonce: "c-1").signed()
            let reply = try await server.send(request)
            let signature = try await Self.verify(reply, to: request, nonce: "c-1")
            #expect(signature.label == "answer")
            #expect(signature.parameters.components.contains(.field(.contentType)))
            var other = request
            other.path = "/v1/echo/other"
            await #expect(throws: SignatureRefusal.self) {
                _ = try await Self.verify(reply, to: other, nonce: "c-1")
            }
            await #expect(throws: SignatureRefusal.self) {
                _ = try await Self.verify(reply, to: request, nonce: "c-2")
            }
            // The same target, signed again: the signature of the request is covered.
            let again = try await Self.call(nonce: "c-1").signed()
            await #expect(throws: SignatureRefusal.self) {
                _ = try await Self.verify(reply, to: again, nonce: "c-1")
            }
        }
    }

    @Test func errorOfHandlerIsSigned() async throws {
        try await withSignedServer(rules: Self.sign) { server in
            var call = try Self.call(nonce: "c-1")
            call.path = "/v1/missing-route-error"
            call.fields[.acceptSignature] = #"sig1=();created;nonce="c-1";tag="reply""#
            let request = try await call.signed()
            let reply = try await server.send(request)
            #expect(reply.status == 404)
            _ = try await Self.verify(reply, to: request, nonce: "c-1")
        }
    }

    @Test func refusalIsNotSigned() async throws {
        try await withSignedServer(rules: Self.sign) { server in
            let reply = try await Self.call(nonce: "c-1").send(to: server) { $0.path = "/v1/echo/b" }
            #expect(reply.status == 401)
            #expect(reply.fields[.signature] == nil)
        }
    }

    @Test func responseToDigestCoversTheDigest() async throws {
        try await withSignedServer(rules: { rules in
            Self.sign(&rules)
            rules.digests = DigestRules()
        }) { server in
            var digested = DigestTests.Digested()
            digested.head.headerFields[.acceptSignature] = #"sig1=();created;nonce="c-1";tag="reply""#
            let request = try await digested.request()
            let reply = try await server.send(request, body: digested.body)
            let signature = try await Self.verify(reply, to: request, nonce: "c-1")
            #expect(signature.parameters.components.contains(ComponentIdentifier.field(.runwayDigest).ofRequest))
            #expect(reply.text == "partner")
        }
    }

    @Test func chosenUnsignedRequestHasSignedResponse() async throws {
        try await withSignedServer(rules: { rules in
            Self.sign(&rules)
            rules.responses?.passesUnsigned = { $0.path == "/v1/mirror" }
        }) { server in
            var request = HTTPRequest(
                method: .post, scheme: "https", authority: "api.example.com", path: "/v1/mirror",
                headerFields: [.acceptSignature: #"sig1=();created;nonce="c-1";tag="reply""#])
            let reply = try await server.send(request, body: Array("anna".utf8))
            #expect(reply.text == "anna")
            _ = try await Self.verify(reply, to: request, nonce: "c-1")
            // A broken signature is refused there, too, and nothing else passes.
            request.headerFields[.signature] = "sig1=:AAAA:"
            #expect(try await server.send(request).reason == "malformed")
            request.headerFields[.signature] = nil
            request.path = "/v1/form"
            #expect(try await server.send(request).reason == "unsigned")
            #expect(server.handled.value == 1)
        }
    }

    @Test func bodyThatFailsIsNotSigned() async throws {
        struct Failure: Error {}
        let signing = ResponseSigning(by: SigningKey.ed25519(Self.key), keyID: "server", tag: "reply")
        let response = Response(status: .ok, body: ResponseBody(contentLength: 3) { _ in throw Failure() })
        let request = try await SignedCall().signed()
        await #expect(throws: Failure.self) {
            _ = try await signing.signed(
                response, to: request, by: nil, at: ServerTime.start, logger: Logger(label: "test"))
        }
    }

    @Test func responseWithoutAskedComponentIsNotSigned() async throws {
        try await withSignedServer(rules: Self.sign) { server in
            var call = try Self.call(nonce: "c-1")
            call.fields[.acceptSignature] = #"sig1=("x-absent");created;nonce="c-1";tag="reply""#
            let reply = try await call.send(to: server)
            #expect(reply.status == 200 && reply.fields[.signature] == nil)
        }
    }

    @Test func responseIsUnsignedByDefault() async throws {
        try await withSignedServer { server async throws in
            #expect(try await Self.call(nonce: "c-1").send(to: server).fields[.signature] == nil)
        }
    }
}
