import Crypto
public import Foundation

/// Verifies the signatures of messages by one policy.
///
/// ```swift
/// let nonces = NonceMemory(startedAt: start)
/// let verifier = SignatureVerifier(policy: VerificationPolicy(tag: "app"), keys: keys, nonces: nonces)
/// let signature = try await verifier.verify(SignatureContext(request), body: body, at: now)
/// ```
///
/// A nonce is claimed last, so that a signature that is refused for another reason does not use it up. The body is one of these reasons
/// only for ``verify(_:body:at:)``. A signature of an unknown key
/// is verified with another key of a kind that the directory has, so that the time does not show whether a key is known.
public struct SignatureVerifier: Sendable {
    /// What a signature must have.
    public let policy: VerificationPolicy
    private let keys: any KeyDirectory
    private let nonces: any NonceStore
    /// The keys with which signatures of unknown keys are verified.
    package let decoys: DecoyKeys
    /// Whether a signature whose time is refused is verified all the same, so that the refusal says whether it is authentic.
    package var judgesTimeLast = false

    /// - Parameters:
    ///   - policy: What a signature must have.
    ///   - keys: Where keys are found.
    ///   - nonces: Where used nonces are remembered.
    public init(policy: VerificationPolicy, keys: any KeyDirectory, nonces: any NonceStore) {
        (self.policy, self.keys, self.nonces) = (policy, keys, nonces)
        // The key of the server's nonces persists, and all servers behind one name share it.
        let secret = policy.serverNonces?.secret(for: "decoys") ?? SymmetricKey(size: .bits256)
        decoys = DecoyKeys(secret: secret, examples: keys.exampleKeys)
    }

    /// Verifies the signature of a message and its whole body, and claims the nonce. Throws a ``SignatureRefusal``.
    ///
    /// - Parameters:
    ///   - context: The message, with its signature.
    ///   - body: The body; empty for a message without one.
    ///   - now: The verifier's time.
    public func verify(
        _ context: SignatureContext, body: some DataProtocol, at now: UnixTime
    ) async throws(SignatureRefusal) -> VerifiedSignature {
        let examined = try await examine(context, hasBody: !body.isEmpty, at: now)
        try examined.signature.verifyBody(body, at: now)
        try await claim(examined, at: now)
        return examined.signature
    }

    /// Verifies the signature of a message, and claims the nonce. Throws a ``SignatureRefusal``.
    ///
    /// For a body that is not received yet: verify ``VerifiedSignature/digest`` while it is read, or call
    /// ``VerifiedSignature/verifyBody(_:at:)``. Another body than the signed one has then used up the nonce.
    ///
    /// - Parameters:
    ///   - context: The message, with its signature.
    ///   - hasBody: Whether the message has a body, whose digest must then be covered.
    ///   - now: The verifier's time.
    public func verify(
        _ context: SignatureContext, hasBody: Bool, at now: UnixTime
    ) async throws(SignatureRefusal) -> VerifiedSignature {
        try await verify(context, label: nil, hasBody: hasBody, at: now)
    }

    /// Verifies the signature with a label, which has the tag of the policy. Others may have the same tag.
    ///
    /// - Parameter label: The label; `nil` for the only signature with the tag of the policy.
    package func verify(
        _ context: SignatureContext, label: String?, hasBody: Bool, at now: UnixTime
    ) async throws(SignatureRefusal) -> VerifiedSignature {
        let examined = try await examine(context, label: label, hasBody: hasBody, at: now)
        try await claim(examined, at: now)
        return examined.signature
    }

    /// Verifies all but the nonce.
    ///
    /// - Parameter label: The label; `nil` for the only signature with the tag of the policy.
    private func examine(
        _ context: SignatureContext, label: String? = nil, hasBody: Bool, at now: UnixTime
    ) async throws(SignatureRefusal) -> ExaminedSignature {
        let examination = try SignatureExamination(
            context, label: label, hasBody: hasBody, policy: policy, judgesTimeLast: judgesTimeLast, at: now)
        let found: KeyRecord?
        do {
            found = try await keys.record(forKeyID: examination.keyID)
        } catch {
            throw SignatureRefusal(.store, "the key directory has failed", at: now)
        }
        let record = decoys.record(forKeyID: examination.keyID, found: found)
        let verified = try examination.verify(with: record, isKnown: found != nil)
        let nonce = examination.nonce.map {
            Nonce(
                value: $0, keyID: examination.keyID, created: examination.earliestCreation,
                expires: examination.lastMoment)
        }
        return ExaminedSignature(signature: verified, nonce: nonce)
    }

    /// Claims the nonce of a signature, once all else is verified. Throws a ``SignatureRefusal`` unless this is the first claim.
    private func claim(_ examined: ExaminedSignature, at now: UnixTime) async throws(SignatureRefusal) {
        if let nonce = examined.nonce { try await nonces.use(nonce, at: now) }
    }
}

/// A signature that is accepted but for its nonce, which is not claimed yet.
private struct ExaminedSignature {
    /// The signature as it is if the nonce is claimed.
    let signature: VerifiedSignature
    /// The nonce. `nil` if the policy does not accept each nonce once.
    let nonce: Nonce?
}

/// A signature that was accepted.
public struct VerifiedSignature: Sendable, Hashable {
    /// The label.
    public let label: String
    /// What the signature covers and says of itself.
    public let parameters: SignatureParameters
    /// The identifier of the key.
    public let keyID: String
    /// Whom the key identifies.
    public let owner: String
    /// The signed digest of the body. `nil` if the signature does not cover `content-digest`.
    public let digest: BodyDigest?
    /// The policy's ``VerificationPolicy/coversBody``.
    let coversBody: Bool

    /// Verifies a whole body.
    ///
    /// Throws a ``SignatureRefusal`` if it is not the one whose digest is signed, or if it is not empty and no digest is signed.
    /// The latter is accepted by a policy whose ``VerificationPolicy/coversBody`` is `false`.
    public func verifyBody(_ body: some DataProtocol, at now: UnixTime) throws(SignatureRefusal) {
        guard let digest else {
            guard body.isEmpty || !coversBody else {
                throw SignatureRefusal(.body, "the signature covers no body, and the message has one", at: now)
            }
            return
        }
        do {
            var digester = BodyDigester(as: digest)
            digester.update(body)
            try digest.verify(digester.finish())
        } catch {
            throw SignatureRefusal(.body, error.description, at: now)
        }
    }
}
