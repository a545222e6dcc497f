import RunwayDigest

/// SHA-256 of bytes that arrive in parts (FIPS 180-4 §6.2). For digests of data that is not secret.
package struct SHA256Hash: Sendable {
    private var hash = runway_sha256()

    package init() { runway_sha256_begin(&hash) }

    /// Takes the next bytes.
    package mutating func update(_ bytes: [UInt8]) { runway_sha256_update(&hash, bytes, bytes.count) }

    /// The 32 bytes of the digest of the bytes so far.
    package var digest: [UInt8] {
        var hash = hash
        var digest = [UInt8](repeating: 0, count: 32)
        runway_sha256_finish(&hash, &digest)
        return digest
    }
}

/// SHA-512 of bytes that arrive in parts (FIPS 180-4 §6.4). For digests of data that is not secret.
struct SHA512Hash: Sendable {
    private var hash = runway_sha512()

    init() { runway_sha512_begin(&hash) }

    /// Takes the next bytes.
    mutating func update(_ bytes: [UInt8]) { runway_sha512_update(&hash, bytes, bytes.count) }

    /// The 64 bytes of the digest of the bytes so far.
    var digest: [UInt8] {
        var hash = hash
        var digest = [UInt8](repeating: 0, count: 64)
        runway_sha512_finish(&hash, &digest)
        return digest
    }
}

extension [UInt8] {
    /// The bytes in lower-case hexadecimal digits.
    var hexadecimal: String { map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
}
