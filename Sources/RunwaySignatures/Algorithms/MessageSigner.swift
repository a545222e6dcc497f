/// Signs messages with a private key or a shared secret.
///
/// ``SigningKey`` signs with a key in memory. Implement the protocol for a key that never leaves its hardware: in the
/// Secure Enclave, or in a hardware security module behind a service.
public protocol MessageSigner: Sendable {
    /// The algorithm of the key.
    var algorithm: SignatureAlgorithm { get }

    /// Returns the signature of a signature base in the format of RFC 9421 §3.3. For ECDSA, the signature consists of
    /// the two numbers concatenated, not of DER.
    func signature(of base: [UInt8]) async throws -> [UInt8]
}
