import Crypto
import Foundation
import HTTPTypes
import Testing

@testable import RunwaySignatures

/// Signatures that other implementations publish as their test vectors: Cloudflare's `web-bot-auth`, by keys of RFC 9421, and the WIMSE
/// profile's of `wimsey`.
struct ImplementationVectorTests {
    /// A signature of `web-bot-auth`.
    struct BotSignature: Sendable {
        let key: String
        let keyID: String
        let algorithm: String
        let coversAgent: Bool
        let nonce: String
        let value: String

        static let all = [
            BotSignature(
                key: "test-key-ed25519", keyID: "poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U", algorithm: "ed25519",
                coversAgent: false,
                nonce: "zIW8+cdmA3vdYagbxojpONwa/l0EKJ/O3/wD486VvsQjO/RxPaSt6ZxvQaMcQzNnqKN/mQ6hpGiFro2L2qkz5A==",
                value: "QKN4fTdIYfh82fvoZCQiQA1weuozfCS/Led2zTMbewMMqH8PI2Wsy/5c4ao6B6D09nraNQdBNOADg8aM1MqfCg=="),
            BotSignature(
                key: "test-key-ed25519", keyID: "poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U", algorithm: "ed25519",
                coversAgent: true,
                nonce: "n9p433xm+NJ3ph3upfBIGmsuwHw387YV7Q/F+6BSpGCVjYCqQw6rznNA8PVVLySrAWsv0hQtFioQb6E1YsauiA==",
                value: "RdNFx5Bj6au3YgAMQL/RzmUlZE8QZLIaXGRpw985hWnwPfMxT228NMk6ehRS1PSl4e8PhbNZACSanGdhEwYCCg=="),
            BotSignature(
                key: "test-key-rsa-pss", keyID: "oD0HwocPBSfpNy5W3bpJeyFGY_IQ_YpqxSjQ3Yd-CLA",
                algorithm: "rsa-pss-sha512", coversAgent: false,
                nonce: "JojDFWJ90jf+gZhdKeTyJYsu1XvNPZSFAGhvYq5SuV3gneOEUAhq+xl792WGuD1W+Dr6NRmx+m+t06NsYnL4iA==",
                value: """
                    hWPaj85MWQiRkzU4jnIKvdPQiDfMCPIoxOP8nZveNc3aFQ7r/UmXWCwGNImw588iRvTFey5TR3fVEgnXpcttlyK+u5pN831z9Wlr\
                    +IMNfub4uEM3SuO+SKFygJZyLG0pf7OAiRcU4C0gyx1BS/+z9ydQTRzDLr88wCkBBRqwGRrSi8HTwxkqg1jugobh93hcnU6gV8MK\
                    1n+VnhRprIgl2RQSO6q5cfbB4OS8C4t/8ndW0lYmP2SWzKZJXnpX5Wrj17PuLqnVW6MO8pJnLAMXNvxUdx32KHeq/cHFrzZazZsu\
                    a3UOoP+k+niHwoQ8bBWj1Vi4mM1mYJK+fk366cCLsQ==
                    """),
            BotSignature(
                key: "test-key-rsa-pss", keyID: "oD0HwocPBSfpNy5W3bpJeyFGY_IQ_YpqxSjQ3Yd-CLA",
                algorithm: "rsa-pss-sha512", coversAgent: true,
                nonce: "wcfPQPh7SzkvrIVvhD00vNk9PkxJNY2NVbYl2PVBB4zmUoluSwE7W6bPtF60QA3k8g06FU7PPCD+J58YofY1zg==",
                value: """
                    gHzpLNeHaHIO19NaJH9YMW5dcVSi2s0wOMBr6p18vcofS106sfC4KBIS0/szPlBBd1vIcyQ88B6CTEWIhRAiVrb9zfX0mx1aG12C\
                    SGWcYkSirHeyTxhbuJvXd27ed6skWoy4PjXItq38936ivUQjfdIwXh1aX6HxkAC3vRnEdSNfntkLWeEuIQ5BLIOBGE39fSwg27Qj\
                    q6OVWYas/9/aFUr3HA34MXWYdp+//cvlEKDp3kRoLOw9ro0AOr6srHrTeEtxon2afcws1aZVSlPdd2fZSEIGmw9HAHLDCEkFTERu\
                    1gH2k/zIEqgy7CAYXI9E5slog0cLg/Vc6+f8gih33g==
                    """),
        ]

