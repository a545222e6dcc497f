import RawStructuredFieldValues

/// What a signature covers and says of itself (RFC 9421 §2.3).
///
/// Received parameters retain their order, since the signature covers it; parameters that are made here have the order of the
/// initializer.
public struct SignatureParameters: Sendable, Hashable {
    /// The covered components.
    public let components: CoveredComponents
    /// When the signature was made.
    public let created: UnixTime?
    /// When the signer stops vouching for the signature.
    public let expires: UnixTime?
    /// A value that the signer uses once.
    public let nonce: String?
    /// The name of the algorithm that the signer claims. A verifier takes the algorithm from the key's record.
    public let algorithm: String?
    /// The identifier of the key.
    public let keyID: String?
    /// Which application or protocol the signature is for.
    public let tag: String?
    /// The value of `@signature-params`, and of the label's member in `Signature-Input`.
    public let serialized: String

    /// Throws a ``SignatureError`` if a string has other characters than printable ASCII.
    public init(
        components: CoveredComponents, created: UnixTime? = nil, expires: UnixTime? = nil, nonce: String? = nil,
        algorithm: SignatureAlgorithm? = nil, keyID: String? = nil, tag: String? = nil
    ) throws(SignatureError) {
        self.components = components
        (self.created, self.expires, self.nonce) = (created, expires, nonce)
        (self.algorithm, self.keyID, self.tag) = (algorithm?.name, keyID, tag)
        var text = components.serialized
        if let created { text += ";created=\(created.seconds)" }
        if let expires { text += ";expires=\(expires.seconds)" }
        for (name, value) in [("nonce", nonce), ("alg", algorithm?.name), ("keyid", keyID), ("tag", tag)] {
            guard let value else { continue }
            guard let quoted = StructuredFieldText.quoted(value) else { throw SignatureError(.invalidValue, name) }
            text += ";\(name)=\(quoted)"
        }
        serialized = text
    }

    /// Reads a member of `Signature-Input`. Throws if a known parameter has a value of another type.
    init(_ list: InnerList) throws(SignatureError) {
        let values = list.rfc9651Parameters
        components = try CoveredComponents(list.bareInnerList)
        created = try values.integer("created").map(UnixTime.init)
        expires = try values.integer("expires").map(UnixTime.init)
        nonce = try values.string("nonce")
        algorithm = try values.string("alg")
        keyID = try values.string("keyid")
        tag = try values.string("tag")
        var text = components.serialized
        for (name, value) in values {
            text += ";\(name)"
            if value != .bool(true) { text += "=" + (try StructuredFieldText.bareItem(value, in: name)) }
        }
        serialized = text
    }
}

extension OrderedMap<String, RFC9651BareItem> {
    func integer(_ name: String) throws(SignatureError) -> Int64? {
        guard let value = self[name] else { return nil }
        guard case .integer(let number) = value else { throw SignatureError(.invalidValue, name) }
        return number
    }

    func string(_ name: String) throws(SignatureError) -> String? {
        guard let value = self[name] else { return nil }
        guard case .string(let text) = value else { throw SignatureError(.invalidValue, name) }
        return text
    }
}
