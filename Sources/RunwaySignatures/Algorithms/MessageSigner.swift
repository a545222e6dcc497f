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

extension SignatureContext {
    /// Signs the message. Append the result to its header fields.
    ///
    /// ```swift
    /// let components = try CoveredComponents([.method, .authority, .path, .query, .contentDigest])
    /// let parameters = try SignatureParameters(
    ///     components: components, created: now, nonce: nonce, keyID: "device-7", tag: "app")
    /// request.headerFields.append(try await SignatureContext(request).signature(parameters, by: key))
    /// ```
    ///
    /// Throws a ``SignatureError`` if the base cannot be made, and the errors of the signer.
    public func signature(
        _ parameters: SignatureParameters, label: String = "sig1", by signer: some MessageSigner
    ) async throws -> LabelledSignature {
        let base = try signatureBase(for: parameters)
        return try LabelledSignature(
            label: label, parameters: parameters, signature: try await signer.signature(of: base))
    }
}