        /// The signed request.
        var request: String {
            let components = #"("@authority"\#(coversAgent ? #" "signature-agent";key="agent2""# : ""))"#
            return """
                GET /path/to/resource HTTP/1.1
                Host: example.com
                Signature-Agent: agent2="https://signature-agent.test"
                Signature-Input: sig=\(components);created=1735689600;keyid="\(keyID)";alg="\(algorithm)";\
                expires=4889289600;nonce="\(nonce)";tag="web-bot-auth"
                Signature: sig=:\(value):
                """
        }
    }

    private let now = UnixTime(seconds: 1_735_689_601)

    private func verify(_ request: HTTPRequest, _ vector: BotSignature) async throws -> VerifiedSignature {
        let keys = InMemoryKeyDirectory([
            KeyRecord(id: vector.keyID, key: try ExampleKeys.verification(vector.key), owner: "bot")
        ])
        let policy = VerificationPolicy(tag: "web-bot-auth", requiredComponents: [.authority])
        let nonces = NonceMemory(startedAt: now - .seconds(3_600))
        return try await SignatureVerifier(policy: policy, keys: keys, nonces: nonces)
            .verify(SignatureContext(request), hasBody: false, at: now)
    }

    @Test(arguments: BotSignature.all)
    func signatureOfABotIsAccepted(_ vector: BotSignature) async throws {
        let sent = try request(vector.request)
        #expect(try await verify(sent, vector).parameters.algorithm == vector.algorithm)
        var other = sent
        other.authority = "example.org"
        await #expect(throws: SignatureRefusal.self) { try await verify(other, vector) }
    }

    @Test func agentThatIsCoveredMayNotChange() async throws {
        for vector in BotSignature.all {
            let text = vector.request.replacing("signature-agent.test", with: "other.test")
            let changed = try request(text)
            if vector.coversAgent {
                await #expect(throws: SignatureRefusal.self) { try await verify(changed, vector) }
            } else {
                _ = try await verify(changed, vector)
            }
        }
    }

    @Test func botsDirectoryIsBoundToItsRequest() throws {
        let sent = try request(
            """
            GET /.well-known/http-message-signatures-directory HTTP/1.1
            Host: signature-agent.test
            """)
        var response = HTTPResponse(status: .ok)
        response.headerFields[.contentDigest] = "sha-256=:CADMT2aBdV/rqQr/NIru64ERQkCobVvllA4V0fLFDu0=:"
        response.headerFields[.signatureInput] = """
            binding0=("@authority";req "content-digest");created=1735689600;\
            keyid="poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U";alg="ed25519";expires=4889289600;\
            tag="http-message-signatures-directory"
            """
        response.headerFields[.signature] =
            "binding0=:yiHq0TXrbpzbmlttAQMpYoAufitFJUWuNsakB7QQMoN0EHbo5o51bZRVR8az/ptTWCwllix9clrKXfGKwdPzBg==:"
        let body = """
            {"keys":[{"kty":"OKP","crv":"Ed25519","kid":"poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U",\
            "x":"JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs","use":"sig"}]}
            """
        let signature = try #require(try response.headerFields.signatures().first)
        let base = try SignatureContext(response, to: sent).signatureBase(for: signature.parameters)
        #expect(String(decoding: base, as: UTF8.self).hasPrefix(#""@authority";req: signature-agent.test"#))
        #expect(try ExampleKeys.verification("test-key-ed25519").isValid(signature.signature, of: base))
        let digest = try BodyDigest(.contentDigest, in: response.headerFields)
        #expect(throws: Never.self) { try digest.verify(BodyDigest(of: Array(body.utf8), by: digest.algorithms)) }
    }
}

