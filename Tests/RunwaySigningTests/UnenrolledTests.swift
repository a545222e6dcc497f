import HTTPTypes
import RunwaySignatures
import RunwayTestServer
import RunwayTesting
import RunwayTransport
import Synchronization
import Testing

@testable import Runway
@testable import RunwaySigning

/// Signed calls of an account whose device has no key yet, at a service with access tokens.
@Suite(.timeLimit(.minutes(10)))
struct UnenrolledTests {
    private let peers = Peers()

    /// How a server says that the signature is the reason of its 401.
    enum Refusal: CaseIterable {
        case tag, tagWithNonce, problem, both
    }

    private func response(_ refusal: Refusal) throws -> ScriptedResponse {
        switch refusal {
        case .tag: return try peers.refusal(at: Peers.now)
        case .tagWithNonce: return try peers.refusal(at: Peers.now, nonce: "n-1")
        case .problem: return .problem("missing", at: Peers.now)
        case .both:
            var response = ScriptedResponse.problem("missing", at: Peers.now)
            response.headerFields[.acceptSignature] =
                try peers.refusal(at: Peers.now).headerFields[.acceptSignature]
            return response
        }
    }

    private func layer(to origin: ScriptedOrigin, _ policy: SigningPolicy, _ key: RequestKey?) throws -> NetworkLayer {
        var pipeline = RequestPipeline.tested
        pipeline.insert(SigningStage(for: Office.self, policy, keys: OneKey(key)), before: .signing)
        let network = NetworkLayer(
            transport: try NIOTransport(configuration: TransportConfiguration(connectTimeout: .seconds(300))),
            pipeline: pipeline)
        network.configure(Office.self) { $0.baseURLs = [.release: origin.baseURL] }
        return network
    }

    @Test(arguments: Refusal.allCases, [false, true])
    func missingSignatureNeverRenewsTheToken(_ refusal: Refusal, _ isStreamed: Bool) async throws {
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: try response(refusal))
            let network = try layer(to: origin, SigningPolicy(.signature(tag: "app")), nil)
            try await network.signIn(AccessToken("t1", account: "ann"), to: Office.self)
            let error = await #expect(throws: NetworkError.self) {
                if isStreamed { _ = try await network.stream(Letter()) } else { _ = try await network.call(Letter()) }
            }
            #expect(error?.kind == .refused && error?.step == .signing && error?.status == .unauthorized)
            #expect(error?.detail.contains("ann has no key yet. Call DeviceEnrolment.enrol()") == true)
            #expect(origin.requests.map(\.target) == ["/letter"], "No renewal was requested")
            // The token is the same as before.
            origin.otherwise(respond: .text("fine"))
            _ = try await network.call(Letter())
            #expect(origin.requests.last?["authorization"] == "Bearer t1")
        }
    }

    @Test func missingDigestNeverRenewsTheToken() async throws {
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .problem("missing", at: Peers.now))
            let network = try layer(to: origin, SigningPolicy(.saltedDigest), nil)
            try await network.signIn(AccessToken("t1", account: "ann"), to: Office.self)
            let error = await #expect(throws: NetworkError.self) { try await network.call(Letter()) }
            #expect(error?.kind == .refused && error?.detail.contains("enrol()") == true && origin.requestCount == 1)
        }
    }

    @Test func signatureIsAskedForBeforeALogin() async throws {
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: try response(.tag))
            let network = try layer(to: origin, SigningPolicy(.signature(tag: "app")), nil)
            let error = await #expect(throws: NetworkError.self) { try await network.call(Renewal()) }
            #expect(
                error?.kind == .refused && error?.detail.contains("Sign in, and call DeviceEnrolment.enrol()") == true)
        }
    }

    /// The renewal is a signed call, too: its refusal concerns the key, and signs nobody out.
    @Test(arguments: [false, true])
    func renewalRefusedForItsSignatureKeepsTheToken(_ hasKey: Bool) async throws {
        try await withScriptedOrigin { origin in
            let refusal = try response(.tag)
            origin.on("/renewal", respond: refusal)
            origin.on("/letter", respond: .text("expired", status: .unauthorized))
            let network = try layer(
                to: origin, SigningPolicy(.signature(tag: "app")), hasKey ? peers.requestKey : nil)
            try await network.signIn(AccessToken("t1", account: "ann", refreshToken: "r1"), to: Office.self)
            for _ in 1...2 {
                let error = await #expect(throws: NetworkError.self) { try await network.call(Letter()) }
                #expect(error?.kind == .refused, "The token that was refused stays, and is renewed by the next call")
            }
            #expect(network.settings(of: Office.self).account == "ann")
            #expect(origin.requests.filter { $0.target == "/renewal" }.count >= 2)
        }
    }

    /// A 401 with another tag is one of the access token.
    @Test func refusedTokenIsStillRenewed() async throws {
        try await withScriptedOrigin { origin in
            var refusal = ScriptedResponse.text("expired", status: .unauthorized)
            refusal.headerFields[.acceptSignature] = #"sig1=("@method");tag="another""#
            origin.on("/letter", respond: [refusal, .text("fine")])
            origin.on("/renewal", respond: .text("t2"))
            let network = try layer(to: origin, SigningPolicy(.signature(tag: "app")), nil)
            try await network.signIn(AccessToken("t1", account: "ann"), to: Office.self)
            _ = try await network.call(Letter())
            #expect(origin.requests.last?["authorization"] == "Bearer t2")
        }
    }
}

/// A service with access tokens and signatures.
private enum Office: APIService {
    static let environments: [ServiceEnvironment: String] = [:]
    static let deadline = Duration.seconds(600)
    static let credentials: (any Credentials)? = OfficeCredentials()
}

private struct OfficeCredentials: Credentials {
    func refresh(_ token: AccessToken, on network: NetworkLayer) async throws -> AccessToken {
        AccessToken(try await network.call(Renewal()).text ?? "", account: token.account)
    }
}

private struct Letter: Endpoint {
    static let service = Office.self
    static let retry = RetryPolicy.off
    var path: EndpointPath { "letter" }
}

private struct Renewal: Endpoint {
    static let service = Office.self
    static let retry = RetryPolicy.off
    static let authorization = AuthorizationPolicy.none
    var path: EndpointPath { "renewal" }
}
