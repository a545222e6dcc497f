/// The public key of a certificate, in the encoding of the certificate.
///
/// The key is taken from the certificate's DER and not encoded again from the parts of a key, so that no kind of key
/// needs code of its own.
struct CertificateKey {
    /// The `SubjectPublicKeyInfo` in DER (RFC 5280 §4.1.2.7).
    let spki: ArraySlice<UInt8>

    /// Finds the key. It reads the structure of RFC 5280 §4.1 as far as the key, and verifies nothing.
    ///
    /// - Parameter certificateDER: One certificate. Returns `nil` if it is malformed, or if anything follows it.
    init?(certificateDER: [UInt8]) {
        var outer = DERElements(certificateDER[...])
        guard let certificate = outer.next(.sequence), outer.isAtEnd else { return nil }
        var parts = DERElements(certificate.contents)
        guard let signed = parts.next(.sequence), parts.next(.sequence) != nil, parts.next(.bitString) != nil,
            parts.isAtEnd
        else { return nil }
        var fields = DERElements(signed.contents)
        // The version is absent in certificates of version 1.
        _ = fields.next(.version)
        // Serial number, signature algorithm, issuer, validity and subject.
        guard fields.next(.integer) != nil, fields.next(.sequence) != nil, fields.next(.sequence) != nil,
            fields.next(.sequence) != nil, fields.next(.sequence) != nil, let key = fields.next(.sequence)
        else { return nil }
        var keyParts = DERElements(key.contents)
        guard let algorithm = keyParts.next(.sequence), let bits = keyParts.next(.bitString), keyParts.isAtEnd,
            bits.contents.count > 1
        else { return nil }
        var identifier = DERElements(algorithm.contents)
        guard identifier.next(.objectIdentifier) != nil else { return nil }
        spki = key.encoding
    }
}

/// Reads the elements of DER one after the other (X.690 §8.1 and §10.1).
///
/// A length is definite and as short as it can be, and below 16 MiB. An element that is not whole is not returned.
private struct DERElements {
    enum Tag: UInt8 {
        case integer = 0x02
        case bitString = 0x03
        case objectIdentifier = 0x06
        case sequence = 0x30
        /// `[0] EXPLICIT`, the tag of a certificate's version.
        case version = 0xA0
    }

    struct Element {
        /// The element with its tag and length.
        let encoding: ArraySlice<UInt8>
        let contents: ArraySlice<UInt8>
    }

    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    var isAtEnd: Bool { rest.isEmpty }

    /// Returns the next element; `nil` if it has another tag or is malformed. Then it is still the next one.
    mutating func next(_ tag: Tag) -> Element? {
        guard rest.first == tag.rawValue, let first = rest.dropFirst().first else { return nil }
        var (headerCount, count) = (2, Int(first))
        if first >= 0x80 {
            let digitCount = Int(first & 0x7F)
            let digits = rest.dropFirst(2).prefix(digitCount)
            guard (1...3).contains(digitCount), digits.count == digitCount, digits.first != 0 else { return nil }
            count = digits.reduce(0) { $0 << 8 | Int($1) }
            guard count >= 0x80 else { return nil }
            headerCount += digitCount
        }
        guard count <= rest.count - headerCount else { return nil }
        let encoding = rest.prefix(headerCount + count)
        rest = rest.dropFirst(encoding.count)
        return Element(encoding: encoding, contents: encoding.dropFirst(headerCount))
    }
}
