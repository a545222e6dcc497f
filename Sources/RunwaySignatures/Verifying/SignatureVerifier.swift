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
/// is verified with a key that nobody has, chosen by the signature's length.
public struct SignatureVerifier: Sendable {
    /// What a signature must have.
    public let policy: VerificationPolicy
    private let keys: any KeyDirectory
    private let nonces: any NonceStore
    private let decoys: DecoyKeys

    /// - Parameters:
    ///   - policy: What a signature must have.
    ///   - keys: Where keys are found.
    ///   - nonces: Where used nonces are remembered.
    ///   - decoy: A key that nobody has, with which signatures of unknown keys are verified if they have the length of its
    /// signatures, so that the time it takes does not show whether a key is known. There are random ones for `hmac-sha256`,
    /// `ecdsa-p256-sha256` and `ecdsa-p384-sha384`; pass one if your keys are for Ed25519 or RSA.
    public init(
        policy: VerificationPolicy, keys: any KeyDirectory, nonces: any NonceStore, decoy: VerificationKey? = nil
    ) {
        (self.policy, self.keys, self.nonces) = (policy, keys, nonces)
        decoys = DecoyKeys(decoy)
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
        let examination = try SignatureExamination(context, hasBody: hasBody, policy: policy, at: now)
        let record: KeyRecord?
        do {
            record = try await keys.record(forKeyID: examination.keyID)
        } catch {
            throw SignatureRefusal(.store, "the key directory has failed", at: now)
        }
        let verified = try examination.verify(with: record, orElse: decoys)
        if let nonce = examination.nonce {
            let nonce = Nonce(
                value: nonce, keyID: examination.keyID, created: examination.earliestCreation,
                expires: examination.lastMoment)
            try await nonces.use(nonce, at: now)
        }
        return verified
    }
}

/// Keys that nobody has, with which signatures of unknown keys are verified.
///
/// The kind is chosen by the length of the signature, since the identifier of an unknown key says nothing. A known key whose
/// signatures have another length refuses such a signature sooner; that shows nothing that a signature by the right kind would not.
struct DecoyKeys: Sendable {
    private let own: VerificationKey?
    private let hmac = VerificationKey(.hmacSHA256, .hmac(SymmetricKey(size: .bits256)))
    private let p256 = VerificationKey.p256(P256.Signing.PrivateKey().publicKey)
    private let p384 = VerificationKey.p384(P384.Signing.PrivateKey().publicKey)

    /// - Parameter own: The decoy for signatures of its own length.
    init(_ own: VerificationKey?) { self.own = own }

    func key(for signature: [UInt8]) -> VerificationKey {
        if let own, own.signatureLength == signature.count { return own }
        switch signature.count {
        case 64: return p256
        case 96: return p384
        default: return hmac
        }
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
            try digest.verify(BodyDigest(of: body, by: digest.algorithms))
        } catch {
            throw SignatureRefusal(.body, error.description, at: now)
        }
    }
}
