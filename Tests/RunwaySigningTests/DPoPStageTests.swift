import Crypto
import Foundation
import HTTPTypes
import RunwaySignatures
import RunwayTestServer
import RunwayTesting
import RunwayTransport
import Testing

@testable import Runway
@testable import RunwaySigning

/// Proofs of possession as they arrive at a server over sockets, verified as a server does.
@Suite(.timeLimit(.minutes(10)))
struct DPoPStageTests {
    private let key = SoftwareKey(key: P256.Signing.PrivateKey())
    private var thumbprint: String { RequestKey(key).id }

    private func layer(_ origin: ScriptedOrigin, keys: (any RequestKeyStore)? = nil) throws -> NetworkLayer {
        var pipeline = RequestPipeline.tested
        pipeline.insert(DPoPStage(for: Shop.self, keys: keys ?? OneKey(RequestKey(key))), before: .signing)
        let network = NetworkLayer(
            transport: try NIOTransport(configuration: TransportConfiguration(connectTimeout: .seconds(300))),
            pipeline: pipeline)
        network.configure(Shop.self) { $0.baseURLs = [.release: origin.baseURL] }
        return network
    }

    @discardableResult
    private func verify(
        _ request: ReceivedRequest, token: String? = nil, by rules: DPoPRules = DPoPRules()
    ) throws -> DPoPProof {
        try DPoPProof(
            of: request.message, token: token, boundTo: token == nil ? nil : thumbprint, by: rules, at: Peers.now)
    }

    @Test func everyAttemptHasAProofOfItsOwn() async throws {
        try await withScriptedOrigin { origin in
            origin.on("/a", respond: [.status(.badGateway), .text("fine")])
            _ = try await layer(origin).call(Read(path: "a", parameters: ["q": "1"]))
            let proofs = try origin.requests.map { try verify($0) }
            #expect(proofs.count == 2 && Set(proofs.map(\.claims.id)).count == 2)
            #expect(proofs.allSatisfy { $0.keyThumbprint == thumbprint && $0.claims.tokenHash == nil })
        }
    }

    @Test func tokenOfTheRequestIsBound() async throws {
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .text("fine"))
            let headers = ["Authorization": "DPoP t-1"]
            _ = try await layer(origin).call(Change("a", .bytes([1]), headers: headers))
            try verify(origin.requests[0], token: "t-1")
            #expect(throws: DPoPRefusal.self) { try verify(origin.requests[0], token: "t-2") }
        }
    }

    @Test(arguments: [false, true])
    func nonceIsAdoptedAndRetriedOnce(isForToken: Bool) async throws {
        var rules = DPoPRules()
        rules.nonces = ServerNonces()
        try await withScriptedOrigin { [rules] origin in
            let nonce = rules.issueNonce(at: Peers.now) ?? ""
            var refusal = ScriptedResponse.text(
                #"{"error":"use_dpop_nonce"}"#, status: isForToken ? .badRequest : .unauthorized)
            if !isForToken { refusal.headerFields[.wwwAuthenticate] = #"DPoP error="use_dpop_nonce""# }
            refusal.headerFields[.contentType] = "application/json"
            refusal.headerFields[.dpopNonce] = nonce
            origin.on("/a", respond: [refusal, .text("fine"), .text("fine")])
            let network = try layer(origin)
            #expect(try await network.call(Change("a", .bytes([1]))).text == "fine")
            #expect(try await network.call(Change("a", .bytes([2]))).text == "fine")
            #expect(origin.requestCount == 3)
            #expect(throws: DPoPRefusal.self) { try verify(origin.requests[0], by: rules) }
            for request in origin.requests.dropFirst() { try verify(request, by: rules) }
        }
    }

    @Test func serverThatIsNeverContentIsAskedTwice() async throws {
        try await withScriptedOrigin { origin in
            origin.on("/a") { _ in
                var refusal = ScriptedResponse.text("no", status: .unauthorized)
                refusal.headerFields[.wwwAuthenticate] = #"DPoP error="use_dpop_nonce""#
                refusal.headerFields[.dpopNonce] = "n-\(UInt64.random(in: 0 ... .max))"
                return refusal
            }
            let error = try await layer(origin).failure(of: Change("a", .bytes([1])))
            #expect(error.status == .unauthorized && origin.requestCount == 2)
        }
    }

    @Test func nonceOfASuccessIsUsedNext() async throws {
        try await withScriptedOrigin { origin in
            var first = ScriptedResponse.text("fine")
            first.headerFields[.dpopNonce] = "n-2"
            origin.on("/a", respond: [first, .text("fine")])
            let network = try layer(origin)
            _ = try await network.call(Change("a", .bytes([1])))
            _ = try await network.call(Change("a", .bytes([1])))
            #expect(try origin.requests.map { try verify($0).claims.nonce } == [nil, "n-2"])
        }
    }

    @Test func otherOriginsAndOtherKeysGetNoProof() async throws {
        try await withScriptedOrigin { home in
            try await withScriptedOrigin { away in
                home.on("/a", respond: .redirect(to: away.baseURL + "/b"))
                away.on("/b", respond: .text("fine"))
                _ = try await layer(home).call(Read(path: "a"))
                #expect(away.requests.map { $0["dpop"] } == [nil] && home.requests[0]["dpop"] != nil)
                home.on("/c", respond: .text("fine"))
                let secret = RequestKey(id: "k", signer: try SigningKey.hmac(SymmetricKey(size: .bits256)))
                _ = try await layer(home, keys: OneKey(secret)).call(Read(path: "c"))
                #expect(home.requests.last?["dpop"] == nil)
            }
        }
    }
}
