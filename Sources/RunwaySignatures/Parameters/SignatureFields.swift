public import HTTPTypes
import RawStructuredFieldValues
import RunwayFormats

/// One signature of a message with its label (RFC 9421 §4).
public struct LabelledSignature: Sendable, Hashable {
    /// The label, which is unique in the message.
    public let label: String
    /// The covered components and the metadata of the signature.
    public let parameters: SignatureParameters
    /// The raw bytes of the signature.
    public let signature: [UInt8]

    /// Creates a labelled signature. Throws a ``SignatureError`` if the label is not a valid structured-field key.
    public init(label: String, parameters: SignatureParameters, signature: [UInt8]) throws(SignatureError) {
        guard StructuredFieldText.isKey(label) else { throw SignatureError(.invalidValue, "label") }
        (self.label, self.parameters, self.signature) = (label, parameters, signature)
    }

    /// Fast path: reads fields with one signature in their canonical serialisation (RFC 9651). Returns `nil` for other
    /// fields.
    fileprivate init?(_ inputLines: [String], _ valueLines: [String], within limits: SignatureLimits) {
        guard limits.maximumSignatures > 0,
            let value = SerializedReader.byteSequenceMember(of: valueLines, upTo: limits.maximumBytes)
        else { return nil }
        let parameters = SerializedReader.read(inputLines, upTo: limits.maximumBytes) { reader in
            reader.key() == value.key && reader.skip("=") ? SignatureParameters(&reader, within: limits) : nil
        }
        guard let parameters else { return nil }
        (label, self.parameters, signature) = (value.key, parameters, value.value)
    }
}

/// The size limits of signature fields. Larger fields are refused before they are parsed.
struct SignatureLimits: Sendable {
    /// The maximum size of `Signature-Input` and of `Signature`, in bytes.
    var maximumBytes = 8_192
    var maximumSignatures = 8
    /// The maximum number of components that one signature covers.
    var maximumComponents = 64
    /// The maximum number of parameters in a field, counted over all its signatures and components.
    var maximumParameters = 256
}

extension HTTPFields {
    /// Returns the signatures of a message, in the order of `Signature-Input` (RFC 9421 §4).
    ///
    /// Returns an empty array if the message has neither `Signature-Input` nor `Signature`. Throws a ``SignatureError``
    /// if a field is malformed or too large, if a label occurs twice, or if a label is in only one of the fields. Each
    /// field may have 8 KiB, 8 signatures, 64 components per signature, and 256 parameters.
    public func signatures() throws(SignatureError) -> [LabelledSignature] { try signatures(within: SignatureLimits()) }

    func signatures(within limits: SignatureLimits) throws(SignatureError) -> [LabelledSignature] {
        // A request that is about to be signed usually has no signature yet.
        if !contains(.signatureInput), !contains(.signature) { return [] }
        let (inputLines, valueLines) = (self[values: .signatureInput], self[values: .signature])
        if let signature = LabelledSignature(inputLines, valueLines, within: limits) { return [signature] }
        let inputs = try Self.members(of: .signatureInput, inputLines, within: limits)
        let values = try Self.members(of: .signature, valueLines, within: limits)
        guard inputs.count == values.count else { throw SignatureError(.mismatchedLabels, "a label") }
        var signatures: [LabelledSignature] = []
        for (label, input) in inputs {
            guard let value = values[label] else { throw SignatureError(.mismatchedLabels, label) }
            guard case .innerList(let list) = input, case .item(let item) = value,
                case .undecodedByteSequence(let text) = item.rfc9651BareItem, let bytes = Base64.decoded(text)
            else { throw SignatureError(.notStructured, label) }
            guard list.bareInnerList.count <= limits.maximumComponents else { throw SignatureError(.tooLarge, label) }
            signatures.append(
                try LabelledSignature(label: label, parameters: SignatureParameters(list), signature: bytes))
        }
        return signatures
    }

    /// Adds a signature to the message. Its label must not be in use.
    public mutating func append(_ signature: LabelledSignature) {
        let (label, parameters) = (signature.label, signature.parameters.serialized)
        let input = String(upTo: label.utf8.count + parameters.utf8.count + 1) { text in
            text.append(label)
            text.append(UInt8(ascii: "="))
            text.append(parameters)
        }
        let value = String(upTo: label.utf8.count + Base64.encodedCount(signature.signature.count) + 3) { text in
            text.append(label)
            text.append("=:")
            Base64.append(signature.signature, to: &text)
            text.append(UInt8(ascii: ":"))
        }
        reserveCapacity(count + 2)
        append(HTTPField(name: .signatureInput, value: input))
        append(HTTPField(name: .signature, value: value))
    }

    static func members(
        of name: HTTPField.Name, _ lines: [String], within limits: SignatureLimits
    ) throws(SignatureError) -> OrderedMap<String, ItemOrInnerList> {
        let parsing = StructuredFieldParsing(
            maximumBytes: limits.maximumBytes, maximumMembers: limits.maximumSignatures,
            maximumParameters: limits.maximumParameters)
        return try parsing.dictionary(lines, named: name.canonicalName)
    }
}

extension HTTPField.Name {
    /// The `Signature-Input` field (RFC 9421 §4.1): the covered components and metadata of signatures.
    public static let signatureInput = HTTPField.Name("Signature-Input", known: ())
    /// The `Signature` field (RFC 9421 §4.2): the bytes of signatures.
    public static let signature = HTTPField.Name("Signature", known: ())
    /// The `Accept-Signature` field (RFC 9421 §5.1): signatures requested for the next message.
    public static let acceptSignature = HTTPField.Name("Accept-Signature", known: ())
}
