/// The public key of a certificate, exactly as the certificate encodes it.
///
/// The key is taken from the certificate's DER and not encoded again, so that no kind of key needs its own code.
struct CertificateKey {
    /// The `SubjectPublicKeyInfo` in DER (RFC 5280 §4.1.2.7).
    let spki: ArraySlice<UInt8>

    /// Finds the key. Parses the structure of RFC 5280 §4.1 up to the key, and verifies nothing.
    ///
    /// - Parameter certificateDER: One certificate. The result is `nil` if it is malformed or if bytes follow it.
    init?(certificateDER: [UInt8]) {
        var outer = DERElements(certificateDER[...])
        guard let certificate = outer.next(.sequence), outer.isAtEnd else { return nil }
        var parts = DERElements(certificate.contents)
        guard let signed = parts.next(.sequence), parts.next(.sequence) != nil, parts.next(.bitString) != nil,
            parts.isAtEnd
        else { return nil }
        var fields = DERElements(signed.contents)
        // Certificates of version 1 have no version field.
        _ = fields.next(.version)
        // These are serial number, signature algorithm, issuer, validity and subject.
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

/// Reads a sequence of DER elements (X.690 §8.1 and §10.1).
///
/// A length must be definite, in its shortest form, and below 16 MiB. An incomplete element is not returned.
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
        let encoding: ArraySlice<UInt8>
        let contents: ArraySlice<UInt8>
    }

    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    var isAtEnd: Bool { rest.isEmpty }

    /// Returns the next element. Returns `nil`, without consuming the element, if it is malformed or has another tag.
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
