import Crypto
import Foundation
import HTTPTypes
import RunwaySignatures
import RunwayTestServer
import RunwayTesting
import Testing

@testable import Runway
@testable import RunwaySigning

/// What a server asks for in `Accept-Signature`, and what else a signed request has.
@Suite(.timeLimit(.minutes(10)))
struct WantedSignatureTests {
    private let peers = Peers()

    /// Refuses every request that does not meet a wish, and asks for it.
    private func demand(
        _ wish: SignatureRequest, at origin: ScriptedOrigin,
        until isMet: @escaping @Sendable (SignatureParameters) -> Bool
    ) {
        let peers = peers
        origin.otherwise { received in
            let signature = try await peers.verify(received)
            if isMet(signature.parameters) { return .text("fine") }
            var refusal = ScriptedResponse.refusal(at: Peers.now)
            try refusal.headerFields.append(wish)
            return refusal
        }
    }

    private func wish(_ change: (inout SignatureRequest) -> Void) throws -> SignatureRequest {
        var wish = try SignatureRequest(label: "sig1", components: CoveredComponents([.method]), tag: "app")
        change(&wish)
        return wish
    }

    @Test func anExpiryThatTheServerWantsIsStated() async throws {
        try await withScriptedOrigin { origin in
            demand(try wish { $0.wantsExpires = true }, at: origin) { $0.expires != nil }
            let network = try NetworkLayer(to: origin, keys: OneKey(peers.requestKey))
            _ = try await network.call(Read(path: "a"))
            let signatures = try origin.requests.compactMap { try $0.message.headerFields.signatures().first }
            #expect(signatures.map { $0.parameters.expires == nil } == [true, false])
            let last = try #require(signatures.last?.parameters)
            #expect(last.expires == last.created.map { $0 + .seconds(60) })
        }
    }

    @Test func anAlgorithmThatTheServerWantsIsStated() async throws {
        try await withScriptedOrigin { origin in
            demand(try wish { $0.algorithm = .ecdsaP256SHA256 }, at: origin) { $0.algorithm == "ecdsa-p256-sha256" }
            let network = try NetworkLayer(to: origin, keys: OneKey(peers.requestKey))
            _ = try await network.call(Read(path: "a"))
            #expect(origin.requestCount == 2)
        }
    }

    @Test(arguments: [false, true]) func anotherKeyIsNotPretended(byAlgorithm: Bool) async throws {
        try await withScriptedOrigin { origin in
            let wish = try wish { wish in
                wish.wantsExpires = true
                if byAlgorithm { wish.algorithm = .ed25519 } else { wish.keyID = "device-8" }
            }
            demand(wish, at: origin) { _ in false }
            let network = try NetworkLayer(to: origin, keys: OneKey(peers.requestKey))
            let error = try await network.failure(of: Read(path: "a"))
            #expect(error.kind == .refused && error.detail.contains("another key") && error.sending == .sent)
            #expect(origin.requestCount == 1)
        }
    }

    // MARK: - Signatures of the app's own

    /// A stage of an app that signs for somebody else.
    private struct OwnSignature: RequestStage {
        let key: SigningKey
        var step: FlightStep { .signing }
        var endsInTime: Bool { true }

        func respond(
            to request: Request, in flight: Flight, next: RequestPipeline.Rest
        ) async throws(NetworkError) -> Response {
            var request = request
            do {
                let parameters = try SignatureParameters(
                    components: CoveredComponents([.method, .path]), created: Peers.now, keyID: "app-1", tag: "partner")
                request.head.headerFields.append(
                    try await SignatureContext(request.head).signature(parameters, label: "sig1", by: key))
            } catch {
                throw NetworkError(signing: error)
            }
            return try await next.send(request, in: flight)
        }
    }

    @Test func aSignatureOfTheAppsOwnStays() async throws {
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .text("fine"))
            let own = SigningKey.ed25519(Curve25519.Signing.PrivateKey())
            let network = try NetworkLayer(
                to: origin, keys: OneKey(peers.requestKey), after: [OwnSignature(key: own)])
            _ = try await network.call(Read(path: "a"))
            let received = try #require(origin.requests.first)
            let signatures = try received.message.headerFields.signatures()
            #expect(signatures.map(\.label) == ["sig1", "sig2"])
            #expect(try await peers.verify(received).label == "sig2")
            let first = try #require(signatures.first)
            let base = try SignatureContext(received.message).signatureBase(for: first.parameters)
            #expect(own.verificationKey.isValid(first.signature, of: base))
        }
    }

    @Test func theDigestIsThatOfTheCodedBody() async throws {
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .text("fine"))
            let network = try NetworkLayer(to: origin, keys: OneKey(peers.requestKey))
            network.configure(Shop.self) { $0.compression = CompressionPolicy(minimumByteCount: 1) }
            let body = Array(repeating: UInt8(ascii: "a"), count: 4_096)
            _ = try await network.call(Change("a", .bytes(body), headers: ["Content-Type": "text/plain"]))
            let received = try #require(origin.requests.first)
            #expect(received["content-encoding"] == "gzip" && received.body.count < body.count)
            #expect(try await peers.verify(received).digest == BodyDigest(of: received.body))
        }
    }
}
