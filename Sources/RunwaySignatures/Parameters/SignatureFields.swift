public import HTTPTypes
import RawStructuredFieldValues
import RunwayFormats

/// One signature of a message, under its label (RFC 9421 §4).
public struct LabelledSignature: Sendable, Hashable {
    /// The label, which is unique in the message.
    public let label: String
    /// The covered components and the metadata of the signature.
    public let parameters: SignatureParameters
    /// The bytes of the signature.
    public let signature: [UInt8]

    /// Creates a labelled signature. Throws a ``SignatureError`` if the label is not the key of a structured field.
    public init(label: String, parameters: SignatureParameters, signature: [UInt8]) throws(SignatureError) {
        guard StructuredFieldText.isKey(label) else { throw SignatureError(.invalidValue, "label") }
        (self.label, self.parameters, self.signature) = (label, parameters, signature)
    }

    /// Reads fields that have one signature and are spelled exactly as RFC 9651 serialises them. Returns `nil` for
    /// other fields.
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

/// The largest sizes of signatures' header fields. Larger fields are refused before they are parsed.
struct SignatureLimits: Sendable {
    /// The most bytes of each of the fields `Signature-Input` and `Signature`.
    var maximumBytes = 8_192
    /// The most signatures of a message.
    var maximumSignatures = 8
    /// The most components that a signature covers.
    var maximumComponents = 64
    /// The most parameters of all signatures and components in a field.
    var maximumParameters = 256
}

extension HTTPFields {
    /// Returns the signatures of a message, in the order of `Signature-Input` (RFC 9421 §4).
    ///
    /// Returns an empty array if the message has neither of the two fields. Throws a ``SignatureError`` if a field is
    /// malformed or too large, if a label occurs twice, or if a label is in only one of the fields. Each field has at
    /// most 8 KiB, with 8 signatures, 64 components in each of them, and 256 parameters in all.
    public func signatures() throws(SignatureError) -> [LabelledSignature] { try signatures(within: SignatureLimits()) }

    func signatures(within limits: SignatureLimits) throws(SignatureError) -> [LabelledSignature] {
        // Most requests that are signed have no signature yet.
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

    /// Adds a signature to those of the message. Its label must not be in use.
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
    /// `Signature-Input` (RFC 9421 §4.1).
    public static let signatureInput = HTTPField.Name("Signature-Input", known: ())
    /// `Signature` (RFC 9421 §4.2).
    public static let signature = HTTPField.Name("Signature", known: ())
    /// `Accept-Signature` (RFC 9421 §5.1).
    public static let acceptSignature = HTTPField.Name("Accept-Signature", known: ())
}
