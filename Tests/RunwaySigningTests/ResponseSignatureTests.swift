import Crypto
import Foundation
import HTTPTypes
import RunwaySignatures
import RunwayTestServer
import RunwayTesting
import Testing

@testable import Runway
@testable import RunwaySigning

/// Responses that the server signs, and those that somebody else made.
@Suite(.timeLimit(.minutes(10)))
struct ResponseSignatureTests {
    private let peers = Peers()

    private var policy: SigningPolicy {
        var policy = SigningPolicy(.signature(tag: "app"))
        policy.responses = ResponseSignatures(tag: "server", keys: peers.serverKeys)
        return policy
    }

    private func refusal(
        _ respond: @escaping @Sendable (Peers, ReceivedRequest) async throws -> ScriptedResponse
    ) async throws -> SignatureRefusal.Reason? {
        try await withScriptedOrigin { origin in
            let peers = peers
            origin.otherwise { try await respond(peers, $0) }
            let network = try NetworkLayer(to: origin, policy, keys: OneKey(peers.requestKey))
            let error = try await network.failure(of: Read(path: "a", parameters: ["b": "1"]))
            #expect(error.kind == .notTrusted && error.step == .signing && error.sending == .sent)
            #expect(origin.requestCount == 1)
            return (error.underlying as? SignatureRefusal)?.reason
        }
    }

    @Test func aSignedResponseIsAccepted() async throws {
        try await withScriptedOrigin { origin in
            let peers = peers
            origin.otherwise { received in
                try await peers.verify(received)
                return try await peers.signed(.text("fine"), to: received)
            }
            let network = try NetworkLayer(to: origin, policy, keys: OneKey(peers.requestKey))
            #expect(try await network.call(Read(path: "a", parameters: ["b": "1"])).text == "fine")
            #expect(try await network.stream(Read(path: "a")).body.collect(upTo: 100) == Array("fine".utf8))
        }
    }

    @Test func anEmptyResponseNeedsNoDigest() async throws {
        try await withScriptedOrigin { origin in
            let peers = peers
            origin.otherwise { try await peers.signed(.status(.noContent), to: $0) }
            let network = try NetworkLayer(to: origin, policy, keys: OneKey(peers.requestKey))
            #expect(try await network.call(Read(path: "a")).bytes.isEmpty)
        }
    }

    @Test func anUnsignedResponseIsRefused() async throws {
        #expect(try await refusal { _, _ in .text("fine") } == .unsigned)
    }

    @Test func aResponseByAnotherKeyIsRefused() async throws {
        let reason = try await refusal { peers, received in
            try await peers.signed(.text("fine"), to: received, by: Curve25519.Signing.PrivateKey())
        }
        #expect(reason == .invalid)
    }

    @Test func aChangedBodyIsRefused() async throws {
        let reason = try await refusal { peers, received in
            var response = try await peers.signed(.text("fine"), to: received)
            response.chunks = [Array("evil".utf8)]
            return response
        }
        #expect(reason == .body)
    }

    @Test func aChangedStatusIsRefused() async throws {
        let reason = try await refusal { peers, received in
            var response = try await peers.signed(.text("fine"), to: received)
            response.status = .created
            return response
        }
        #expect(reason == .invalid)
    }

    @Test func theResponseToAnotherRequestIsRefused() async throws {
        let reason = try await refusal { peers, received in
            try await peers.signed(.text("fine"), to: received, nonce: "of another request")
        }
        #expect(reason == .parameters)
    }

    @Test func aResponseMustCoverTheRequestsSignature() async throws {
        let reason = try await refusal { peers, received in
            try await peers.signed(.text("fine"), to: received, without: ["signature"])
        }
        #expect(reason == .coverage)
    }

    @Test(arguments: [false, true]) func aResponseMustCoverTheRequestsDigest(_ isCovered: Bool) async throws {
        try await withScriptedOrigin { origin in
            let peers = peers
            origin.otherwise {
                try await peers.signed(.text("fine"), to: $0, without: isCovered ? [] : ["runway-digest"])
            }
            var policy = policy
            policy.way = .saltedDigest
            let key = RequestKey(id: "partner-3", signer: try SigningKey.salted(peers.secret))
            let network = try NetworkLayer(to: origin, policy, keys: OneKey(key))
            if isCovered {
                #expect(try await network.call(Read(path: "a")).text == "fine")
            } else {
                let error = try await network.failure(of: Read(path: "a"))
                #expect((error.underlying as? SignatureRefusal)?.reason == .coverage)
            }
        }
    }

