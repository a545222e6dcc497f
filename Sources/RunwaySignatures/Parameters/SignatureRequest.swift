package import HTTPTypes
import RawStructuredFieldValues

/// A signature that `Accept-Signature` requests for the next message (RFC 9421 §5).
package struct SignatureRequest: Sendable, Hashable {
    /// The label that the signature must have.
    package let label: String
    /// The components that the signature must cover.
    package let components: CoveredComponents
    /// Whether the signature must have the `created` parameter.
    package var wantsCreated: Bool
    /// Whether the signature must have the `expires` parameter.
    package var wantsExpires: Bool
    /// The nonce that the signature must have; `nil` if none is requested.
    package var nonce: String?
    /// The required algorithm; `nil` if the field names none or an unknown one. ``namesUnknownAlgorithm`` distinguishes
    /// the two cases.
    package var algorithm: SignatureAlgorithm?
    /// Whether the field names an unknown algorithm, so that the request cannot be satisfied.
    package let namesUnknownAlgorithm: Bool
    /// The identifier of the required key; `nil` if none is requested.
    package var keyID: String?
    /// The tag that the signature must have; `nil` if none is requested.
    package var tag: String?

    /// Creates a request. Throws a ``SignatureError`` if the label is not a valid structured-field key.
    package init(
        label: String, components: CoveredComponents, wantsCreated: Bool = true, wantsExpires: Bool = false,
        nonce: String? = nil, algorithm: SignatureAlgorithm? = nil, keyID: String? = nil, tag: String? = nil
    ) throws(SignatureError) {
        guard StructuredFieldText.isKey(label) else { throw SignatureError(.invalidValue, "label") }
        self.label = label
        self.components = components
        (self.wantsCreated, self.wantsExpires, self.nonce) = (wantsCreated, wantsExpires, nonce)
        (self.algorithm, self.keyID, self.tag) = (algorithm, keyID, tag)
        namesUnknownAlgorithm = false
    }

    fileprivate init(label: String, _ list: InnerList) throws(SignatureError) {
        let values = list.rfc9651Parameters
        self.label = label
        components = try CoveredComponents(list.bareInnerList)
        wantsCreated = values["created"] != nil
        wantsExpires = values["expires"] != nil
        nonce = try values.string("nonce")
        keyID = try values.string("keyid")
        tag = try values.string("tag")
        let name = try values.string("alg")
        algorithm = name.flatMap(SignatureAlgorithm.init(name:))
        namesUnknownAlgorithm = name != nil && algorithm == nil
    }

    /// Returns the `Accept-Signature` field. Throws a ``SignatureError`` if a string has characters other than
    /// printable ASCII.
    func field() throws(SignatureError) -> HTTPField {
        var text = Array(label.utf8)
        text.append(UInt8(ascii: "="))
        text.append(text: components.serialized)
        if wantsCreated { text.append(text: ";created") }
        if wantsExpires { text.append(text: ";expires") }
        try text.appendParameters(nonce: nonce, algorithm: algorithm, keyID: keyID, tag: tag)
        return HTTPField(name: .acceptSignature, value: String(decoding: text, as: UTF8.self))
    }
}

extension HTTPFields {
    /// Returns the signatures that the sender requests for the next message (RFC 9421 §5.1). Throws a
    /// ``SignatureError`` if the field is malformed, or exceeds the limits of signature fields.
    package func signatureRequests() throws(SignatureError) -> [SignatureRequest] {
        let limits = SignatureLimits()
        var requests: [SignatureRequest] = []
        for (label, member) in try Self.members(of: .acceptSignature, self[values: .acceptSignature], within: limits) {
            guard case .innerList(let list) = member else { throw SignatureError(.notStructured, label) }
            guard list.bareInnerList.count <= limits.maximumComponents else { throw SignatureError(.tooLarge, label) }
            requests.append(try SignatureRequest(label: label, list))
        }
        return requests
    }

    /// Requests a signature of the next message. Throws a ``SignatureError`` if a string has characters other than
    /// printable ASCII.
    package mutating func append(_ request: SignatureRequest) throws(SignatureError) {
        append(try request.field())
    }
}
