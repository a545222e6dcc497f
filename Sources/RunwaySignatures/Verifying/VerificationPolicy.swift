/// What a signature must have to be accepted. Strict by default.
public struct VerificationPolicy: Sendable {
    /// How the nonce of a signature is judged.
    public enum NonceRule: Sendable, Hashable {
        /// It must be present and is accepted once per key: for requests.
        case once
        /// It must be this one: for a response, whose request asked for it (RFC 9421 §5.1).
        case equal(String)
        /// It is not judged: a signature can be replayed within its time.
        case unchecked
    }

    /// The tag by which the signature is found. Signatures with other tags are ignored.
    public var tag: String
    /// The components that must be covered. By default the method, the authority, the path and the query.
    ///
    /// `@target-uri` stands for scheme, authority, path and query.
    public var requiredComponents: [ComponentIdentifier]
    /// Whether a message with a body must cover `content-digest`. By default it must.
    public var coversBody = true
    /// How the nonce is judged. By default it is accepted once.
    public var nonces = NonceRule.once
    /// Recognises nonces that the server itself has issued, whose time stands for `created`. The default is `nil`.
    public var serverNonces: ServerNonces?
    /// For how long after its creation a signature is accepted. By default two minutes.
    public var maximumAge = Duration.seconds(120)
    /// How far in the future a signature may have been created, and how long after its `expires` it is accepted. By
    /// default 30 seconds.
    public var clockTolerance = Duration.seconds(30)
    /// The algorithms that are accepted, if they are those of the key's record. By default all.
    public var algorithms = Set(SignatureAlgorithm.all)
    /// The greatest sizes of the fields.
    public var limits = SignatureLimits()
    /// The greatest number of bytes of a key identifier or a nonce. By default 256.
    public var maximumIdentifierBytes = 256

    /// A policy for requests.
    public init(
        tag: String, requiredComponents: [ComponentIdentifier] = [.method, .authority, .path, .query]
    ) {
        (self.tag, self.requiredComponents) = (tag, requiredComponents)
    }

    /// A policy for the response to a request: it must cover its status, and the method, authority, path and query of
    /// the request.
    ///
    /// - Parameters:
    ///   - tag: The tag by which the signature is found.
    ///   - nonce: The nonce that the request asked for, which binds the response to this request and no other.
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

    /// A request for a signature that would be accepted, for `Accept-Signature`.
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

    /// The required components that a signature leaves out.
    package func missing(
        from covered: CoveredComponents, besides others: [ComponentIdentifier] = []
    ) -> [ComponentIdentifier] {
        covered.missing(among: requiredComponents) + covered.missing(among: others)
    }
}

extension CoveredComponents {
    /// The components among some that are not covered.
    func missing(among required: [ComponentIdentifier]) -> [ComponentIdentifier] { required.filter { !covers($0) } }

    /// Whether a component is covered by itself, by the target URI, or in another form that has the whole field.
    private func covers(_ component: ComponentIdentifier) -> Bool {
        if contains(component) { return true }
        if component.name.utf8.first != UInt8(ascii: "@") {
            return contains(component.strict) || contains(component.asBytes)
        }
        let whole = component.parameters == [.request] ? ComponentIdentifier.targetURI.ofRequest : .targetURI
        return ["@scheme", "@authority", "@path", "@query"].contains(component.name) && contains(whole)
    }
}
