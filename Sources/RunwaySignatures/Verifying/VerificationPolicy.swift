/// The requirements for a signature. Strict by default.
///
/// A key identifier and a nonce have at most 256 bytes.
public struct VerificationPolicy: Sendable {
    /// The most bytes of a key identifier or a nonce.
    static let maximumIdentifierBytes = 256

    /// A rule for the nonce of a signature.
    public enum NonceRule: Sendable, Hashable {
        /// The nonce must be present and is accepted once per key: for requests.
        case once
        /// The nonce must be equal to this one: for a response whose request asked for the nonce (RFC 9421 §5.1).
        case equal(String)
        /// The nonce is ignored: a signature can be replayed until it expires.
        case unchecked
    }

    /// The tag by which the signature is found. Signatures with other tags are ignored.
    public var tag: String
    /// The components that must be covered. By default the method, the authority, the path and the query.
    ///
    /// Covering `@target-uri` also covers scheme, authority, path and query.
    public var requiredComponents: [ComponentIdentifier]
    /// Whether a message with a body must cover `content-digest`. By default `true`.
    public var coversBody = true
    /// The rule for the nonce. By default it is accepted once.
    public var nonces = NonceRule.once
    /// Recognises nonces that the server itself has issued; the time of such a nonce replaces `created`. The default is
    /// `nil`.
    public var serverNonces: ServerNonces?
    /// The time after its creation for which a signature is accepted. By default two minutes. Raise it for bodies that
    /// take longer to send; nonces are then stored for that time.
    public var maximumAge = Duration.seconds(120)
    /// The time by which the creation of a signature may lie in the future, and for which it is accepted after its
    /// `expires`: 30 seconds.
    package var clockTolerance = Duration.seconds(30)
    /// The algorithms that are accepted, if the key's record has the same. By default all. Name fewer if a rule of
    /// your own demands it.
    public var algorithms = Set(SignatureAlgorithm.all)

    /// Creates a policy for requests.
    public init(
        tag: String, requiredComponents: [ComponentIdentifier] = [.method, .authority, .path, .query]
    ) {
        (self.tag, self.requiredComponents) = (tag, requiredComponents)
    }

    /// Returns a policy for the response to a request: the signature must cover the response's status, and the
    /// request's method, authority, path and query.
    ///
    /// - Parameters:
    ///   - tag: The tag by which the signature is found.
    ///   - nonce: The nonce that the request asked for, which binds the response to this request.
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

    /// Returns a request for an acceptable signature, for `Accept-Signature`.
    ///
    /// Throws a ``SignatureError`` if the required components have a duplicate, or the label is not the key of a
    /// structured field.
    public func signatureRequest(label: String = "sig1", hasBody: Bool) throws(SignatureError) -> SignatureRequest {
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
    /// Returns the components in `required` that are not covered.
    func missing(among required: [ComponentIdentifier]) -> [ComponentIdentifier] { required.filter { !covers($0) } }

    /// Whether a component is covered by itself, by the target URI, or in another form that contains the whole field.
    private func covers(_ component: ComponentIdentifier) -> Bool {
        if contains(component) { return true }
        if component.name.utf8.first != UInt8(ascii: "@") {
            return contains(component.strict) || contains(component.asBytes)
        }
        let whole = component.parameters == [.request] ? ComponentIdentifier.targetURI.ofRequest : .targetURI
        return ["@scheme", "@authority", "@path", "@query"].contains(component.name) && contains(whole)
    }
}
