import RunwaySignatures

/// The keys that sign for a role, and the number of them that must (§4.3).
package struct RoleKeys: Sendable, Hashable {
    package let keyIDs: [String]
    package let threshold: Int

    package init(keyIDs: [String], threshold: Int) { (self.keyIDs, self.threshold) = (keyIDs, threshold) }

    /// Reads the members `keyids` and `threshold`.
    init(_ object: CanonicalObject) throws(MalformedMetadata) {
        keyIDs = try object.strings("keyids", areDistinct: true)
        guard let threshold = Int(exactly: try object.integer("threshold", atLeast: 1)) else {
            throw MalformedMetadata("\"threshold\" is too large")
        }
        self.threshold = threshold
    }
}

/// The keys of a document by their identifiers.
package struct KeyTable: Sendable {
    private var keys: [ExactText: MetadataKey] = [:]

    /// The maximum number of keys in a document.
    static let maximumKeys = 1_000

    /// Reads the member `keys`.
    init(in object: CanonicalObject) throws(MalformedMetadata) {
        let objects = try object.objects("keys")
        guard objects.count <= Self.maximumKeys else { throw MalformedMetadata("too many keys") }
        for (id, object) in objects { keys[ExactText(id)] = try MetadataKey(object) }
    }

    /// Returns the number of distinct keys of a role with a valid signature. Stops at the role's threshold.
    ///
    /// A key counts once, even if the document lists it under several identifiers. An identifier without a key, or with
    /// a key of an unsupported scheme, counts for nothing.
    package func signers(of document: SignedDocument, for role: RoleKeys) -> Int {
        let ids = Set(role.keyIDs.map(ExactText.init))
        var signers: Set<[UInt8]> = []
        for signature in document.signatures where ids.contains(ExactText(signature.keyID)) {
            guard let key = keys[ExactText(signature.keyID)], !signers.contains(key.identity) else { continue }
            if key.isValid(signature.bytes, of: document.signedBytes) { signers.insert(key.identity) }
            if signers.count == role.threshold { break }
        }
        return signers.count
    }
}
