public import Foundation
public import HTTPTypes
import RawStructuredFieldValues

/// The digests of a body, as `Content-Digest` and `Repr-Digest` carry them (RFC 9530 §2, §3).
///
/// ```swift
/// request.headerFields[.contentDigest] = BodyDigest(of: body).fieldValue
/// ```
///
/// To verify a body as it is received:
///
/// ```swift
/// let claimed = try BodyDigest(.contentDigest, in: request.headerFields)
/// var digester = BodyDigester(claimed.algorithms)
/// for try await part in body { digester.update(part) }
/// try claimed.verify(digester.finish())
/// ```
public struct BodyDigest: Sendable, Hashable {
    let values: [DigestAlgorithm: [UInt8]]

    init(values: [DigestAlgorithm: [UInt8]]) { self.values = values }

    /// The digests of a whole body, by SHA-256 unless others are named.
    public init(of body: some DataProtocol, by algorithms: Set<DigestAlgorithm> = [.sha256]) {
        var digester = BodyDigester(algorithms)
        digester.update(body)
        self = digester.finish()
    }

    /// Reads the digests of a field, by the algorithms that are known; others are ignored, as RFC 9530 §2 says.
    ///
    /// Throws a ``SignatureError`` if the field is absent or malformed, or names no algorithm that is known.
    public init(_ name: HTTPField.Name, in fields: HTTPFields) throws(SignatureError) {
        let subject = name.canonicalName
        guard fields.contains(name) else { throw SignatureError(.missing, subject) }
        var values: [DigestAlgorithm: [UInt8]] = [:]
        for (key, member) in try StructuredFieldParsing().dictionary(fields[values: name], named: subject) {
            guard case .item(let item) = member, case .undecodedByteSequence(let text) = item.rfc9651BareItem,
                let digest = Base64.decoded(text)
            else { throw SignatureError(.notStructured, subject) }
            guard let algorithm = DigestAlgorithm.named(key) else { continue }
            guard digest.count == algorithm.length else { throw SignatureError(.mismatchedDigest, subject) }
            values[algorithm] = digest
        }
        if values.isEmpty { throw SignatureError(.unknownDigest, subject) }
        self.values = values
    }

    /// The algorithms of the digests.
    public var algorithms: Set<DigestAlgorithm> { Set(values.keys) }

    /// The value of a digest field, in the order of ``DigestAlgorithm/all``.
    public var fieldValue: String {
        var text = ""
        for algorithm in DigestAlgorithm.all {
            guard let digest = values[algorithm] else { continue }
            if !text.isEmpty { text += ", " }
            text += "\(algorithm.name)=:\(Base64.encoded(digest)):"
        }
        return text
    }

    /// Throws a ``SignatureError`` unless the computed digests have every digest of this one, and equal it.
    public func verify(_ computed: BodyDigest) throws(SignatureError) {
        guard values.allSatisfy({ computed.values[$0.key] == $0.value }) else {
            throw SignatureError(.mismatchedDigest, "the body's digest")
        }
    }
}

extension HTTPField.Name {
    /// `Content-Digest` (RFC 9530 §2): the digest of the bytes of this message's body.
    public static let contentDigest = HTTPField.Name("Content-Digest", known: ())
    /// `Repr-Digest` (RFC 9530 §3): the digest of the whole selected representation, of which the body may be a part.
    public static let representationDigest = HTTPField.Name("Repr-Digest", known: ())
    /// `Want-Content-Digest` (RFC 9530 §4).
    public static let wantContentDigest = HTTPField.Name("Want-Content-Digest", known: ())
    /// `Want-Repr-Digest` (RFC 9530 §4).
    public static let wantRepresentationDigest = HTTPField.Name("Want-Repr-Digest", known: ())
}
