import Crypto
public import Foundation

/// Computes the digest of a body while it is sent or received.
public struct BodyDigester: Sendable {
    private var sha256: SHA256?
    private var sha512: SHA512?

    /// Creates a digester for SHA-256.
    public init() { sha256 = SHA256() }

    /// Creates a digester for some algorithms.
    public init(_ algorithms: Set<DigestAlgorithm>) {
        sha256 = algorithms.contains(.sha256) ? SHA256() : nil
        sha512 = algorithms.contains(.sha512) ? SHA512() : nil
    }

    /// Creates a digester for the algorithms of a digest.
    init(as digest: BodyDigest) {
        sha256 = digest.sha256 == nil ? nil : SHA256()
        sha512 = digest.sha512 == nil ? nil : SHA512()
    }

    /// Adds the next part of the body.
    public mutating func update(_ part: some DataProtocol) {
        for region in part.regions { region.withUnsafeBytes { update($0) } }
    }

    /// Adds the next part of the body.
    public mutating func update(_ part: [UInt8]) { part.withUnsafeBytes { update($0) } }

    /// Adds the next part of the body.
    public mutating func update(_ part: UnsafeRawBufferPointer) {
        sha256?.update(bufferPointer: part)
        sha512?.update(bufferPointer: part)
    }

    /// Returns the digests of the bytes added so far.
    public func finish() -> BodyDigest {
        // Copies are finalised, since a finalised hash must not be updated.
        let (sha256, sha512) = (sha256, sha512)
        return BodyDigest(
            sha256: sha256?.finalize().withUnsafeBytes { Array($0) },
            sha512: sha512?.finalize().withUnsafeBytes { Array($0) })
    }
}
