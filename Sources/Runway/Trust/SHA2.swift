import RunwayDigest

/// Computes SHA-256 of bytes that arrive in parts (FIPS 180-4 §6.2). Use it only for data that is not secret.
package struct SHA256Hash: Sendable {
    private var hash = runway_sha256()

    package init() { runway_sha256_begin(&hash) }

    package mutating func update(_ bytes: [UInt8]) { runway_sha256_update(&hash, bytes, bytes.count) }

    /// The digest of all bytes so far, in 32 bytes.
    package var digest: [UInt8] {
        var hash = hash
        var digest = [UInt8](repeating: 0, count: 32)
        runway_sha256_finish(&hash, &digest)
        return digest
    }
}

/// Computes SHA-512 of bytes that arrive in parts (FIPS 180-4 §6.4). Use it only for data that is not secret.
struct SHA512Hash: Sendable {
    private var hash = runway_sha512()

    init() { runway_sha512_begin(&hash) }

    mutating func update(_ bytes: [UInt8]) { runway_sha512_update(&hash, bytes, bytes.count) }

    /// The digest of all bytes so far, in 64 bytes.
    var digest: [UInt8] {
        var hash = hash
        var digest = [UInt8](repeating: 0, count: 64)
        runway_sha512_finish(&hash, &digest)
        return digest
    }
}

extension [UInt8] {
    var hexadecimal: String { map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
}