/// A signature with parameters that RFC 9421 does not define, and one that stands under a label of another: the vectors of `wimsey`.
struct WorkloadVectorTests {
    private static let parameters = #"""
        ;created=1700000000;expires=1700000300;nonce="abcd1111";tag="%";wimse-aud="https://service.example/transfer";\#
        wimse-sign-response
        """#
    private static let value =
        "MXR0J3qrWVwsSofw4SGr1sTL8npUxEYXMkzh5/ncN7ButxkTq5ScaaQmqkkaraI49o/0AcvTiCzzqfT9LbEh+A=="
    /// By another key, for another tag.
    private static let hopValue =
        "gbfi07FkzUc3biP65PT+9rv+nFkCddRpt7T9HT3/PFksENCPxGo2Ljj1QnXumPi9LOck60OmJZ4jJbnGtGYQ5w=="
    private static let token = """
        eyJ0eXAiOiJ3aXQrand0IiwiYWxnIjoiRVMyNTYiLCJraWQiOiJpc3N1ZXIta2V5LTEifQ.eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGFtcGxlIiwic\
        3ViIjoic3BpZmZlOi8vZXhhbXBsZS5vcmcvd29ya2xvYWQvYXBpIiwiaWF0IjoxNzAwMDAwMDAwLCJleHAiOjE3MDAwMDM2MDAsImp0aSI6ImExYjJjM\
        yIsImNuZiI6eyJqd2siOnsiYWxnIjoiRVMyNTYiLCJrdHkiOiJFQyIsImNydiI6IlAtMjU2IiwieCI6ImNUWDZUOWs2Q2R6cGk3OW9HMHY4OVE1OERXT\
        lU1aXI3Q184cU5DbGhlR1UiLCJ5IjoiN1V3ZkF0MjVBajdsYWxWLVVWMXFuY1pzRWZJZ2xnM2xsRE5OOVloM1p5USJ9fX0.5hgKPe0utuP-jgVBlaXzE\
        fWSWyU_cCmKUVGEO6q159Hs-cH-XogDwFVyl7qgKXf6uFTEmPtO2nQrY3G1jxyAiw
        """

    /// A member of `Signature-Input` with a tag.
    private static func input(_ label: String, tag: String) -> String {
        let components =
            #"("@method" "@path" "@query" "content-type" "content-digest" "workload-identity-token")"#
        return label + "=" + components + parameters.replacing("%", with: tag)
    }

    private func request(path: String = "/transfer", _ input: String, _ signature: String) -> HTTPRequest {
        var request = HTTPRequest(method: .post, scheme: "https", authority: "service.example", path: path)
        request.headerFields[.contentType] = "application/json"
        request.headerFields[.contentDigest] = "sha-256=:TUu+Wcaq0iRCzeGZpqil8DRAX814+1qBwk7ySd4cRfE=:"
        if let name = HTTPField.Name("Workload-Identity-Token") { request.headerFields[name] = Self.token }
        request.headerFields[.signatureInput] = input
        request.headerFields[.signature] = signature
        return request
    }

    /// Whether the signature with the profile's tag is that of a request, whose key the token has.
    private func isValid(_ request: HTTPRequest) throws -> Bool {
        let signatures = try request.headerFields.signatures()
        let signature = try #require(signatures.first { $0.parameters.tag == "wimse-workload-to-workload" })
        let base = try SignatureContext(request).signatureBase(for: signature.parameters)
        let key = try P256.Signing.PrivateKey(rawRepresentation: [UInt8](repeating: 9, count: 32))
        return VerificationKey.p256(key.publicKey).isValid(signature.signature, of: base)
    }

    @Test func parametersOfAProfileAreCovered() throws {
        let input = Self.input("wimse", tag: "wimse-workload-to-workload")
        #expect(try isValid(request(input, "wimse=:\(Self.value):")))
        #expect(try !isValid(request(path: "/admin", input, "wimse=:\(Self.value):")))
        let other = input.replacing("service.example", with: "other.example")
        #expect(try !isValid(request(other, "wimse=:\(Self.value):")))
        #expect(try !isValid(request(input.replacing(";wimse-sign-response", with: ""), "wimse=:\(Self.value):")))
        let digest = try BodyDigest(.contentDigest, in: request(input, "").headerFields)
        #expect(throws: Never.self) { try digest.verify(BodyDigest(of: Array(#"{"amount":100}"#.utf8))) }
        #expect(throws: SignatureError.self) { try digest.verify(BodyDigest(of: Array(#"{"amount":999}"#.utf8))) }
    }

    @Test func tagFindsASignatureUnderAnyLabel() throws {
        let tags = ["example-proxy-hop", "wimse-workload-to-workload"]
        let inputs = zip(["wimse", "origin"], tags).map { Self.input($0, tag: $1) }
        let fields = (inputs.joined(separator: ", "), "wimse=:\(Self.hopValue):, origin=:\(Self.value):")
        #expect(try isValid(request(fields.0, fields.1)))
    }
}