    @Test func theResponseToAnUnsignedRequestIsVerified() async throws {
        try await withScriptedOrigin { origin in
            let peers = peers
            origin.otherwise { try await peers.signed(.text("fine"), to: $0) }
            let network = try NetworkLayer(to: origin, policy, keys: OneKey(nil))
            #expect(try await network.call(Read(path: "a")).text == "fine")
            #expect(origin.requests.first?["accept-signature"]?.contains("\"signature\"") == false)
        }
    }

    /// What somebody on the way does to a field of the response's signature.
    enum FieldFault: CaseIterable { case cut, doubled, removed }

    @Test(arguments: [HTTPField.Name.signature, .signatureInput], FieldFault.allCases)
    func brokenSignatureFieldIsRefused(_ name: HTTPField.Name, _ fault: FieldFault) async throws {
        let reason = try await refusal { peers, received in
            var response = try await peers.signed(.text("fine"), to: received)
            let value = try #require(response.headerFields[name])
            switch fault {
            case .cut: response.headerFields[name] = String(value.prefix(value.count / 2))
            case .doubled: response.headerFields.append(HTTPField(name: name, value: value))
            case .removed: response.headerFields[name] = nil
            }
            return response
        }
        #expect(reason == .malformed)
    }

    @Test(arguments: [false, true]) func structuredFieldNeedsAKnownType(isKnown: Bool) async throws {
        let field = try #require(HTTPField.Name("X-Dict"))
        try await withScriptedOrigin { origin in
            let peers = peers
            origin.otherwise { received in
                var response = ScriptedResponse.text("fine")
                response.headerFields[field] = "a=1,   b"
                return try await peers.signed(response, to: received, adding: [.field(field).strict])
            }
            var policy = policy
            if isKnown { policy.structuredFieldTypes["x-dict"] = .dictionary }
            let network = try NetworkLayer(to: origin, policy, keys: OneKey(peers.requestKey))
            if isKnown {
                #expect(try await network.call(Read(path: "a")).text == "fine")
            } else {
                let error = try await network.failure(of: Read(path: "a"))
                #expect((error.underlying as? SignatureRefusal)?.reason == .components)
            }
        }
    }

    @Test func streamWithAnotherDigestThrowsAtItsEnd() async throws {
        try await withScriptedOrigin { origin in
            let peers = peers
            origin.otherwise { received in
                var response = try await peers.signed(.text("fine"), to: received)
                response.chunks = [Array("evil".utf8)]
                return response
            }
            let network = try NetworkLayer(to: origin, policy, keys: OneKey(peers.requestKey))
            let stream = try await network.stream(Read(path: "a"))
            let error = try await #require(throws: NetworkError.self) { for try await _ in stream.body {} }
            #expect(error.kind == .notTrusted && error.step == .signing)
        }
    }

    /// A directory that never returns, whatever becomes of its task.
    private struct EndlessDirectory: KeyDirectory {
        let arrival: ScriptedGate

        func record(forKeyID id: String) async throws -> KeyRecord? {
            Task { try await arrival.pass() }
            await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
            return nil
        }
    }

    @Test func callIsCancelledWhileItsResponseIsVerified() async throws {
        try await withScriptedOrigin { origin in
            let (peers, arrival) = (peers, ScriptedGate())
            origin.otherwise { try await peers.signed(.text("fine"), to: $0) }
            var policy = policy
            policy.responses?.keys = EndlessDirectory(arrival: arrival)
            let network = try NetworkLayer(to: origin, policy, keys: OneKey(peers.requestKey))
            let call = Task { try await network.call(Read(path: "a")) }
            try await arrival.waitForArrivals()
            call.cancel()
            let error = try await #require(throws: NetworkError.self) { try await call.value }
            #expect(error.kind == .cancelled)
            arrival.open()
        }
    }
}
