import Crypto
import Foundation
import HTTPTypes
import Runway
import RunwaySignatures
import RunwaySigning

/// Signing a call of 1 KB, beside the SHA-256 of its body and the HMAC of its signature base alone.
///
/// It fails if signing by HMAC takes more than twice as long. The cost of the whole stage is what a call through a layer with it takes longer
/// than one through a layer without, and has no limit: once with a key in memory, and once with a store that is waited for, in a task that is
/// left behind at the deadline.
enum SigningCost {
    private static let greatestRatio = 2.0

    static func measure(rounds: Int) async throws {
        let secret = SymmetricKey(size: .bits256)
        let keys: [(String, SigningKey)] = [
            ("hmac-sha256", try .hmac(secret)), ("ed25519", .ed25519(Curve25519.Signing.PrivateKey())),
            ("ecdsa-p256-sha256", .p256(P256.Signing.PrivateKey())),
        ]
        let call = try SignedCall()
        let base = try call.base()
        let count = 5_000
        var sink: UInt8 = 0
        var (bare, signed) = ([Double](), keys.map { _ in [Double]() })
        let plain = BenchmarkShop.layer(by: nil)
        let layers = [true, false].map { BenchmarkShop.layer(by: keys[0].1, isInMemory: $0) }
        var stages = layers.map { _ in [Double]() }
        for _ in 0..<rounds {
            bare.append(
                try await microseconds(count) { _ in
                    sink ^= SHA256.hash(data: VerifyingServer.body).firstByte
                    sink ^= HMAC<SHA256>.authenticationCode(for: base, using: secret).firstByte
                })
            for (index, (_, key)) in keys.enumerated() {
                signed[index].append(
                    try await microseconds(count) { _ in
                        sink ^= UInt8(truncatingIfNeeded: try await call.sign(by: key).count)
                    })
            }
            let without = try await microseconds(count) { _ in _ = try await plain.call(BenchmarkCall()) }
            for (index, layer) in layers.enumerated() {
                let with = try await microseconds(count) { _ in _ = try await layer.call(BenchmarkCall()) }
                stages[index].append(with - without)
            }
        }
        print(
            "signing a call of 1 KB, \(rounds) rounds of \(count); medians, ratios to SHA-256 of the body and HMAC of the base"
        )
        print(String(format: "the hashes alone          %8.2f µs", median(bare)))
        let names = keys.map(\.0) + ["the stage, key in memory", "the stage, key sought"]
        let ratios = (signed + stages).map { own in median(zip(own, bare).map { $0 / $1 }) }
        for ((name, own), ratio) in zip(zip(names, signed + stages), ratios) {
            print(
                name.padding(toLength: 24, withPad: " ", startingAt: 0)
                    + String(format: "  %8.2f µs  ×%.2f", median(own), ratio))
        }
        if sink == 1 { print("") }
        guard ratios[0] <= greatestRatio else {
            throw BenchmarkFailure(reason: "signing by \(names[0]) takes more than \(greatestRatio) times the hashes")
        }
    }

    /// Signs a call again and again, for callgrind.
    static func run(count: Int) async throws {
        let (call, key) = (try SignedCall(), try SigningKey.hmac(SymmetricKey(size: .bits256)))
        var fields = 0
        for _ in 0..<count { fields += try await call.sign(by: key).count }
        print("\(fields) fields")
    }

    private static func microseconds(_ count: Int, _ work: (Int) async throws -> Void) async throws -> Double {
        let start = ContinuousClock.now
        for number in 0..<count { try await work(number) }
        return (start.duration(to: .now) / .seconds(1)) * 1e6 / Double(count)
    }
}

/// A call of 1 KB, which is signed with a nonce of its own each time, as the signing stage signs it: the digest of the body, the nonce, a label
/// that is free, the parameters, the base, the signature and its two fields. The stage has the lists of components of its policy, too.
private struct SignedCall {
    private let components: CoveredComponents
    private let request = HTTPRequest(
        method: .post, scheme: "https", authority: "api.example.com", path: "/mirror?page=1")

    init() throws { components = try CoveredComponents([.method, .authority, .path, .query, .contentDigest]) }

    func sign(by key: SigningKey) async throws -> HTTPFields {
        var request = request
        request.headerFields[.contentDigest] = BodyDigest(of: VerifyingServer.body).fieldValue
        let label = try request.headerFields.signatures().isEmpty ? "sig1" : "sig2"
        let signature = try await SignatureContext(request).signature(parameters(), label: label, by: key)
        request.headerFields.append(signature)
        return request.headerFields
    }

    func base() throws -> [UInt8] {
        var request = request
        request.headerFields[.contentDigest] = BodyDigest(of: VerifyingServer.body).fieldValue
        return try SignatureContext(request).signatureBase(for: parameters())
    }

    private func parameters() throws -> SignatureParameters {
        try SignatureParameters(
            components: components, created: VerifyingServer.now, nonce: SignatureParameters.randomNonce(), keyID: "k",
            tag: "app")
    }
}

extension ContiguousBytes {
    /// The first byte, so that the result of a hash is used.
    fileprivate var firstByte: UInt8 { withUnsafeBytes { $0.first ?? 0 } }
}

/// The service of the calls through whole layers, at a transport that responds by itself.
private enum BenchmarkShop: APIService {
    static let name = "shop"
    static let environments: [ServiceEnvironment: String] = [.release: "https://api.example.com"]

    private struct Echo: Transport {
        func send(_ request: Request, in flight: Flight) async throws(NetworkError) -> Response {
            Response(head: HTTPResponse(status: .ok), body: .whole(RawData([])))
        }
    }

    private struct OneKey: RequestKeyStore {
        let key: RequestKey
        let isInMemory: Bool
        func key(for owner: KeyOwner) -> RequestKey? { key }
        func keyInMemory(for owner: KeyOwner) -> RequestKey? { isInMemory ? key : nil }
    }

    /// A layer that signs by a key, if there is one.
    static func layer(by key: SigningKey?, isInMemory: Bool = false) -> NetworkLayer {
        var pipeline = RequestPipeline()
        if let key {
            let keys = OneKey(key: RequestKey(id: "k", signer: key), isInMemory: isInMemory)
            let policy = SigningPolicy(.signature(tag: "app"))
            pipeline.insert(SigningStage(for: BenchmarkShop.self, policy, keys: keys), before: .signing)
        }
        // The same request again and again is what is measured here, and no loop without end.
        return NetworkLayer(transport: Echo(), pipeline: pipeline, limits: LayerLimits(admission: .none))
    }
}

/// A call with a body of 1 KB.
private struct BenchmarkCall: Endpoint {
    static let service = BenchmarkShop.self
    static let method = HTTPRequest.Method.post
    static let encoding = ParameterEncoding.raw(contentType: "application/octet-stream")
    static let isMergeable = false
    var path: EndpointPath { "mirror" }
    var content: RequestBody { .bytes(VerifyingServer.body) }
    func encode(to encoder: any Encoder) {}
}
