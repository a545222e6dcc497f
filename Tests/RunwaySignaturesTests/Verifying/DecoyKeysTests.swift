import Crypto
import Testing

@testable import RunwaySignatures

/// Keys with which signatures of unknown keys are verified.
struct DecoyKeysTests {
    private static let ids = (0..<200).map { "key-\($0)" }

    private func kinds(_ decoys: DecoyKeys) -> [String] { Self.ids.map { "\(decoys.key(forKeyID: $0).algorithm)" } }

    @Test func unknownKeysHaveTheKindsOfFoundKeys() throws {
        let decoys = DecoyKeys()
        #expect(Set(kinds(decoys)) == ["ecdsa-p256-sha256"], "before any key was found")
        let keys = try KeyTests.all().map(\.verificationKey)
        decoys.learn(try #require(keys.first { $0.algorithm == .hmacSHA256 }), isKnown: true)
        #expect(Set(kinds(decoys)) == ["hmac-sha256"])
        for key in keys { decoys.learn(key, isKnown: true) }
        #expect(Set(kinds(decoys)) == Set(keys.map(\.algorithm.name)))
    }

    /// A server that has just started.
    @Test func directorysKindsAreKnownFromTheStart() throws {
        let keys = try KeyTests.all().map(\.verificationKey)
        let records = keys.enumerated().map { KeyRecord(id: "k-\($0.offset)", key: $0.element, owner: "anna") }
        let directory = InMemoryKeyDirectory(records + records)
        #expect(directory.exampleKeys.count == keys.count)
        let verifiers = (0..<2).map { _ in
            var policy = VerificationPolicy(tag: "app")
            policy.serverNonces = ServerNonces(key: SymmetricKey(data: Array(repeating: 7, count: 32)))
            return SignatureVerifier(
                policy: policy, keys: directory, nonces: NonceMemory(startedAt: Exchange.now, maximumNonces: 1))
        }
        #expect(Set(kinds(verifiers[0].decoys)) == Set(keys.map(\.algorithm.name)))
        #expect(kinds(verifiers[0].decoys) == kinds(verifiers[1].decoys))
        // A key that is found later changes nothing, since its kind is known.
        let before = kinds(verifiers[0].decoys)
        verifiers[0].decoys.learn(try .hmac(SymmetricKey(size: .bits256)), isKnown: true)
        #expect(kinds(verifiers[0].decoys) == before)
    }

    @Test func decoyTeachesNothing() throws {
        let decoys = DecoyKeys()
        decoys.learn(decoys.key(forKeyID: "nobody"), isKnown: false)
        decoys.learn(try .hmac(SymmetricKey(size: .bits256)), isKnown: true)
        #expect(Set(kinds(decoys)) == ["hmac-sha256"])
    }

    @Test func sameSecretGivesDecoysTheSameKinds() throws {
        let secret = SymmetricKey(size: .bits256)
        let (first, second, other) = (DecoyKeys(secret: secret), DecoyKeys(secret: secret), DecoyKeys())
        let keys = try KeyTests.all().map(\.verificationKey)
        for key in keys {
            first.learn(key, isKnown: true)
            other.learn(key, isKnown: true)
        }
        for key in keys.reversed() { second.learn(key, isKnown: true) }
        #expect(kinds(first) == kinds(second))
        #expect(kinds(first) != kinds(other))
    }

    @Test func decoyHasAnotherSecret() throws {
        let secret = SymmetricKey(size: .bits256)
        for key in [try SigningKey.hmac(secret), try SigningKey.salted(secret)] {
            let decoys = DecoyKeys()
            decoys.learn(key.verificationKey, isKnown: true)
            let decoy = decoys.key(forKeyID: "nobody")
            #expect(decoy.algorithm == key.algorithm)
            #expect(!decoy.isValid(try key.signature(of: [1, 2, 3]), of: [1, 2, 3]))
        }
    }

    /// The decoy may be a key that exists: a signature by it is refused all the same.
    @Test func decoysSignatureForAnUnknownKeyIsRefused() async throws {
        var exchange = try Exchange(.p256(P256.Signing.PrivateKey()))
        let verifier = SignatureVerifier(policy: exchange.policy, keys: exchange.keys, nonces: exchange.nonces)
        _ = try await verifier.verify(SignatureContext(exchange.signed()), hasBody: true, at: Exchange.now)
        #expect(exchange.key.verificationKey.text == verifier.decoys.key(forKeyID: "nobody").text)
        (exchange.keyID, exchange.nonce) = ("nobody", "n-2")
        let request = try exchange.signed()
        let refusal = await #expect(throws: SignatureRefusal.self) {
            try await verifier.verify(SignatureContext(request), hasBody: true, at: Exchange.now)
        }
        #expect(refusal?.reason == .unknownKey)
        #expect(refusal?.detail == "the key nobody is unknown")
    }
}
