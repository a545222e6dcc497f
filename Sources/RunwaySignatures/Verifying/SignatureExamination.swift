import HTTPTypes

/// Decides synchronously whether a signature is accepted. Makes the checks that need no key before the checks that need
/// the key.
struct SignatureExamination: Sendable {
    let signature: LabelledSignature
    let keyID: String
    let times: SignatureTimes
    /// The earliest time, by the verifier's clock, when the signature can have been made.
    let earliestCreation: UnixTime
    let nonce: String?
    let base: [UInt8]
    let digest: BodyDigest?
    /// The refusal because of the signature's time; set if it must be thrown only after the signature was verified.
    private let lateRefusal: SignatureRefusal?
    private let policy: VerificationPolicy
    private let now: UnixTime

    /// Checks everything except the key and the signature's value.
    ///
    /// - Parameters:
    ///   - judgesTimeLast: Whether a signature with an invalid time is still verified.
    init(
        _ context: SignatureContext, hasBody: Bool, policy: VerificationPolicy,
        judgesTimeLast: Bool = false, at now: UnixTime
    ) throws(SignatureRefusal) {
        (self.policy, self.now) = (policy, now)
        signature = try Self.signature(in: context.headerFields, policy, now)
        let parameters = signature.parameters
        let claimed: UnixTime
        (keyID, claimed) = try Self.identity(of: parameters, policy, now)
        nonce = try Self.nonce(of: parameters, policy, now)
        let issued = try Self.time(ofServerNonce: nonce, policy, now)
        times = SignatureTimes(created: issued ?? claimed, expires: issued == nil ? parameters.expires : nil)
        earliestCreation = issued ?? claimed - policy.clockTolerance
        let timeRefusal = times.refusal(by: policy, at: now)
        if let timeRefusal, !judgesTimeLast { throw timeRefusal }
        lateRefusal = timeRefusal
        if timeRefusal == nil, let expires = times.expires, expires < times.created {
            throw SignatureRefusal(.parameters, "expires is before created", at: now)
        }
        let digest = hasBody && policy.coversBody ? [ComponentIdentifier.contentDigest] : []
        let missing = policy.missing(from: parameters.components, besides: digest)
        guard missing.isEmpty, !parameters.components.identifiers.isEmpty else {
            let names = missing.map(\.serialized).joined(separator: ", ")
            let detail = "the signature does not cover \(names.isEmpty ? "anything" : names)"
            throw timeRefusal ?? SignatureRefusal(.coverage, detail, at: now)
        }
        do {
            base = try context.signatureBase(for: parameters)
            self.digest = try parameters.components.digest(of: context.headerFields)
        } catch {
            throw timeRefusal ?? SignatureRefusal(.components, error.description, at: now)
        }
    }

    /// Verifies the signature with a key.
    ///
    /// - Parameter isKnown: Whether the record is the signer's. If `false`, the same work is done, and the signature is
    ///   refused.
    func verify(with record: KeyRecord, isKnown: Bool) throws(SignatureRefusal) -> VerifiedSignature {
        guard let lateRefusal else { return try verifyValue(with: record, isKnown: isKnown) }
        let isAuthentic = (try? verifyValue(with: record, isKnown: isKnown)) != nil
        throw isAuthentic ? lateRefusal.authentic(acceptedUntil: lastMoment) : lateRefusal
    }

    private func verifyValue(with record: KeyRecord, isKnown: Bool) throws(SignatureRefusal) -> VerifiedSignature {
        let isValid = record.key.isValid(signature.signature, of: base)
        // The algorithm is also checked for unknown keys, so that the work does not reveal whether a key is known.
        let claimed = signature.parameters.algorithm
        let isAccepted =
            policy.algorithms.contains(record.key.algorithm)
            && (claimed == nil || claimed == record.key.algorithm.name)
        guard isKnown else { throw refusal(.unknownKey, "the key ", keyID, " is unknown") }
        guard isAccepted else {
            throw refusal(
                .algorithm, "the key ", keyID, " is one for another algorithm, or for one that is not accepted")
        }
        guard isValid else {
            throw refusal(.invalid, "the signature is not that of this message by the key ", keyID, "")
        }
        guard record.isActive(at: now) else {
            throw refusal(.inactiveKey, "the key ", keyID, " is not accepted any more, or not yet")
        }
        // The components that the policy requires were checked before. These are the components that the key requires.
        let missing = signature.parameters.components.missing(among: record.requiredComponents)
        guard missing.isEmpty else {
            let names = missing.map(\.serialized).joined(separator: ", ")
            throw refusal(.coverage, "signatures of the key ", keyID, " must cover \(names)").authentic()
        }
        return VerifiedSignature(
            label: signature.label, parameters: signature.parameters, keyID: keyID, owner: record.owner, digest: digest,
            coversBody: policy.coversBody)
    }

    /// The time until which the signature is accepted and its nonce must be stored.
    var lastMoment: UnixTime { times.lastMoment(by: policy) }

    private func refusal(
        _ reason: SignatureRefusal.Reason, _ before: String, _ keyID: String, _ after: String
    ) -> SignatureRefusal {
        SignatureRefusal(reason, before, keyID, after, at: now, base: base)
    }
}

