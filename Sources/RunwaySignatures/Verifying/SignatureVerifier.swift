import Crypto
public import Foundation

/// Verifies the signatures of messages by one policy.
///
/// ```swift
/// let nonces = NonceMemory(startedAt: start)
/// let verifier = SignatureVerifier(policy: VerificationPolicy(tag: "app"), keys: keys, nonces: nonces)
/// let signature = try await verifier.verify(SignatureContext(request), hasBody: true, at: now)
/// try signature.verifyBody(body, at: now)
/// ```
///
/// A nonce is claimed last, so that a signature that is refused for another reason does not use it up. A signature of an unknown key
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

    /// Verifies the signature of a message. Throws a ``SignatureRefusal``.
    ///
    /// The body is not part of it: verify ``VerifiedSignature/digest`` while the body is read, or call
    /// ``VerifiedSignature/verifyBody(_:at:)``.
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
        if let nonce = examination.nonce {
            let nonce = Nonce(
                value: nonce, keyID: examination.keyID, created: examination.earliestCreation,
                expires: examination.lastMoment)
            try await nonces.use(nonce, at: now)
        }
        return verified
    }
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
