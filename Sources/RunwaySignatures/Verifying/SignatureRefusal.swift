/// The reason why a signature is refused.
public struct SignatureRefusal: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of a refusal. Later versions may add kinds.
    public struct Reason: Sendable, Hashable, CustomStringConvertible {
        /// A name for logs and metrics that never changes between releases.
        public let name: String

        package init(name: String) { self.name = name }

        /// The message has no signature.
        public static let unsigned = Reason(name: "unsigned")
        /// The signature fields are malformed or too large.
        public static let malformed = Reason(name: "malformed")
        /// No signature, or more than one, has the tag of the policy.
        public static let noSignatureWithTag = Reason(name: "noSignatureWithTag")
        /// `created`, `keyid` or `nonce` is absent or too long, or the nonce is not the expected one.
        public static let parameters = Reason(name: "parameters")
        /// The signature does not cover all required components.
        public static let coverage = Reason(name: "coverage")
        /// The message does not have a covered component, or the component cannot be signed.
        public static let components = Reason(name: "components")
        /// The signature is too old or has expired. The signer can correct its clock by ``SignatureRefusal/time``.
        public static let tooOld = Reason(name: "tooOld")
        /// The creation time of the signature is in the future. The signer can correct its clock by
        /// ``SignatureRefusal/time``.
        public static let inFuture = Reason(name: "inFuture")
        /// The key is unknown.
        public static let unknownKey = Reason(name: "unknownKey")
        /// The key is revoked, or the time is outside its validity period.
        public static let inactiveKey = Reason(name: "inactiveKey")
        /// The algorithm in the signature differs from the key's algorithm, or the policy does not accept it.
        public static let algorithm = Reason(name: "algorithm")
        /// The signature is not valid for this message and key.
        public static let invalid = Reason(name: "invalid")
        /// The body does not match the signed digest.
        public static let body = Reason(name: "body")
        /// The nonce was already used.
        public static let replayed = Reason(name: "replayed")
        /// It is unknown whether the nonce was used: the store is full, or began to record nonces after the signature
        /// was made.
        public static let nonceUnknown = Reason(name: "nonceUnknown")
        /// The key directory or the nonce store has failed.
        public static let store = Reason(name: "store")

        /// The same as ``name``.
        public var description: String { name }
    }

    /// The kind of the refusal.
    public let reason: Reason
    /// An explanation in one sentence, without secrets. It can also help attackers: show it only in development.
    public var detail: String { parts.before + parts.subject + parts.after }
    /// The verifier's time of the refusal.
    public let time: UnixTime
    /// The verifier's signature base, for developers to compare with the signer's; `nil` if it was not computed.
    public let base: [UInt8]?
    /// Whether the signature or salted digest was made for this message by an accepted key. The message is then refused
    /// for another reason.
    public private(set) var isAuthentic = false
    /// The time, in the past or future, until which a copy of the message is accepted; `nil` if no copy is accepted or
    /// the signature is not authentic.
    package private(set) var acceptedUntil: UnixTime?

    /// The parts of ``detail``. They are joined only when it is read: joining them earlier could take a time that
    /// reveals whether a key is known.
    private let parts: Parts

    private struct Parts: Sendable, Hashable {
        let before: String
        let subject: String
        let after: String
    }

    package init(_ reason: Reason, _ detail: String, at time: UnixTime, base: [UInt8]? = nil) {
        self.init(reason, detail, "", "", at: time, base: base)
    }

    /// Creates a refusal. Its ``detail`` consists of a text, a subject and another text.
    package init(
        _ reason: Reason, _ before: String, _ subject: String, _ after: String, at time: UnixTime, base: [UInt8]?
    ) {
        (self.reason, self.time, self.base) = (reason, time, base)
        parts = Parts(before: before, subject: subject, after: after)
    }

    /// Returns a copy of this refusal that contains the verifier's signature base.
    package func with(base: [UInt8]) -> SignatureRefusal {
        var refusal = SignatureRefusal(reason, parts.before, parts.subject, parts.after, at: time, base: base)
        (refusal.isAuthentic, refusal.acceptedUntil) = (isAuthentic, acceptedUntil)
        return refusal
    }

    /// Returns a copy of this refusal that is marked as the refusal of a valid signature.
    ///
    /// - Parameter moment: The time, in the past or future, until which a copy of the message is accepted; `nil` if no
    ///   copy is accepted.
    package func authentic(acceptedUntil moment: UnixTime? = nil) -> SignatureRefusal {
        var refusal = self
        (refusal.isAuthentic, refusal.acceptedUntil) = (true, moment)
        return refusal
    }

    /// The reason that may be disclosed to anyone. It is the same for all problems of the key and the signature's
    /// value.
    public var disclosedReason: Reason {
        [.unknownKey, .inactiveKey, .algorithm].contains(reason) ? .invalid : reason
    }

    /// The reason and the detail, for logs.
    public var description: String { "\(reason): \(detail)" }
}
