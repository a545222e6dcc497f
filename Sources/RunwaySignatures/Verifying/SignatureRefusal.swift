/// The reason why a signature was refused.
public struct SignatureRefusal: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of a refusal. Later versions can add kinds.
    public struct Reason: Sendable, Hashable, CustomStringConvertible {
        /// A stable name for logs and metrics.
        public let name: String

        package init(name: String) { self.name = name }

        /// The message has no signature.
        public static let unsigned = Reason(name: "unsigned")
        /// The fields of the signatures are malformed or too large.
        public static let malformed = Reason(name: "malformed")
        /// No signature has the tag of the policy, or several have.
        public static let noSignatureWithTag = Reason(name: "noSignatureWithTag")
        /// `created`, `keyid` or `nonce` is absent or too long, or the nonce is not the expected one.
        public static let parameters = Reason(name: "parameters")
        /// The signature leaves out components that it must cover.
        public static let coverage = Reason(name: "coverage")
        /// A covered component is not in the message, or cannot be signed.
        public static let components = Reason(name: "components")
        /// The signature was made too long ago, or has expired. The refusal's time lets the signer correct its clock.
        public static let tooOld = Reason(name: "tooOld")
        /// The signature was made in the future. The refusal's time lets the signer correct its clock.
        public static let inFuture = Reason(name: "inFuture")
        /// The key is unknown.
        public static let unknownKey = Reason(name: "unknownKey")
        /// The key is revoked, or outside the time in which it is accepted.
        public static let inactiveKey = Reason(name: "inactiveKey")
        /// The signature names another algorithm than the key has, or the policy does not accept it.
        public static let algorithm = Reason(name: "algorithm")
        /// The key did not make the signature for this message.
        public static let invalid = Reason(name: "invalid")
        /// The body is not the one whose digest is signed.
        public static let body = Reason(name: "body")
        /// The nonce has been used.
        public static let replayed = Reason(name: "replayed")
        /// It is unknown whether the nonce has been used: the memory is full, or began after the signature was made.
        public static let nonceUnknown = Reason(name: "nonceUnknown")
        /// The key directory or the nonce store has failed.
        public static let store = Reason(name: "store")

        /// The stable name.
        public var description: String { name }
    }

    /// The kind of the refusal.
    public let reason: Reason
    /// A sentence for a developer, without a secret. It helps an attacker, too: show it only in development.
    public var detail: String { parts.before + parts.subject + parts.after }
    /// The verifier's time.
    public let time: UnixTime
    /// The signature base that the verifier made, where it got that far, for comparison with the signer's. For
    /// developers, too.
    public let base: [UInt8]?
    /// Whether an accepted key made the signature, or the salted digest, for this message: it is refused for another
    /// reason.
    public private(set) var isAuthentic = false
    /// The last moment, past or to come, at which a copy of the message can be accepted. `nil` if none can, or if the
    /// signature is not authentic.
    package private(set) var acceptedUntil: UnixTime?

    /// The detail, which is put together when it is read: whether a key is known must not show in the work.
    private let parts: Parts

    private struct Parts: Sendable, Hashable {
        let before: String
        let subject: String
        let after: String
    }

    package init(_ reason: Reason, _ detail: String, at time: UnixTime, base: [UInt8]? = nil) {
        self.init(reason, detail, "", "", at: time, base: base)
    }

    /// A refusal whose detail is a subject between two texts.
    package init(
        _ reason: Reason, _ before: String, _ subject: String, _ after: String, at time: UnixTime, base: [UInt8]?
    ) {
        (self.reason, self.time, self.base) = (reason, time, base)
        parts = Parts(before: before, subject: subject, after: after)
    }

    /// Returns the same refusal with the verifier's signature base, for comparison with the signer's.
    package func with(base: [UInt8]) -> SignatureRefusal {
        var refusal = SignatureRefusal(reason, parts.before, parts.subject, parts.after, at: time, base: base)
        (refusal.isAuthentic, refusal.acceptedUntil) = (isAuthentic, acceptedUntil)
        return refusal
    }

    /// Returns the same refusal of a signature that was found to be valid.
    ///
    /// - Parameter moment: The last moment, past or to come, at which a copy of the message can be accepted; `nil` if
    ///   none can.
    package func authentic(acceptedUntil moment: UnixTime? = nil) -> SignatureRefusal {
        var refusal = self
        (refusal.isAuthentic, refusal.acceptedUntil) = (true, moment)
        return refusal
    }

    /// The reason as anyone may see it: the same for everything that has to do with the key and the signature's value.
    public var disclosedReason: Reason {
        [.unknownKey, .inactiveKey, .algorithm].contains(reason) ? .invalid : reason
    }

    /// The reason and the detail.
    public var description: String { "\(reason): \(detail)" }
}
