/// Signs with a key that it holds.
///
/// ``SigningKey`` signs with a key in memory. An app implements the protocol for a key that never leaves its hardware:
/// the Secure Enclave, or a hardware security module that a service calls.
public protocol MessageSigner: Sendable {
    /// The algorithm of the key.
    var algorithm: SignatureAlgorithm { get }

    /// Returns the signature of a signature base, in the format of RFC 9421 §3.3: for ECDSA the two numbers side by
    /// side, not DER.
    func signature(of base: [UInt8]) async throws -> [UInt8]
}
