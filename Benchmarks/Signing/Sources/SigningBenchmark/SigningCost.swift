import Crypto
import Foundation
import HTTPTypes
import RunwaySignatures

/// Signing a call of 1 KB, beside the SHA-256 of its body and the HMAC of its signature base alone.
enum SigningCost {
    static func measure(rounds: Int) async throws {
        let secret = SymmetricKey(size: .bits256)
        let keys: [(String, SigningKey)] = [
            ("hmac-sha256", try .hmac(secret)), ("ed25519", .ed25519(Curve25519.Signing.PrivateKey())),
            ("ecdsa-p256-sha256", .p256(P256.Signing.PrivateKey())),
        ]
        let components = try CoveredComponents([.method, .authority, .path, .query, .contentDigest])
        let request = HTTPRequest(method: .post, scheme: "https", authority: "api.example.com", path: "/mirror?page=1")
        let body = VerifyingServer.body

        func sign(_ number: Int, _ key: SigningKey) async throws -> HTTPFields {
            var request = request
            request.headerFields[.contentDigest] = BodyDigest(of: body).fieldValue
            let parameters = try SignatureParameters(
                components: components, created: VerifyingServer.now, nonce: "n-\(number)", keyID: "k", tag: "app")
            request.headerFields.append(try await SignatureContext(request).signature(parameters, by: key))
            return request.headerFields
        }

        var digested = request
        digested.headerFields[.contentDigest] = BodyDigest(of: body).fieldValue
        let base = try SignatureContext(digested).signatureBase(
            for: SignatureParameters(
                components: components, created: VerifyingServer.now, nonce: "n-1234", keyID: "k", tag: "app"))
        let count = 5_000
        var sink: UInt8 = 0
        var (bare, signed) = ([Double](), keys.map { _ in [Double]() })
        for _ in 0..<rounds {
            bare.append(
                try await microseconds(count) { _ in
                    sink ^= SHA256.hash(data: body).firstByte
                    sink ^= HMAC<SHA256>.authenticationCode(for: base, using: secret).firstByte
                })
            for (index, (_, key)) in keys.enumerated() {
                signed[index].append(
                    try await microseconds(count) { sink ^= UInt8(truncatingIfNeeded: try await sign($0, key).count) })
            }
        }
        print(
            "signing a call of 1 KB, \(rounds) rounds of \(count); medians, ratios to SHA-256 of the body and HMAC of the base"
        )
        print(String(format: "the hashes alone          %8.2f µs", median(bare)))
        for ((name, _), own) in zip(keys, signed) {
            let ratio = median(zip(own, bare).map { $0 / $1 })
            print(
                name.padding(toLength: 24, withPad: " ", startingAt: 0)
                    + String(format: "  %8.2f µs  ×%.2f", median(own), ratio))
        }
        if sink == 1 { print("") }
    }

    private static func microseconds(_ count: Int, _ work: (Int) async throws -> Void) async throws -> Double {
        let start = ContinuousClock.now
        for number in 0..<count { try await work(number) }
        return (start.duration(to: .now) / .seconds(1)) * 1e6 / Double(count)
    }
}

extension ContiguousBytes {
    /// The first byte, so that the result of a hash is used.
    fileprivate var firstByte: UInt8 { withUnsafeBytes { $0.first ?? 0 } }
}
