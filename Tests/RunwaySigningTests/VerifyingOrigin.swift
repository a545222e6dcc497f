import Crypto
import Foundation
import HTTPTypes
import Runway
import RunwaySignatures
import RunwayTestServer
import RunwayTesting
import RunwayTransport
import Synchronization
import Testing

@testable import RunwaySigning

/// The service of these tests; every layer says for itself where it is.
enum Shop: APIService {
    static let name = "shop"
    static let environments: [ServiceEnvironment: String] = [:]
    /// Far above what a call takes on a machine that is busy with other tests.
    static let deadline = Duration.seconds(600)
}

/// A read of any path.
struct Read: Endpoint {
    static let service = Shop.self
    static let coalesces = false
    static let retry = RetryPolicy(baseWait: .zero)
    let path: EndpointPath
    var parameters: Parameters = [:]
    func encode(to encoder: any Encoder) {}
}

/// A read that is sent a second time if its response does not come at once.
struct HedgedRead: Endpoint {
    static let service = Shop.self
    static let coalesces = false
    static let hedging = HedgingPolicy.after(.milliseconds(1))
    var path: EndpointPath { "hedged" }
    func encode(to encoder: any Encoder) {}
}

/// A read whose response is stored.
struct StoredRead: Endpoint {
    static let service = Shop.self
    static let cache = CachePolicy.timeToLive(.seconds(3600))
    var path: EndpointPath { "stored" }
    func encode(to encoder: any Encoder) {}
}

/// A change with any body.
struct Change: Endpoint {
    static let service = Shop.self
    static let method = HTTPRequest.Method.post
    static let encoding = ParameterEncoding.raw(contentType: "application/octet-stream")
    let path: EndpointPath
    var content: RequestBody
    var headers: [String: String] = [:]

    init(_ path: EndpointPath, _ content: RequestBody, headers: [String: String] = [:]) {
        (self.path, self.content, self.headers) = (path, content, headers)
    }

    func encode(to encoder: any Encoder) {}
}

/// A store with one key, which counts how often it is asked.
final class OneKey: RequestKeyStore {
    let key: RequestKey?
    private let asked = Mutex<[KeyOwner]>([])

    init(_ key: RequestKey?) { self.key = key }

    var owners: [KeyOwner] { asked.withLock { $0 } }

    func key(for owner: KeyOwner) -> RequestKey? {
        asked.withLock { $0.append(owner) }
        return key
    }
}

/// A store that does what its closure does.
struct ScriptedKeys: RequestKeyStore {
    let find: @Sendable () async throws -> RequestKey?
    func key(for owner: KeyOwner) async throws -> RequestKey? { try await find() }
}

/// The keys of both sides, and what the server verifies with.
struct Peers {
    let secret = SymmetricKey(size: .bits256)
    let appKey = P256.Signing.PrivateKey()
    let serverKey = Curve25519.Signing.PrivateKey()
    let nonces = NonceMemory(startedAt: UnixTime(seconds: 0))
    let serverNonces = ServerNonces()

    var requestKey: RequestKey { RequestKey(id: "device-7", signer: SigningKey.p256(appKey)) }

    var serverKeys: InMemoryKeyDirectory {
        InMemoryKeyDirectory([
            KeyRecord(id: "server-1", key: SigningKey.ed25519(serverKey).verificationKey, owner: "server")
        ])
    }

    var verifier: SignatureVerifier {
        var policy = VerificationPolicy(tag: "app")
        policy.serverNonces = serverNonces
        let record = KeyRecord(id: "device-7", key: SigningKey.p256(appKey).verificationKey, owner: "anna")
        return SignatureVerifier(policy: policy, keys: InMemoryKeyDirectory([record]), nonces: nonces)
    }

    static var now: UnixTime { UnixTime(seconds: Int64(Date().timeIntervalSince1970)) }

    /// Verifies a request and its body as a server does.
    @discardableResult
    func verify(_ received: ReceivedRequest, at now: UnixTime = Peers.now) async throws -> VerifiedSignature {
        let signature = try await verifier.verify(
            SignatureContext(received.message), hasBody: !received.body.isEmpty, at: now)
        try signature.verifyBody(received.body, at: now)
        return signature
    }

