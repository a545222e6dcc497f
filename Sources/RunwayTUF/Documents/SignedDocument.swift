import RunwaySignatures

/// Any metadata as it came: the signed part, and its signatures (§4.2). Nothing in it is trusted yet.
package struct SignedDocument: Sendable {
    package struct Signature: Sendable {
        package let keyID: String
        package let bytes: [UInt8]

        package init(keyID: String, bytes: [UInt8]) { (self.keyID, self.bytes) = (keyID, bytes) }
    }

    /// The bytes that were read. They are stored as they came, so that unknown members survive.
    package let bytes: [UInt8]
    /// The signed part with all its members.
    package let signed: CanonicalObject
    /// The canonical form of the signed part.
    package let signedBytes: [UInt8]
    package let signatures: [Signature]

    /// The maximum number of signatures of a document.
    static let maximumSignatures = 256

    /// Reads a document of at most `maximumByteCount` bytes.
    ///
    /// - Throws: ``MalformedMetadata`` also if two signatures name the same key, as §4.2 forbids.
    package init(_ bytes: [UInt8], maximumByteCount: Int) throws(MalformedMetadata) {
        guard case .object(let document) = try CanonicalValue(reading: bytes, maximumByteCount: maximumByteCount) else {
            throw MalformedMetadata("the document is no object")
        }
        self.bytes = bytes
        signed = try document.object("signed")
        signedBytes = CanonicalValue.object(signed).canonicalBytes
        var signatures: [Signature] = []
        for element in try document.array("signatures") {
            guard case .object(let object) = element else { throw MalformedMetadata("a signature is no object") }
            // Another implementation may leave the text empty for a key that has not signed yet.
            let bytes = Hexadecimal.bytes(try object.string("sig")) ?? []
            signatures.append(Signature(keyID: try object.string("keyid"), bytes: bytes))
        }
        guard signatures.count <= Self.maximumSignatures else { throw MalformedMetadata("too many signatures") }
        guard Set(signatures.map { ExactText($0.keyID) }).count == signatures.count else {
            throw MalformedMetadata("two signatures name the same key")
        }
        self.signatures = signatures
    }

    /// Creates a document of a signed part and signatures, as a repository writes it.
    package init(signed: CanonicalObject, signatures: [Signature]) {
        let signatures = signatures.sorted { ExactText($0.keyID) < ExactText($1.keyID) }
        let objects = signatures.map {
            CanonicalValue.object(["keyid": .string($0.keyID), "sig": .string(Hexadecimal.text($0.bytes))])
        }
        (self.signed, self.signatures) = (signed, signatures)
        signedBytes = CanonicalValue.object(signed).canonicalBytes
        bytes = CanonicalValue.object(["signatures": .array(objects), "signed": .object(signed)]).canonicalBytes
    }
}