extension SignatureExamination {
    private static func signature(
        in fields: HTTPFields, _ policy: VerificationPolicy, _ now: UnixTime
    ) throws(SignatureRefusal) -> LabelledSignature {
        let signatures: [LabelledSignature]
        do {
            signatures = try fields.signatures()
        } catch {
            throw SignatureRefusal(.malformed, error.description, at: now)
        }
        if signatures.isEmpty { throw SignatureRefusal(.unsigned, "the message has no signature", at: now) }
        let tagged = signatures.indices.filter { signatures[$0].parameters.tag == policy.tag }
        guard let index = tagged.first, tagged.count == 1 else {
            throw SignatureRefusal(
                .noSignatureWithTag, "\(tagged.count) signatures have the tag \(policy.tag)", at: now)
        }
        return signatures[index]
    }

    private static func identity(
        of parameters: SignatureParameters, _ policy: VerificationPolicy, _ now: UnixTime
    ) throws(SignatureRefusal) -> (keyID: String, created: UnixTime) {
        guard let keyID = parameters.keyID, let created = parameters.created else {
            throw SignatureRefusal(.parameters, "keyid or created is absent", at: now)
        }
        guard !keyID.isEmpty, keyID.utf8.count <= VerificationPolicy.maximumIdentifierBytes else {
            throw SignatureRefusal(.parameters, "keyid is empty or too long", at: now)
        }
        return (keyID, created)
    }

    private static func nonce(
        of parameters: SignatureParameters, _ policy: VerificationPolicy, _ now: UnixTime
    ) throws(SignatureRefusal) -> String? {
        switch policy.nonces {
        case .unchecked: return nil
        case .equal(let expected):
            guard parameters.nonce == expected else {
                throw SignatureRefusal(.parameters, "nonce is not the expected one", at: now)
            }
            return nil
        case .once:
            guard let nonce = parameters.nonce, !nonce.isEmpty,
                nonce.utf8.count <= VerificationPolicy.maximumIdentifierBytes
            else {
                throw SignatureRefusal(.parameters, "nonce is absent, empty or too long", at: now)
            }
            return nonce
        }
    }

    /// Returns the time when the server issued the nonce, or `nil` if the signer chose the nonce.
    private static func time(
        ofServerNonce nonce: String?, _ policy: VerificationPolicy, _ now: UnixTime
    ) throws(SignatureRefusal) -> UnixTime? {
        guard let nonce, let serverNonces = policy.serverNonces, ServerNonces.isIssued(nonce) else { return nil }
        guard let time = serverNonces.time(of: nonce) else {
            throw SignatureRefusal(.nonceUnknown, "the nonce was issued with another key", at: now)
        }
        return time
    }
}

/// The creation and expiry times of a signature.
package struct SignatureTimes: Sendable {
    /// The creation time by the signer's clock, or the issue time of the server's nonce.
    let created: UnixTime
    /// The expiry time; `nil` if the signature does not expire, or the server issued its nonce.
    let expires: UnixTime?

    package init(created: UnixTime, expires: UnixTime?) { (self.created, self.expires) = (created, expires) }

    /// Returns why a policy does not accept the signature at a time, or `nil` if the policy accepts it.
    package func refusal(by policy: VerificationPolicy, at now: UnixTime) -> SignatureRefusal? {
        if created > now + policy.clockTolerance {
            return SignatureRefusal(.inFuture, "created is in the future", at: now)
        }
        if created + policy.maximumAge < now {
            return SignatureRefusal(.tooOld, "created is too long ago", at: now)
        }
        guard let expires, expires + policy.clockTolerance < now else { return nil }
        return SignatureRefusal(.tooOld, "the signature has expired", at: now)
    }

    /// Returns the time until which a policy accepts the signature.
    func lastMoment(by policy: VerificationPolicy) -> UnixTime {
        let aged = created + policy.maximumAge
        guard let expires else { return aged }
        return min(aged, expires + policy.clockTolerance)
    }
}

extension SignatureContext {
    var headerFields: HTTPFields {
        switch message {
        case .request(let request): request.headerFields
        case .response(let response, _): response.headerFields
        }
    }
}

extension CoveredComponents {
    /// Returns the covered digests of the body: all of `Content-Digest`, or its individually covered members. Returns
    /// `nil` if none has a known algorithm.
    fileprivate func digest(of fields: HTTPFields) throws(SignatureError) -> BodyDigest? {
        var algorithms: [DigestAlgorithm] = []
        for component in identifiers where component.name == ComponentIdentifier.contentDigest.name {
            if component.parameters.contains(.request) || component.parameters.contains(.trailer) { continue }
            let keys = component.parameters.compactMap { if case .member(let key) = $0 { key } else { nil } }
            algorithms += keys.isEmpty ? DigestAlgorithm.all : keys.compactMap(DigestAlgorithm.named)
        }
        if algorithms.isEmpty { return nil }
        return try BodyDigest(.contentDigest, in: fields).restricted(to: algorithms)
    }
}
