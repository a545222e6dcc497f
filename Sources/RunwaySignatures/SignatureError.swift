#if !Signing
    #error("RunwaySignatures needs the package trait Signing.")
#endif

/// The reason why a signature, a digest or one of their header fields cannot be created or parsed.
///
/// The error names the component, field, label or parameter concerned. It never contains a value of the message or a
/// key.
public struct SignatureError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of an error. Later versions may add reasons.
    public struct Reason: Hashable, Sendable {
        let text: String

        /// The message does not have the component, field, member or parameter. An absent component never counts as
        /// empty (RFC 9421 §2.5).
        public static let missing = Reason(text: "is not in the message")
        /// A component is covered twice (RFC 9421 §2.5).
        public static let duplicateComponent = Reason(text: "is covered twice")
        /// A label, a parameter or a member occurs twice.
        public static let duplicateName = Reason(text: "occurs twice")
        /// The name of a component is unknown, or not in lower case.
        public static let unknownComponent = Reason(text: "is not a component that can be covered")
        /// A component has a parameter that is unknown or does not apply to it.
        public static let unknownParameter = Reason(text: "has a parameter that does not apply to it")
        /// A component has parameters that exclude each other (RFC 9421 §2.1).
        public static let incompatibleParameters = Reason(text: "has parameters that exclude each other")
        /// A component of a response is used for a request, or vice versa (RFC 9421 §2.2).
        public static let otherMessage = Reason(text: "is not a component of this kind of message")
        /// A query parameter occurs more than once (RFC 9421 §2.2.8).
        public static let repeatedQueryParameter = Reason(text: "occurs more than once in the query")
        /// A value has characters that a signature base must not contain (RFC 9421 §2.5).
        public static let invalidValue = Reason(text: "has a value that cannot be signed")
        /// A field is not a structured field, has an unknown type, or is malformed (RFC 9651).
        public static let notStructured = Reason(text: "is not a structured field of a known type")
        /// A field exceeds the limits on bytes, labels, components or parameters.
        public static let tooLarge = Reason(text: "exceeds a limit")
        /// A label is in only one of the fields `Signature-Input` and `Signature` (RFC 9421 §4).
        public static let mismatchedLabels = Reason(text: "is in only one of the two fields of a signature")
        /// A digest does not match the body, or has a wrong length for its algorithm (RFC 9530).
        public static let mismatchedDigest = Reason(text: "is not the digest of the body")
        /// A field has only digest algorithms that are unknown, or that RFC 9530 deprecates.
        public static let unknownDigest = Reason(text: "has no digest of a known algorithm")
        /// The key is malformed, too short, or for another algorithm.
        public static let invalidKey = Reason(text: "is not a key of this algorithm")
        /// A sealed key was not made by the registered caller for this request, or the accompanying digest is invalid.
        public static let invalidSealedKey = Reason(text: "is not that of the registered caller for this request")
    }

    /// The kind of the error.
    public let reason: Reason
    /// The component, field, label or parameter that the error concerns.
    public let subject: String

    init(_ reason: Reason, _ subject: String) {
        self.reason = reason
        self.subject = subject
    }

    /// The subject and the reason in one sentence, for logs.
    public var description: String { "\(subject) \(reason.text)" }
}