    /// A refusal with the server's time, which asks for a signature, and for a nonce if there is one.
    func refusal(at time: UnixTime, nonce: String? = nil) throws -> ScriptedResponse {
        var wanted = try verifier.policy.signatureRequest(hasBody: false)
        wanted.nonce = nonce
        var response = ScriptedResponse.refusal(at: time)
        try response.headerFields.append(wanted)
        return response
    }

    /// A response with the signature that the request asked for, which leaves components of some names out and adds others.
    func signed(
        _ response: ScriptedResponse, to received: ReceivedRequest, nonce: String? = nil, without names: [String] = [],
        adding others: [ComponentIdentifier] = [], by key: Curve25519.Signing.PrivateKey? = nil
    ) async throws -> ScriptedResponse {
        var response = response
        let wanted = try #require(try received.message.headerFields.signatureRequests().first)
        let components = wanted.components.identifiers.filter { !names.contains($0.name) }
        let body = response.chunks.flatMap { $0 }
        response.headerFields[.contentDigest] = BodyDigest(of: body).fieldValue
        let parameters = try SignatureParameters(
            components: CoveredComponents(components + others + [.contentDigest]), created: Peers.now,
            nonce: nonce ?? wanted.nonce, keyID: "server-1",
            tag: wanted.tag)
        let head = HTTPResponse(status: response.status, headerFields: response.headerFields)
        var context = SignatureContext(head, to: received.message)
        context.structuredFieldTypes["x-dict"] = .dictionary
        let signature = try await context.signature(
            parameters, by: SigningKey.ed25519(key ?? serverKey))
        response.headerFields.append(signature)
        return response
    }
}

extension ReceivedRequest {
    /// The request as a verifier needs it.
    var message: HTTPRequest {
        var fields = HTTPFields()
        for field in self.fields {
            if let name = HTTPField.Name(field.name) { fields.append(HTTPField(name: name, value: field.value)) }
        }
        return HTTPRequest(
            method: method, scheme: "http", authority: self["host"], path: target, headerFields: fields)
    }
}

extension ScriptedResponse {
    /// A refusal with the server's time, which says nothing of a signature.
    static func refusal(at time: UnixTime) -> ScriptedResponse {
        var response = ScriptedResponse.text("refused", status: .unauthorized)
        let date = Date(timeIntervalSince1970: Double(time.seconds))
        response.headerFields[.date] = HTTPDate(date).text
        return response
    }

    /// A refusal as a server of this project states it.
    static func problem(
        _ reason: String, at time: UnixTime, status: HTTPResponse.Status = .unauthorized
    ) -> ScriptedResponse {
        .bytes(
            Array(#"{"type":"urn:runway:signature:\#(reason)","status":\#(status.code),"time":\#(time.seconds)}"#.utf8),
            contentType: "application/problem+json", status: status)
    }
}

extension LayerClock {
    /// A clock whose date differs from the server's.
    static func wrong(by difference: TimeInterval) -> LayerClock {
        LayerClock(ContinuousClock()) { Date(timeIntervalSinceNow: difference) }
    }
}

extension NetworkLayer {
    /// A layer whose calls to the shop are signed.
    convenience init(
        to origin: ScriptedOrigin, _ policy: SigningPolicy = SigningPolicy(.signature(tag: "app")),
        keys: any RequestKeyStore, clock: LayerClock = .system, sinks: [any EventSink] = [],
        after stages: [any RequestStage] = []
    ) throws {
        var pipeline = RequestPipeline.tested
        pipeline.insert(SigningStage(for: Shop.self, policy, keys: keys), before: .signing)
        // A later insertion stands before an earlier one of the same step.
        for stage in stages { pipeline.insert(stage, before: .signing) }
        self.init(
            transport: try NIOTransport(configuration: TransportConfiguration(connectTimeout: .seconds(300))),
            pipeline: pipeline, clock: clock, sinks: sinks)
        configure(Shop.self) { $0.baseURLs = [.release: origin.baseURL] }
    }

    /// The error that a call ends in.
    func failure(
        of endpoint: some Endpoint, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> NetworkError {
        try await #require(throws: NetworkError.self, sourceLocation: sourceLocation) { try await call(endpoint) }
    }
}
