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
/// A nonce is claimed last, so that a signature that is refused for another reason does not use it up. The body is one
/// of these reasons only for ``verify(_:body:at:)``. A signature of an unknown key is verified with another key of a
/// kind that the directory has, so that the time does not show whether a key is known.
public struct SignatureVerifier: Sendable {
    /// What a signature must have.
    public let policy: VerificationPolicy
    private let keys: any KeyDirectory
    private let nonces: any NonceStore
    /// The keys with which signatures of unknown keys are verified.
    package let decoys: DecoyKeys
    /// Whether a signature whose time is refused is verified all the same, so that the refusal says whether it is
    /// authentic.
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
        try await accept(context, hasBody: hasBody, at: now).signature
    }

    /// Verifies as ``verify(_:hasBody:at:)`` does, and also returns what it takes to judge the signature again later.
    package func accept(
        _ context: SignatureContext, hasBody: Bool, at now: UnixTime
    ) async throws(SignatureRefusal) -> AcceptedSignature {
        let examined = try await examine(context, hasBody: hasBody, at: now)
        try await claim(examined, at: now)
        return examined
    }

    /// Verifies all but the nonce.
    private func examine(
        _ context: SignatureContext, hasBody: Bool, at now: UnixTime
    ) async throws(SignatureRefusal) -> AcceptedSignature {
        let examination = try SignatureExamination(
            context, hasBody: hasBody, policy: policy, judgesTimeLast: judgesTimeLast, at: now)
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
        return AcceptedSignature(signature: verified, key: record.key, times: examination.times, nonce: nonce)
    }

    /// Claims the nonce of a signature, once all else is verified. Throws a ``SignatureRefusal`` unless this is the
    /// first claim.
    private func claim(_ examined: AcceptedSignature, at now: UnixTime) async throws(SignatureRefusal) {
        if let nonce = examined.nonce { try await nonces.use(nonce, at: now) }
    }
}

/// A signature that was accepted, with what it takes to judge it again later or by another policy.
package struct AcceptedSignature: Sendable {
    /// The signature.
    package let signature: VerifiedSignature
    /// The key that verified it.
    package let key: VerificationKey
    /// When it was made, and when it expires.
    package let times: SignatureTimes
    /// The nonce that was claimed. `nil` if the policy does not accept each nonce once.
    package let nonce: Nonce?
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
    /// Throws a ``SignatureRefusal`` if it is not the one whose digest is signed, or if it is not empty and no digest
    /// is signed. The latter is accepted by a policy whose ``VerificationPolicy/coversBody`` is `false`.
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
