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
