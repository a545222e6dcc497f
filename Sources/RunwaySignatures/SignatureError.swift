#if !Signing
    #error("RunwaySignatures needs the package trait Signing.")
#endif

/// The reason why a signature, a digest or one of their header fields cannot be made or read.
///
/// The error names the component, field, label or parameter concerned, and never a value of the message or a key.
public struct SignatureError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of problem. Later versions can add reasons.
    public struct Reason: Hashable, Sendable {
        let text: String

        /// The message has no such field, member or parameter. An absent component never counts as empty (RFC 9421
        /// §2.5).
        public static let missing = Reason(text: "is not in the message")
        /// A component is named twice (RFC 9421 §2.5).
        public static let duplicateComponent = Reason(text: "is covered twice")
        /// A label, a parameter or a member occurs twice.
        public static let duplicateName = Reason(text: "occurs twice")
        /// The name of a component is not known, or is not in lower case.
        public static let unknownComponent = Reason(text: "is not a component that can be covered")
        /// A component has a parameter that is not known, or that does not apply to it.
        public static let unknownParameter = Reason(text: "has a parameter that does not apply to it")
        /// A component has parameters that exclude each other (RFC 9421 §2.1).
        public static let incompatibleParameters = Reason(text: "has parameters that exclude each other")
        /// A component of a response is named for a request, or the other way around (RFC 9421 §2.2).
        public static let otherMessage = Reason(text: "is not a component of this kind of message")
        /// A query parameter occurs more than once (RFC 9421 §2.2.8).
        public static let repeatedQueryParameter = Reason(text: "occurs more than once in the query")
        /// A value has characters that a signature base cannot have (RFC 9421 §2.5).
        public static let invalidValue = Reason(text: "has a value that cannot be signed")
        /// A field is not a structured field, has an unknown type, or is malformed (RFC 9651).
        public static let notStructured = Reason(text: "is not a structured field of a known type")
        /// A field exceeds the limits on bytes, labels, components or parameters.
        public static let tooLarge = Reason(text: "exceeds a limit")
        /// A label is in only one of `Signature-Input` and `Signature` (RFC 9421 §4).
        public static let mismatchedLabels = Reason(text: "is in only one of the two fields of a signature")
        /// A digest does not match the body, or does not have the length of its algorithm (RFC 9530).
        public static let mismatchedDigest = Reason(text: "is not the digest of the body")
        /// A field names only digest algorithms that are unknown, or that RFC 9530 deprecates.
        public static let unknownDigest = Reason(text: "has no digest of a known algorithm")
        /// The key is malformed, too short, or for another algorithm.
        public static let invalidKey = Reason(text: "is not a key of this algorithm")
        /// A sealed key does not belong to the registered caller for this request, or the digest beside it is not
        /// valid.
        public static let invalidSealedKey = Reason(text: "is not that of the registered caller for this request")
    }

    /// The kind of problem.
    public let reason: Reason
    /// The component, field, label or parameter that the error concerns.
    public let subject: String

    init(_ reason: Reason, _ subject: String) {
        self.reason = reason
        self.subject = subject
    }

    /// A text for logs.
    public var description: String { "\(subject) \(reason.text)" }
}
