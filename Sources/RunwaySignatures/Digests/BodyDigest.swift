public import Foundation
public import HTTPTypes
import RawStructuredFieldValues
import RunwayFormats

/// The digests of a body, as in `Content-Digest` and `Repr-Digest` (RFC 9530 §2, §3).
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
    /// The SHA-256 digest; `nil` if it was not computed or the field does not contain it.
    private(set) var sha256: [UInt8]?
    /// The SHA-512 digest; `nil` if it was not computed or the field does not contain it.
    private(set) var sha512: [UInt8]?

    init(sha256: [UInt8]? = nil, sha512: [UInt8]? = nil) { (self.sha256, self.sha512) = (sha256, sha512) }

    /// Computes the SHA-256 digest of a whole body.
    public init(of body: some DataProtocol) {
        var digester = BodyDigester()
        digester.update(body)
        self = digester.finish()
    }

    /// Computes the SHA-256 digest of a whole body.
    public init(of body: [UInt8]) {
        var digester = BodyDigester()
        digester.update(body)
        self = digester.finish()
    }

    /// Computes the digests of a whole body with each of the algorithms.
    public init(of body: some DataProtocol, by algorithms: Set<DigestAlgorithm>) {
        var digester = BodyDigester(algorithms)
        digester.update(body)
        self = digester.finish()
    }

    /// Parses the digests in a field. Unknown algorithms are ignored, as RFC 9530 §2 requires.
    ///
    /// Throws a ``SignatureError`` if the field is absent or malformed, or has no known algorithm.
    public init(_ name: HTTPField.Name, in fields: HTTPFields) throws(SignatureError) {
        let subject = name.canonicalName
        let lines = fields[values: name]
        if lines.isEmpty { throw SignatureError(.missing, subject) }
        self.init()
        if let member = SerializedReader.byteSequenceMember(of: lines, upTo: StructuredFieldParsing().maximumBytes) {
            try insert(member.value, by: member.key, subject)
        } else {
            for (key, member) in try StructuredFieldParsing().dictionary(lines, named: subject) {
                guard case .item(let item) = member, case .undecodedByteSequence(let text) = item.rfc9651BareItem,
                    let digest = Base64.decoded(text)
                else { throw SignatureError(.notStructured, subject) }
                try insert(digest, by: key, subject)
            }
        }
        if sha256 == nil, sha512 == nil { throw SignatureError(.unknownDigest, subject) }
    }

    private mutating func insert(_ digest: [UInt8], by name: String, _ subject: String) throws(SignatureError) {
        guard let algorithm = DigestAlgorithm.named(name) else { return }
        guard digest.count == algorithm.length else { throw SignatureError(.mismatchedDigest, subject) }
        if algorithm == .sha256 { sha256 = digest } else { sha512 = digest }
    }

    /// The algorithms of the digests.
    public var algorithms: Set<DigestAlgorithm> { Set(DigestAlgorithm.all.filter { self[$0] != nil }) }

    private subscript(algorithm: DigestAlgorithm) -> [UInt8]? { algorithm == .sha256 ? sha256 : sha512 }

    /// Returns a copy that contains only the digests of the passed algorithms.
    func restricted(to algorithms: [DigestAlgorithm]) -> BodyDigest {
        BodyDigest(
            sha256: algorithms.contains(.sha256) ? sha256 : nil, sha512: algorithms.contains(.sha512) ? sha512 : nil)
    }

    /// The value of a digest field, in the order of ``DigestAlgorithm/all``.
    public var fieldValue: String {
        // The capacity counts for each algorithm: the name, `=:`, the longest digest, `:` and a separator.
        String(upTo: 2 * (7 + 88 + 5)) { text in
            for algorithm in DigestAlgorithm.all {
                guard let digest = self[algorithm] else { continue }
                if text.count > 0 { text.append(", ") }
                text.append(algorithm.name)
                text.append("=:")
                Base64.append(digest, to: &text)
                text.append(UInt8(ascii: ":"))
            }
        }
    }

    /// Throws a ``SignatureError`` unless `computed` has an equal digest for every algorithm of this digest.
    public func verify(_ computed: BodyDigest) throws(SignatureError) {
        guard sha256 == nil || sha256 == computed.sha256, sha512 == nil || sha512 == computed.sha512 else {
            throw SignatureError(.mismatchedDigest, "the body's digest")
        }
    }
}

extension HTTPField.Name {
    /// The `Content-Digest` field (RFC 9530 §2): the digest of the bytes of this message's body.
    public static let contentDigest = HTTPField.Name("Content-Digest", known: ())
    /// The `Repr-Digest` field (RFC 9530 §3): the digest of the whole selected representation, even if the body is only
    /// a part of it.
    public static let representationDigest = HTTPField.Name("Repr-Digest", known: ())
    /// The `Want-Content-Digest` field (RFC 9530 §4): the digest algorithms that the sender accepts for bodies.
    public static let wantContentDigest = HTTPField.Name("Want-Content-Digest", known: ())
    /// The `Want-Repr-Digest` field (RFC 9530 §4): the digest algorithms that the sender accepts for representations.
    public static let wantRepresentationDigest = HTTPField.Name("Want-Repr-Digest", known: ())
}
