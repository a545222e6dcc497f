import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import RunwayServer
import RunwaySignatures
import Synchronization

private final class RequestCount: Sendable {
    private let count = Atomic(0)
    func next() -> Int { count.add(1, ordering: .relaxed).newValue }
}

/// A server that returns 1 KB bodies as they come, with a key whose signatures it verifies, or without; or one that refuses all requests.
struct VerifyingServer: Sendable {
    let name: String
    let key: SigningKey?

    static let names = ["none", "hmac-sha256", "ed25519", "ecdsa-p256-sha256"]
    /// The server that responds with 401 to every request and verifies nothing.
    static let refusing = "refusing"

    init(name: String, key: SigningKey?) { (self.name, self.key) = (name, key) }

    /// A server with a key that is the same in each process; without verification if the name is `none`.
    init(fixed name: String) throws {
        let bytes = Array("the same secret in each process.".utf8)
        self.name = name
        switch name {
        case "none", Self.refusing: key = nil
        case "hmac-sha256": key = try .hmac(SymmetricKey(data: bytes))
        case "ed25519": key = .ed25519(try Curve25519.Signing.PrivateKey(rawRepresentation: bytes))
        case "ecdsa-p256-sha256": key = .p256(try P256.Signing.PrivateKey(rawRepresentation: bytes))
        default: throw BenchmarkFailure(reason: "there is no server \(name)")
        }
    }

    static var now: UnixTime { UnixTime(seconds: Int64(Date().timeIntervalSince1970)) }

    /// Runs until its task is cancelled.
    func run(onRunning: @escaping @Sendable (Int) -> Void) async throws {
        let router = Router(context: BasicSignedRequestContext.self)
        if let key {
            let keys = InMemoryKeyDirectory([KeyRecord(id: "k", key: key.verificationKey, owner: "benchmark")])
            var rules = SignatureRules(tag: "app", origin: PublicOrigin("api.example.com"))
            rules.policy.maximumAge = .seconds(3_600)
            let count = RequestCount()
            // Of a request that names none, the source is one of its own: no limit spares the server the verification.
            rules.source = { request, _ in
                HTTPField.Name("X-Source").flatMap { request.headerFields[$0] } ?? "source \(count.next())"
            }
            let nonces = NonceMemory(startedAt: Self.now - .seconds(60), maximumNonces: 10_000_000)
            router.add(middleware: SignatureMiddleware(rules, keys: keys, nonces: nonces))
        }
        router.post("mirror") { request, _ in
            if name == Self.refusing { return Response(status: .unauthorized) }
            return Response(status: .ok, body: ResponseBody(byteBuffer: try await request.body.collect(upTo: 1 << 20)))
        }
        let application = Application(
            router: router, configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { onRunning($0.localAddress?.port ?? 0) },
            logger: Logger(label: "benchmark", factory: { _ in SwiftLogNoOpLogHandler() }))
        try await application.run()
    }

    /// Requests with a nonce each, signed before the time is taken.
    func requests(count: Int) async throws -> [HTTPFields] {
        var requests: [HTTPFields] = []
        let components = try CoveredComponents([.method, .authority, .path, .query, .contentDigest])
        for _ in 0..<count {
            var request = HTTPRequest(
                method: .post, scheme: "https", authority: "api.example.com", path: "/mirror?page=1",
                headerFields: [.contentDigest: BodyDigest(of: Self.body).fieldValue])
            let nonce = "\(UInt64.random(in: 0 ... .max))-\(UInt64.random(in: 0 ... .max))"
            let parameters = try SignatureParameters(
                components: components, created: Self.now, nonce: nonce, keyID: "k", tag: "app")
            if let key {
                request.headerFields.append(try await SignatureContext(request).signature(parameters, by: key))
            }
            requests.append(request.headerFields)
        }
        return requests
    }

    static let body = Array(repeating: UInt8(ascii: "a"), count: 1_024)
}
