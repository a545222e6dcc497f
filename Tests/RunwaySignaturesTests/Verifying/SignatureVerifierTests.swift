import Crypto
import HTTPTypes
import Testing

@testable import RunwaySignatures

/// What the verifier accepts and refuses, one change at a time.
struct SignatureVerifierTests {
    private static let now = Exchange.now

    @Test func everyAlgorithmIsAccepted() async throws {
        for key in try KeyTests.all() {
            let verified = try await Exchange(key).verify()
            #expect(verified.owner == "anna" && verified.keyID == "k-1" && verified.label == "sig1")
            try verified.verifyBody(Exchange.body, at: Self.now)
            #expect(throws: SignatureRefusal.self) { try verified.verifyBody(Exchange.body + [0], at: Self.now) }
            #expect(throws: SignatureRefusal.self) { try verified.verifyBody([UInt8](), at: Self.now) }
        }
    }

    @Test func anotherBodyLeavesTheNonceUnused() async throws {
        let exchange = try Exchange()
        let verifier = SignatureVerifier(policy: exchange.policy, keys: exchange.keys, nonces: exchange.nonces)
        let context = SignatureContext(try exchange.signed())
        for body in [[], Exchange.body.dropLast(), Exchange.body + [0]] {
            let refusal = await #expect(throws: SignatureRefusal.self) {
                try await verifier.verify(context, body: Array(body), at: Self.now)
            }
            #expect(refusal?.reason == .body)
        }
        #expect(try await verifier.verify(context, body: Exchange.body, at: Self.now).owner == "anna")
        let replay = await #expect(throws: SignatureRefusal.self) {
            try await verifier.verify(context, body: Exchange.body, at: Self.now)
        }
        #expect(replay?.reason == .replayed)
    }

    @Test func requestsWithoutASignatureAreRefused() async throws {
        let exchange = try Exchange()
        #expect(try await exchange.refusal(exchange.request) == .unsigned)
        var broken = try exchange.signed()
        broken.headerFields[.signature] = "x"
        #expect(try await exchange.refusal(broken) == .malformed)
    }

    @Test func signaturesAreFoundByTheirTag() async throws {
        var exchange = try Exchange()
        exchange.tag = "other"
        var signed = try exchange.signed(label: "other")
        #expect(try await exchange.refusal(signed) == .noSignatureWithTag)
        exchange.tag = "app"
        signed.headerFields += try exchange.signed(label: "sig1").headerFields.filter {
            [.signature, .signatureInput].contains($0.name)
        }
        #expect(try await exchange.verify(signed).label == "sig1")
        signed.headerFields += try exchange.signed(label: "sig2").headerFields.filter {
            [.signature, .signatureInput].contains($0.name)
        }
        #expect(try await exchange.refusal(signed) == .noSignatureWithTag)
    }

    @Test func fastSignerCannotBeReplayedAfterARestart() async throws {
        var exchange = try Exchange()
        exchange.created = Self.now + .seconds(30)
        let request = try exchange.signed()
        #expect(try await exchange.refusal(request) == nil)
        // The server restarts, and has forgotten the nonce.
        exchange.nonces = NonceMemory(startedAt: Self.now + .seconds(1))
        #expect(try await exchange.refusal(request, at: Self.now + .seconds(1)) == .nonceUnknown)
        exchange.created = Self.now + .seconds(31)
        #expect(try await exchange.refusal(at: Self.now + .seconds(1)) == nil)
    }

    @Test func memberOfDigestCoversItsAlgorithmAlone() async throws {
        var exchange = try Exchange()
        exchange.policy.coversBody = false
        exchange.request.headerFields[.contentDigest]?.append(", x=:AA==:")
        exchange.covered = [.method, .authority, .path, .query, ComponentIdentifier.contentDigest.member("x")]
        // Nothing of what is covered says which body it is.
        #expect(try await exchange.verify().digest == nil)
        exchange.covered[4] = ComponentIdentifier.contentDigest.member("sha-256")
        exchange.nonce = "n-2"
        let digests = BodyDigest(of: Exchange.body, by: [.sha256, .sha512])
        exchange.request.headerFields[.contentDigest] = digests.fieldValue
        #expect(try await exchange.verify().digest?.algorithms == [.sha256])
        for (index, component) in [
            ComponentIdentifier.contentDigest, .contentDigest.strict, .contentDigest.asBytes,
        ].enumerated() {
            (exchange.covered[4], exchange.nonce) = (component, "whole-\(index)")
            #expect(try await exchange.verify().digest == digests)
        }
    }

    @Test func formsOfComponentsCountForKeysToo() async throws {
        var exchange = try Exchange()
        var record = KeyRecord(id: "k-1", key: exchange.key.verificationKey, owner: "anna")
        record.requiredComponents = [.scheme, .field(.contentType)]
        exchange.keys.insert(record)
        exchange.covered = [.method, .targetURI, .contentDigest, ComponentIdentifier.field(.contentType).asBytes]
        #expect(try await exchange.refusal() == nil)
        exchange.covered = [.method, .targetURI, .contentDigest]
        #expect(try await exchange.refusal() == .coverage)
    }

    @Test func missingParametersAreRefused() async throws {
        for change: @Sendable (inout Exchange) -> Void in [
            { $0.created = nil }, { $0.keyID = nil }, { $0.nonce = nil }, { $0.nonce = "" }, { $0.keyID = "" },
            { $0.nonce = String(repeating: "n", count: 257) }, { $0.keyID = String(repeating: "k", count: 257) },
            { $0.expires = Exchange.now - .seconds(1) },
        ] {
            var exchange = try Exchange()
            change(&exchange)
            #expect(try await exchange.refusal() == .parameters)
        }
    }

    @Test func everyRequiredComponentMustBeCovered() async throws {
        for index in 0..<5 {
            var exchange = try Exchange()
            exchange.covered.remove(at: index)
            #expect(try await exchange.refusal() == .coverage)
        }
        var nothing = try Exchange()
        nothing.covered = []
        nothing.policy.requiredComponents = []
        nothing.hasBody = false
        #expect(try await nothing.refusal() == .coverage)
    }

    @Test func theTargetURIStandsForItsParts() async throws {
        var exchange = try Exchange()
        exchange.covered = [.method, .targetURI, ComponentIdentifier.contentDigest.strict]
        #expect(try await exchange.refusal() == nil)
        exchange.covered = [.targetURI, ComponentIdentifier.contentDigest]
        #expect(try await exchange.refusal() == .coverage)
        exchange.covered = [.method, .targetURI, ComponentIdentifier.contentDigest.member("sha-256")]
        #expect(try await exchange.refusal() == .coverage)
    }

    @Test func coveredComponentsMustBeInTheMessage() async throws {
        var exchange = try Exchange()
        var signed = try exchange.signed()
        signed.headerFields[.contentDigest] = nil
        #expect(try await exchange.refusal(signed) == .components)
        exchange.request.headerFields[.contentDigest] = "md5=:Sd/dVLAcvNLSq16eXua5uQ==:"
        #expect(try await exchange.refusal() == .components)
    }

    @Test func bodyAddedToASignedRequestIsRefused() async throws {
        var exchange = try Exchange()
        exchange.covered.removeLast()
        exchange.hasBody = false
        let signed = try exchange.signed()
        exchange.hasBody = true
        #expect(try await exchange.refusal(signed) == .coverage)
        exchange.hasBody = false
        #expect(try await exchange.verify(signed).digest == nil)
    }

    @Test func aBodyWithoutASignedDigestIsRefused() async throws {
        var exchange = try Exchange()
        exchange.covered.removeLast()
        exchange.hasBody = false
        let verified = try await exchange.verify()
        #expect(verified.digest == nil)
        try verified.verifyBody([UInt8](), at: Self.now)
        let refusal = #expect(throws: SignatureRefusal.self) { try verified.verifyBody(Exchange.body, at: Self.now) }
        #expect(refusal?.reason == .body)
        exchange.policy.coversBody = false
        exchange.nonce = "n-2"
        try await exchange.verify().verifyBody(Exchange.body, at: Self.now)
    }

    @Test(arguments: [
        (-121, SignatureRefusal.Reason.tooOld), (-120, nil), (0, nil), (30, nil), (31, .inFuture),
    ])
    func signaturesAreAcceptedWithinTheirTime(_ offset: Int, _ reason: SignatureRefusal.Reason?) async throws {
        var exchange = try Exchange()
        exchange.created = Self.now + .seconds(offset)
        #expect(try await exchange.refusal() == reason)
    }

    @Test func expiredSignaturesAreRefused() async throws {
        var exchange = try Exchange()
        exchange.expires = Self.now + .seconds(10)
        let signed = try exchange.signed()
        #expect(try await exchange.refusal(signed, at: Self.now + .seconds(41)) == .tooOld)
        #expect(try await exchange.refusal(signed, at: Self.now + .seconds(40)) == nil)
    }

    @Test func refusalsHaveTheVerifiersTime() async throws {
        let exchange = try Exchange()
        let late = Self.now + .seconds(1_000)
        let refusal = await #expect(throws: SignatureRefusal.self) { try await exchange.verify(at: late) }
        #expect(refusal?.time == late)
    }

    @Test func unknownKeysLookLikeInvalidSignatures() async throws {
        var exchange = try Exchange()
        exchange.keyID = "k-2"
        let refusal = await #expect(throws: SignatureRefusal.self) { try await exchange.verify() }
        #expect(refusal?.reason == .unknownKey && refusal?.disclosedReason == .invalid)
    }

    @Test func theAlgorithmIsThatOfTheKey() async throws {
        var exchange = try Exchange()
        exchange.algorithm = .hmacSHA256
        #expect(try await exchange.refusal() == nil)
        exchange.algorithm = .ed25519
        #expect(try await exchange.refusal() == .algorithm)
        exchange.algorithm = nil
        exchange.policy.algorithms = [.ed25519]
        #expect(try await exchange.refusal() == .algorithm)
    }

    @Test func aPublicKeyIsNoSecret() async throws {
        // The classic confusion: the attacker signs by HMAC with the public key as the secret.
        let victim = P256.Signing.PrivateKey()
        let publicKey = Array(victim.publicKey.pemRepresentation.utf8)
        var exchange = try Exchange(.hmac(SymmetricKey(data: publicKey)))
        exchange.keys.insert(KeyRecord(id: "k-1", key: .p256(victim.publicKey), owner: "anna"))
        #expect(try await exchange.refusal() == .invalid)
        exchange.algorithm = .hmacSHA256
        #expect(try await exchange.refusal() == .algorithm)
    }

    @Test func aKeyMayRequireMore() async throws {
        var exchange = try Exchange()
        var record = KeyRecord(id: "k-1", key: exchange.key.verificationKey, owner: "anna")
        record.requiredComponents = [.field(.contentType)]
        exchange.keys.insert(record)
        #expect(try await exchange.refusal() == .coverage)
        exchange.covered.append(.field(.contentType))
        #expect(try await exchange.refusal() == nil)
    }

    @Test func anythingCoveredThatChangesIsInvalid() async throws {
        let exchange = try Exchange()
        for change: @Sendable (inout HTTPRequest) -> Void in [
            { $0.method = .put }, { $0.authority = "api.example.org" }, { $0.path = "/orders/a/b?dry=1&dry=2" },
            { $0.path = "/orders/a%2fb?dry=1&dry=2" }, { $0.path = "/orders/a%2Fb?dry=2&dry=1" },
            { $0.headerFields[.contentDigest] = BodyDigest(of: [1, 2]).fieldValue },
        ] {
            var request = try exchange.signed()
            change(&request)
            #expect(try await exchange.refusal(request) == .invalid)
        }
    }

    @Test func equivalentMessagesAreAccepted() async throws {
        for (index, change)
            in ([
                { $0.authority = "API.example.com:443" }, { $0.headerFields[.userAgent] = "proxy" },
                { $0.headerFields = HTTPFields($0.headerFields.reversed()) }, { $0.scheme = "http" },
            ] as [@Sendable (inout HTTPRequest) -> Void]).enumerated()
        {
            var exchange = try Exchange()
            exchange.nonce = "n-\(index)"
            var request = try exchange.signed()
            change(&request)
            #expect(try await exchange.refusal(request) == nil)
        }
    }

    @Test func aNonceIsAcceptedOncePerKey() async throws {
        var exchange = try Exchange()
        #expect(try await exchange.refusal() == nil)
        #expect(try await exchange.refusal() == .replayed)
        exchange.keys.insert(KeyRecord(id: "k-2", key: exchange.key.verificationKey, owner: "ben"))
        exchange.keyID = "k-2"
        #expect(try await exchange.refusal() == nil)
    }

    @Test func refusedSignaturesUseNoNonce() async throws {
        let exchange = try Exchange()
        var tampered = try exchange.signed()
        tampered.method = .delete
        #expect(try await exchange.refusal(tampered) == .invalid)
        #expect(try await exchange.refusal() == nil)
    }

    @Test func storesThatFailRefuse() async throws {
        struct Failing: NonceStore, KeyDirectory {
            struct Failure: Error {}
            func claim(_ nonce: Nonce, at now: UnixTime) async throws -> NonceClaim { throw Failure() }
            func record(forKeyID id: String) async throws -> KeyRecord? { throw Failure() }
        }
        var exchange = try Exchange()
        exchange.nonces = Failing()
        #expect(try await exchange.refusal() == .store)
        let verifier = SignatureVerifier(policy: exchange.policy, keys: Failing(), nonces: exchange.nonces)
        let refusal = await #expect(throws: SignatureRefusal.self) {
            try await verifier.verify(SignatureContext(exchange.signed()), hasBody: true, at: Self.now)
        }
        #expect(refusal?.reason == .store)
    }

    @Test func responsesAreBoundToTheirRequest() async throws {
        let exchange = try Exchange()
        let policy = VerificationPolicy.response(tag: "app", nonce: "asked")
        let wanted = try policy.signatureRequest(hasBody: true)
        #expect(wanted.nonce == "asked" && wanted.components.contains(.contentDigest))
        #expect(try HTTPFields([policy.acceptSignature(hasBody: true)]).signatureRequests() == [wanted])
        var response = HTTPResponse(
            status: .ok, headerFields: [.contentDigest: BodyDigest(of: Exchange.body).fieldValue])
        let parameters = try SignatureParameters(
            components: wanted.components, created: Self.now, nonce: wanted.nonce, keyID: "k-1", tag: wanted.tag)
        let signed = try await SignatureContext(response, to: exchange.request).signature(parameters, by: exchange.key)
        response.headerFields.append(signed)
        let verifier = SignatureVerifier(policy: policy, keys: exchange.keys, nonces: exchange.nonces)
        let verified = try await verifier.verify(
            SignatureContext(response, to: exchange.request), hasBody: true, at: Self.now)
        #expect(verified.digest == BodyDigest(of: Exchange.body))
        var otherRequest = exchange.request
        otherRequest.path = "/orders/other"
        for (policy, request) in [(policy, otherRequest), (.response(tag: "app", nonce: "other"), exchange.request)] {
            let verifier = SignatureVerifier(policy: policy, keys: exchange.keys, nonces: exchange.nonces)
            await #expect(throws: SignatureRefusal.self) {
                try await verifier.verify(SignatureContext(response, to: request), hasBody: true, at: Self.now)
            }
        }
    }
}
