import Crypto
public import Foundation

/// Digests a body while it is sent or received.
public struct BodyDigester: Sendable {
    private var sha256: SHA256?
    private var sha512: SHA512?

    /// - Parameter algorithms: SHA-256 by default.
    public init(_ algorithms: Set<DigestAlgorithm> = [.sha256]) {
        sha256 = algorithms.contains(.sha256) ? SHA256() : nil
        sha512 = algorithms.contains(.sha512) ? SHA512() : nil
    }

    /// Adds the next part of the body.
    public mutating func update(_ part: some DataProtocol) {
        sha256?.update(data: part)
        sha512?.update(data: part)
    }

    /// The digests of what was added so far.
    public func finish() -> BodyDigest {
        var values: [DigestAlgorithm: [UInt8]] = [:]
        if let sha256 { values[.sha256] = Array(sha256.finalize()) }
        if let sha512 { values[.sha512] = Array(sha512.finalize()) }
        return BodyDigest(values: values)
    }
}
