import Crypto
import HTTPTypes
import Hummingbird
import InMemoryLogging
import Logging
import RunwayJSON
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
            label: "response", components: CoveredComponents([.field(.contentType)]), nonce: nonce, tag: "reply")
        try call.fields.append(wanted)
        return call
    }

    @Test(arguments: SignedServer.Wire.allCases)
    func clientVerifiesResponseBoundToItsRequest(_ wire: SignedServer.Wire) async throws {
        try await withSignedServer(wire, rules: Self.sign) { server in
            let request = try await Self.call(nonce: "c-1").signed()
            let reply = try await server.send(request)
            let signature = try await Self.verify(reply, to: request, nonce: "c-1")
            #expect(signature.label == "response")
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

    @Test func expiryThatTheClientWantsIsStated() async throws {
        let wishes: [(String, UnixTime?)] = [("", nil), (";expires", ServerTime.start + .seconds(60))]
        try await withSignedServer(rules: Self.sign) { server in
            for (wish, expires) in wishes {
                var call = SignedCall()
                call.fields[.acceptSignature] = #"sig1=();created\#(wish);nonce="c-1";tag="reply""#
                let request = try await call.signed()
                let signature = try await Self.verify(server.send(request), to: request, nonce: "c-1")
                #expect(signature.parameters.expires == expires)
            }
        }
    }

    @Test func responseCoversAStructuredFieldOfTheApp() async throws {
        let field = try #require(HTTPField.Name("X-Dict"))
        try await withSignedServer { rules in
            Self.sign(&rules)
            rules.structuredFieldTypes["x-dict"] = .dictionary
        } _: { server in
            var call = SignedCall()
            call.fields[field] = "a=1,   b"
            call.fields[.acceptSignature] = #"sig1=("x-dict";sf;req);created;nonce="c-1";tag="reply""#
            let signatures = try await server.send(call.signed()).fields.signatures()
            #expect(signatures.first?.parameters.components.contains(.field(field).strict.ofRequest) == true)
        }
    }

    @Test func digestIsTheOneThatTheClientPrefers() async throws {
        try await withSignedServer(rules: Self.sign) { server in
            for (wish, name) in [("sha-256=1, sha-512=3", "sha-512"), ("sha-512=0", "sha-256"), ("odd", "sha-256")] {
                var call = try Self.call(nonce: "c-1")
                call.fields[.wantContentDigest] = wish
                let request = try await call.signed()
                let reply = try await server.send(request)
                #expect(reply.fields[.contentDigest]?.hasPrefix("\(name)=:") == true)
                _ = try await Self.verify(reply, to: request, nonce: "c-1")
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

    @Test func unexpectedErrorIsSigned() async throws {
        let log = InMemoryLogHandler()
        let logger = Logger(label: "test", factory: { _ in log })
        try await withSignedServer(rules: Self.sign, logger: logger) { server in
            var call = SignedCall()
            call.path = "/v1/failure"
            call.fields[.acceptSignature] = #"sig1=();created;nonce="c-1";tag="reply""#
            let request = try await call.signed()
            let reply = try await server.send(request)
            #expect(reply.status == 500 && reply.body.isEmpty)
            _ = try await Self.verify(reply, to: request, nonce: "c-1")
        }
        let types = log.entries.compactMap { $0.metadata["error"].map { "\($0)" } }
        #expect(types.contains("HandlerFailure"), "\(types)")
    }

    /// Whether the response of a handler that does not state the length of its ten bytes is signed.
    private func isSigned(_ type: String, upTo byteCount: Int) async throws -> Bool {
        let signed = Count()
        try await withSignedServer(rules: { rules in
            Self.sign(&rules)
            rules.responses?.maximumBodyByteCount = byteCount
        }) { server in
            var call = try Self.call(nonce: "c-1")
            call.path = "/v1/parts/\(type)"
            call.fields[.acceptSignature] = #"sig1=();created;nonce="c-1";tag="reply""#
            let request = try await call.signed()
            let reply = try await server.send(request)
            #expect(reply.text == (type == "plain" && byteCount < 10 ? "" : "ababababab"))
            #expect(reply.status == (reply.body.isEmpty ? 500 : 200))
            guard reply.fields[.signature] != nil else { return }
            _ = try await Self.verify(reply, to: request, nonce: "c-1")
            signed.add()
        }
        return signed.value == 1
    }

    @Test func bodyWithoutALengthIsCollectedAndSigned() async throws {
        #expect(try await isSigned("plain", upTo: 10))
        // A longer one is an error, and no response that a client could not trust.
        #expect(try await isSigned("plain", upTo: 9))
    }

    @Test func eventStreamIsPassedOnUnsigned() async throws {
        #expect(try await !isSigned("event-stream", upTo: 10))
    }

    @Test func refusalAfterAValidSignatureIsSigned() async throws {
        try await withSignedServer(rules: Self.sign) { server in
            var call = try Self.call(nonce: "c-1")
            var request = try await call.signed()
            #expect(try await server.send(request).status == 200)
            let replayed = try await server.send(request)
            #expect(try replayed.reason == "replayed")
            _ = try await Self.verify(replayed, to: request, nonce: "c-1")
            // Each with the last moment at which a copy can be accepted.
            for (seconds, reason, moment) in [(-500, "tooOld", -380), (60, "inFuture", 180)] {
                call.created = ServerTime.start + .seconds(seconds)
                request = try await call.again.signed()
                let refused = try await server.send(request)
                #expect(try refused.reason == reason)
                let stated = try refused.problem["acceptedUntil"].int
                #expect(stated == Int((ServerTime.start + .seconds(moment)).seconds))
                _ = try await Self.verify(refused, to: request, nonce: "c-1")
            }
        }
    }

    @Test func refusalOfAStaleDigestIsSigned() async throws {
        try await withSignedServer(rules: { rules in
            Self.sign(&rules)
            rules.digests = DigestRules()
        }) { server in
            var digested = DigestTests.Digested()
            digested.time = ServerTime.start - .seconds(121)
            digested.head.headerFields[.acceptSignature] = #"sig1=();created;nonce="c-1";tag="reply""#
            let request = try await digested.request()
            let refused = try await server.send(request, body: digested.body)
            #expect(try refused.reason == "tooOld")
            _ = try await Self.verify(refused, to: request, nonce: "c-1")
            let forged = try await server.send(request, body: Array("user=ben".utf8))
            #expect(try forged.reason == "tooOld" && forged.fields[.signature] == nil)
        }
    }

    /// Whoever has no key can't have the server sign.
    @Test(arguments: ["forged", "unknown", "revoked"])
    func refusalOfAStaleForgeryIsNotSigned(kind: String) async throws {
        try await withSignedServer(rules: Self.sign) { server in
            var call = try Self.call(nonce: "c-1")
            call.created = ServerTime.start - .seconds(500)
            if kind == "forged" { call.key = try .hmac(SymmetricKey(size: .bits256)) }
            if kind == "unknown" { call.keyID = "nobody" }
            if kind == "revoked" { server.keys.revoke("k-1") }
            let refused = try await call.send(to: server)
            #expect(try refused.reason == "tooOld" && refused.fields[.signature] == nil)
            #expect(try refused.problem["acceptedUntil"].kind == .missing)
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
                response, to: request, by: nil, structuredFieldTypes: [:], at: { ServerTime.start },
                logger: Logger(label: "test"))
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
