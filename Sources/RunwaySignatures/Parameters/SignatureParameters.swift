import RawStructuredFieldValues

/// The covered components and the metadata of a signature (RFC 9421 §2.3).
///
/// Received parameters retain their order, since the signature covers it. Created parameters have the order of the
/// initializer's parameters.
public struct SignatureParameters: Sendable, Hashable {
    /// The covered components.
    public let components: CoveredComponents
    /// The creation time of the signature; `nil` if the parameter is absent.
    public let created: UnixTime?
    /// The time after which the signature is invalid; `nil` if the parameter is absent.
    public let expires: UnixTime?
    /// A value that the signer uses only once; `nil` if the parameter is absent.
    public let nonce: String?
    /// The algorithm name that the signer claims; `nil` if the parameter is absent. A verifier uses the algorithm of
    /// the key's record instead.
    public let algorithm: String?
    /// The identifier of the key; `nil` if the parameter is absent.
    public let keyID: String?
    /// The application or protocol that the signature is for; `nil` if the parameter is absent.
    public let tag: String?
    /// The serialised parameters: the value of `@signature-params`, and the value of the signature's label in
    /// `Signature-Input`.
    public let serialized: String

    /// Creates parameters. Throws a ``SignatureError`` if a string has characters other than printable ASCII.
    public init(
        components: CoveredComponents, created: UnixTime? = nil, expires: UnixTime? = nil, nonce: String? = nil,
        algorithm: SignatureAlgorithm? = nil, keyID: String? = nil, tag: String? = nil
    ) throws(SignatureError) {
        self.components = components
        (self.created, self.expires, self.nonce) = (created, expires, nonce)
        (self.algorithm, self.keyID, self.tag) = (algorithm?.name, keyID, tag)
        var text: [UInt8] = []
        text.reserveCapacity(256)
        text.append(text: components.serialized)
        text.appendParameter(";created=", created)
        text.appendParameter(";expires=", expires)
        try text.appendParameters(nonce: nonce, algorithm: algorithm, keyID: keyID, tag: tag)
        serialized = String(decoding: text, as: UTF8.self)
    }

    /// Fast path: reads a member of `Signature-Input` with only known parameters in its canonical serialisation (RFC
    /// 9651). Returns `nil` for other members.
    init?(_ reader: inout SerializedReader, within limits: SignatureLimits) {
        var (created, expires) = (Int64?.none, Int64?.none)
        var (nonce, algorithm, keyID, tag) = (String?.none, String?.none, String?.none, String?.none)
        var count = 0
        let read = reader.withText { reader -> CoveredComponents? in
            guard let components = CoveredComponents(&reader, upTo: limits.maximumComponents) else { return nil }
            while reader.skip(";") {
                count += 1
                guard count <= limits.maximumParameters, let name = reader.key(), reader.skip("=") else { return nil }
                let isRead =
                    switch name {
                    case "created": reader.read(into: &created) { $0.integer() }
                    case "expires": reader.read(into: &expires) { $0.integer() }
                    case "nonce": reader.read(into: &nonce) { $0.string() }
                    case "alg": reader.read(into: &algorithm) { $0.string() }
                    case "keyid": reader.read(into: &keyID) { $0.string() }
                    case "tag": reader.read(into: &tag) { $0.string() }
                    default: false
                    }
                guard isRead else { return nil }
            }
            return components
        }
        guard let read else { return nil }
        (components, serialized) = read
        (self.created, self.expires) = (created.map(UnixTime.init), expires.map(UnixTime.init))
        (self.nonce, self.algorithm, self.keyID, self.tag) = (nonce, algorithm, keyID, tag)
    }

    /// Reads a member of `Signature-Input`. Throws a ``SignatureError`` if a known parameter has a value of a wrong
    /// type.
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

extension [UInt8] {
    fileprivate mutating func appendParameter(_ name: String, _ time: UnixTime?) {
        guard let time else { return }
        append(text: name)
        append(text: String(time.seconds))
    }

    /// Appends the non-`nil` parameters that are Strings (RFC 9651 §4.1.1.2). Throws a ``SignatureError`` if a string
    /// has characters other than printable ASCII.
    mutating func appendParameters(
        nonce: String?, algorithm: SignatureAlgorithm?, keyID: String?, tag: String?
    ) throws(SignatureError) {
        try appendParameter("nonce", nonce)
        try appendParameter("alg", algorithm?.name)
        try appendParameter("keyid", keyID)
        try appendParameter("tag", tag)
    }

    private mutating func appendParameter(_ name: String, _ value: String?) throws(SignatureError) {
        guard let value else { return }
        append(UInt8(ascii: ";"))
        append(text: name)
        append(UInt8(ascii: "="))
        guard StructuredFieldText.append(quoted: value, to: &self) else { throw SignatureError(.invalidValue, name) }
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
