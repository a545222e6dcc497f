import Crypto
public import Foundation

/// Verifies the signatures of messages according to one policy.
///
/// ```swift
/// let nonces = NonceMemory(startedAt: start)
/// let verifier = SignatureVerifier(policy: VerificationPolicy(tag: "app"), keys: keys, nonces: nonces)
/// let signature = try await verifier.verify(SignatureContext(request), body: body, at: now)
/// ```
///
/// A nonce is claimed last, so a signature that is refused for another reason does not use up its nonce. A wrong body
/// is such a reason only for ``verify(_:body:at:)``.
///
/// If the key of a signature is unknown, the signature is verified with another key of a kind that the directory has.
/// The time of the verification therefore does not show whether a key is known.
public struct SignatureVerifier: Sendable {
    /// The requirements for a signature.
    public let policy: VerificationPolicy
    private let keys: any KeyDirectory
    private let nonces: any NonceStore
    package let decoys: DecoyKeys
    /// Whether a signature with an invalid time is still verified, so that the refusal states whether it is authentic.
    package var judgesTimeLast = false

    /// - Parameters:
    ///   - policy: The requirements for a signature.
    ///   - keys: Finds keys by their identifiers.
    ///   - nonces: Records used nonces.
    public init(policy: VerificationPolicy, keys: any KeyDirectory, nonces: any NonceStore) {
        (self.policy, self.keys, self.nonces) = (policy, keys, nonces)
        // All servers behind one name must select the same decoys, also after a restart. So the decoys use the key of
        // the server's nonces, which these servers share and which persists.
        let secret = policy.serverNonces?.secret(for: "decoys") ?? SymmetricKey(size: .bits256)
        decoys = DecoyKeys(secret: secret, examples: keys.exampleKeys)
    }

    /// Verifies the signature of a message with its whole body, and claims the nonce. Throws a ``SignatureRefusal``.
    ///
    /// - Parameters:
    ///   - context: The message with its signature.
    ///   - body: The body; empty for a message without a body.
    ///   - now: The verifier's time.
    public func verify(
        _ context: SignatureContext, body: some DataProtocol, at now: UnixTime
    ) async throws(SignatureRefusal) -> VerifiedSignature {
        let examined = try await examine(context, hasBody: !body.isEmpty, at: now)
        try examined.signature.verifyBody(body, at: now)
        try await claim(examined, at: now)
        return examined.signature
    }

    /// Verifies the signature of a message without its body, and claims the nonce. Throws a ``SignatureRefusal``.
    ///
    /// Use it for a body that was not received yet. Then verify ``VerifiedSignature/digest`` while the body is read, or
    /// call ``VerifiedSignature/verifyBody(_:at:)``. The nonce counts as used even if the body does not match.
    ///
    /// - Parameters:
    ///   - context: The message with its signature.
    ///   - hasBody: Whether the message has a body. Its digest must then be covered.
    ///   - now: The verifier's time.
    public func verify(
        _ context: SignatureContext, hasBody: Bool, at now: UnixTime
    ) async throws(SignatureRefusal) -> VerifiedSignature {
        try await accept(context, hasBody: hasBody, at: now).signature
    }

    /// Verifies as ``verify(_:hasBody:at:)`` does, and also returns the values for judging the signature again later.
    package func accept(
        _ context: SignatureContext, hasBody: Bool, at now: UnixTime
    ) async throws(SignatureRefusal) -> AcceptedSignature {
        let examined = try await examine(context, hasBody: hasBody, at: now)
        try await claim(examined, at: now)
        return examined
    }

    /// Verifies a signature in every respect except its nonce.
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

    /// Claims the nonce of a signature, after everything else is verified. Throws a ``SignatureRefusal`` if the nonce
    /// was used or cannot be claimed.
    private func claim(_ examined: AcceptedSignature, at now: UnixTime) async throws(SignatureRefusal) {
        if let nonce = examined.nonce { try await nonces.use(nonce, at: now) }
    }
}

/// An accepted signature, with the values for judging it again later or by another policy.
package struct AcceptedSignature: Sendable {
    package let signature: VerifiedSignature
    package let key: VerificationKey
    package let times: SignatureTimes
    /// The claimed nonce; `nil` if the policy permits reuse of nonces.
    package let nonce: Nonce?
}

/// A signature that a ``SignatureVerifier`` has accepted.
public struct VerifiedSignature: Sendable, Hashable {
    /// The label of the signature in the message.
    public let label: String
    /// The covered components and the metadata of the signature.
    public let parameters: SignatureParameters
    /// The identifier of the signer's key.
    public let keyID: String
    /// The owner of the key.
    public let owner: String
    /// The signed digest of the body; `nil` if the signature does not cover `content-digest`.
    public let digest: BodyDigest?
    /// Whether the policy requires that the signature covers the body; see ``VerificationPolicy/coversBody``.
    let coversBody: Bool

    /// Verifies a whole body.
    ///
    /// Throws a ``SignatureRefusal`` if the digest of `body` differs from the signed digest. If no digest is signed, it
    /// throws if `body` is not empty, unless the policy's ``VerificationPolicy/coversBody`` is `false`.
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
