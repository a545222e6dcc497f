public import HTTPTypes

/// The requirements for a signature. The defaults are strict.
///
/// A key identifier and a nonce have at most 256 bytes.
public struct VerificationPolicy: Sendable {
    static let maximumIdentifierBytes = 256

    /// The requirement for the nonce of a signature.
    package enum NonceRule: Sendable, Hashable {
        /// For requests: the signature must have a nonce, which is accepted once per key.
        case once
        /// For responses: the nonce must equal the one that the request asked for (RFC 9421 §5.1).
        case equal(String)
        /// The nonce is ignored: a signature can be replayed until it expires.
        case unchecked
    }

    /// The tag of the signature to verify. Signatures with other tags are ignored.
    public var tag: String
    /// The components that must be covered. The default is the method, authority, path and query.
    ///
    /// Covering `@target-uri` also covers scheme, authority, path and query.
    public var requiredComponents: [ComponentIdentifier]
    /// Whether the signature of a message with a body must cover `content-digest`. The default is `true`.
    public var coversBody = true
    /// The requirement for the nonce.
    package var nonces = NonceRule.once
    /// Whether nonces are ignored, so that a signature can be replayed until it expires. The default is `false`: the
    /// signature of a request must have a nonce, which is accepted once per key.
    public var acceptsReplays: Bool {
        get { nonces == .unchecked }
        set { if newValue != acceptsReplays { nonces = newValue ? .unchecked : .once } }
    }
    /// Recognises nonces that the server itself has issued. The time in such a nonce replaces `created`. The default is
    /// `nil`.
    public var serverNonces: ServerNonces?
    /// The maximum age of a signature. The default is two minutes. Raise it for bodies that take longer to send; nonces
    /// are then stored for longer.
    public var maximumAge = Duration.seconds(120)
    /// The maximum time by which the creation of a signature may be in the future, and for which the signature is
    /// accepted after its `expires`: 30 seconds.
    package var clockTolerance = Duration.seconds(30)
    /// The accepted algorithms. The algorithm of a signature must also equal the algorithm in the key's record. The
    /// default is all algorithms. Name fewer only if your own rules require it.
    public var algorithms = Set(SignatureAlgorithm.all)

    /// Creates a policy for requests with a tag. By default, the signature must cover the method, authority, path and
    /// query.
    public init(
        tag: String, requiredComponents: [ComponentIdentifier] = [.method, .authority, .path, .query]
    ) {
        (self.tag, self.requiredComponents) = (tag, requiredComponents)
    }

    /// Returns a policy for the response to a request. The signature must cover the response's status, and the
    /// request's method, authority, path and query.
    ///
    /// - Parameters:
    ///   - tag: The tag of the signature to verify.
    ///   - nonce: The nonce that the request asked for. It binds the response to the request.
    public static func response(tag: String, nonce: String) -> VerificationPolicy {
        var policy = VerificationPolicy(
            tag: tag,
            requiredComponents: [
                .status, ComponentIdentifier.method.ofRequest, ComponentIdentifier.authority.ofRequest,
                ComponentIdentifier.path.ofRequest, ComponentIdentifier.query.ofRequest,
            ])
        policy.nonces = .equal(nonce)
        return policy
    }

    /// Returns the `Accept-Signature` field that requests an acceptable signature (RFC 9421 §5.1).
    ///
    /// Throws a ``SignatureError`` if the required components have a duplicate, or the label is not a valid
    /// structured-field key.
    ///
    /// - Parameters:
    ///   - label: The label of the requested signature. The default is `sig1`.
    ///   - hasBody: Whether the requested message has a body.
    public func acceptSignature(label: String = "sig1", hasBody: Bool) throws(SignatureError) -> HTTPField {
        try signatureRequest(label: label, hasBody: hasBody).field()
    }

    /// Returns a description of an acceptable signature. Throws the errors of ``acceptSignature(label:hasBody:)``.
    package func signatureRequest(label: String = "sig1", hasBody: Bool) throws(SignatureError) -> SignatureRequest {
        let digest = hasBody && coversBody ? [ComponentIdentifier.contentDigest] : []
        var request = try SignatureRequest(
            label: label, components: CoveredComponents(requiredComponents + digest), tag: tag)
        if case .equal(let nonce) = nonces { request.nonce = nonce }
        return request
    }

    /// Returns the required components that a signature does not cover.
    package func missing(
        from covered: CoveredComponents, besides others: [ComponentIdentifier] = []
    ) -> [ComponentIdentifier] {
        covered.missing(among: requiredComponents) + covered.missing(among: others)
    }
}

extension CoveredComponents {
    func missing(among required: [ComponentIdentifier]) -> [ComponentIdentifier] { required.filter { !covers($0) } }

    /// Returns whether a component is covered: directly, by the target URI, or in another form that contains the whole
    /// field.
    private func covers(_ component: ComponentIdentifier) -> Bool {
        if contains(component) { return true }
        if component.name.utf8.first != UInt8(ascii: "@") {
            return contains(component.strict) || contains(component.asBytes)
        }
        let whole = component.parameters == [.request] ? ComponentIdentifier.targetURI.ofRequest : .targetURI
        return ["@scheme", "@authority", "@path", "@query"].contains(component.name) && contains(whole)
    }
}
