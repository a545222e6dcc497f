public import Crypto
import HTTPTypes
public import RunwaySignatures

/// Verifies salted digests and sealed keys by ``DigestRules``.
struct DigestVerifier: Sendable {
    let rules: DigestRules
    let policy: VerificationPolicy
    let keys: any KeyDirectory
    let nonces: any NonceStore
    /// Keys with which the digests of unknown callers are verified, so that the response time does not reveal whether a
    /// caller is known.
    let decoys: DecoyKeys
    /// Whether a digest with an invalid time is still verified, so that the refusal states whether the digest is
    /// authentic.
    let judgesTimeLast: Bool

    init(
        rules: DigestRules, policy: VerificationPolicy, keys: any KeyDirectory, nonces: any NonceStore,
        decoys: DecoyKeys, judgesTimeLast: Bool
    ) {
        precondition(
            rules.algorithms.isSubset(of: [.saltedSHA256, .saltedMD5]), "Salted digests have algorithms of their own")
        (self.rules, self.policy, self.keys, self.nonces, self.decoys) = (rules, policy, keys, nonces, decoys)
        self.judgesTimeLast = judgesTimeLast
    }

    /// Returns the digest of a request, after the checks that need no body.
    func digest(of head: HTTPRequest, at now: UnixTime) throws(SignatureRefusal) -> SaltedDigest {
        let digest: SaltedDigest
        do {
            digest = try SaltedDigest(head.headerFields)
        } catch {
            throw SignatureRefusal(.malformed, error.description, at: now)
        }
        guard rules.algorithms.contains(digest.algorithm) else {
            throw SignatureRefusal(.algorithm, "digests by \(digest.algorithm) are not accepted", at: now)
        }
        if !judgesTimeLast, let refusal = timeRefusal(of: digest, at: now) { throw refusal }
        return digest
    }

    private func timeRefusal(of digest: SaltedDigest, at now: UnixTime) -> SignatureRefusal? {
        if digest.time > now + policy.clockTolerance {
            return SignatureRefusal(.inFuture, "ts is in the future", at: now)
        }
        return lastMoment(of: digest) < now ? SignatureRefusal(.tooOld, "ts is too long ago", at: now) : nil
    }

    private func lastMoment(of digest: SaltedDigest) -> UnixTime { digest.time + policy.maximumAge }

    func verify(
        _ digest: SaltedDigest, of head: HTTPRequest, body: [UInt8], at now: UnixTime
    ) async throws(SignatureRefusal) -> VerifiedSigner {
        let lines: CanonicalRequest
        do {
            lines = try digest.canonicalRequest(of: head, body: body)
        } catch {
            throw SignatureRefusal(.components, error.description, at: now)
        }
        let late = timeRefusal(of: digest, at: now)
        let nonce = Nonce(
            value: digest.nonce, keyID: digest.keyID, created: digest.time - policy.clockTolerance,
            expires: lastMoment(of: digest))
        do throws(SignatureRefusal) {
            let (record, way) = try await verifyValue(of: digest, of: head, lines, at: now)
            if let late { throw late.authentic(acceptedUntil: lastMoment(of: digest)) }
            try await nonces.use(nonce, at: now)
            return VerifiedSigner(
                keyID: digest.keyID, owner: record.owner, way: way, tag: policy.tag, head: head, coversBody: true,
                key: record.key, times: SignatureTimes(created: digest.time, expires: nil), nonce: nonce)
        } catch {
            let refusal = error.isAuthentic ? error : late ?? error
            throw refusal.with(base: lines.bytes)
        }
    }

    /// Verifies the digest, except for its time and nonce.
    private func verifyValue(
        of digest: SaltedDigest, of head: HTTPRequest, _ lines: CanonicalRequest, at now: UnixTime
    ) async throws(SignatureRefusal) -> (record: KeyRecord, way: VerifiedSigner.Way) {
        let isSealed = rules.requiresSealedKey || head.headerFields.contains(.runwaySealedKey)
        let found: KeyRecord?
        do {
            found = try await keys.record(forKeyID: digest.keyID)
        } catch {
            throw SignatureRefusal(.store, "the key directory has failed", at: now)
        }
        let record = decoys.record(forKeyID: digest.keyID, found: found)
        let key = record.key
        if isSealed { try verifySealedKey(of: digest, lines, head, by: key, at: now) }
        let isValid = digest.isValid(of: lines, by: key)
        func refusal(_ reason: SignatureRefusal.Reason, _ before: String, _ after: String) -> SignatureRefusal {
            SignatureRefusal(reason, before, digest.keyID, after, at: now, base: lines.bytes)
        }
        guard found != nil else { throw refusal(.unknownKey, "the key ", " is unknown") }
        guard key.algorithm == digest.algorithm else {
            throw refusal(.algorithm, "the key ", " is one for another algorithm")
        }
        guard isValid else { throw refusal(.invalid, "the digest is not that of this request by the key ", "") }
        guard record.isActive(at: now) else {
            throw refusal(.inactiveKey, "the key ", " is not accepted any more, or not yet")
        }
        let missing = Self.missing(policy, record)
        guard missing.isEmpty else {
            throw SignatureRefusal(.coverage, "a digest does not cover \(missing), which is required", at: now)
                .authentic()
        }
        return (record, isSealed ? .sealedKey : .saltedDigest)
    }

    /// Returns the components that a policy and a key require and that a digest cannot cover. The policy's authority is
    /// exempt, since no digest covers it.
    static func missing(_ policy: VerificationPolicy, _ record: KeyRecord) -> [ComponentIdentifier] {
        (policy.requiredComponents.filter { $0 != .authority } + record.requiredComponents).filter {
            !covered.contains($0)
        }
    }

    /// Verifies that the sealed secret is the registered one and belongs to the caller that the digest names.
    private func verifySealedKey(
        of digest: SaltedDigest, _ lines: CanonicalRequest, _ head: HTTPRequest, by key: VerificationKey,
        at now: UnixTime
    ) throws(SignatureRefusal) {
        let sealed: SealedKey
        do {
            sealed = try SealedKey(head.headerFields)
        } catch {
            throw SignatureRefusal(.malformed, error.description, at: now)
        }
        guard let serverKey = rules.serverKeys[sealed.serverKeyID] else {
            throw SignatureRefusal(.unknownKey, "the key is sealed to \(sealed.serverKeyID), which is unknown", at: now)
        }
        do {
            try sealed.verify(digest, of: lines, by: key, openedWith: serverKey)
        } catch {
            throw SignatureRefusal(.invalid, "the sealed key is not that of this request and its digest", at: now)
        }
    }

    private static let covered: [ComponentIdentifier] = [.method, .path, .query, .contentDigest, .field(.contentType)]
}

/// The rules for requests that have a salted digest instead of a signature, and for sending the secret of the digest.
///
/// The record of a key decides: a key with the algorithm `saltedSHA256` can only make digests, and other keys cannot
/// make digests. A digest covers neither the authority nor any header field except `Content-Type`. Digests are
/// therefore refused if the policy requires another component except the authority, or if the key requires another
/// component.
public struct DigestRules: Sendable {
    /// The accepted algorithms. The default is only SHA-256. MD5 is broken for collisions: add it only for a caller
    /// that supports nothing else.
    public var algorithms: Set<SignatureAlgorithm> = [.saltedSHA256]
    /// The server's private keys by identifier. Registered callers encrypt their own key for one of these keys (sealed
    /// key). During a rotation, there may be several. The default is empty: requests with a sealed key are refused.
    public var serverKeys: [String: Curve25519.KeyAgreement.PrivateKey] = [:]
    /// Whether a digest must come with a sealed key. The default is `false`.
    public var requiresSealedKey = false

    /// Creates rules that accept SHA-256 digests without a sealed key.
    public init() {}
}
