import RunwaySignatures

extension TrustedMetadata {
    /// Reads a document of a top-level role and verifies that the root's keys signed it.
    ///
    /// - Parameter place: The document's place among the known ones, which are not verified again.
    mutating func read<Content>(
        _ bytes: [UInt8], _ role: TopLevelRole, _ place: WritableKeyPath<KnownDocuments, Metadata<Content>?>,
        _ section: String, _ maximum: Int
    ) throws(MetadataError) -> Metadata<Content> {
        if let known = known[keyPath: place], known.document.bytes == bytes { return known }
        let metadata: Metadata<Content> = try Self.read(bytes, role.rawValue, section, maximum)
        try Self.verify(metadata.document, role.rawValue, root.content.keys, root.content[role], section)
        known[keyPath: place] = metadata
        return metadata
    }

    /// Reads a document without verifying its signatures.
    static func read<Content>(
        _ bytes: [UInt8], _ role: String, _ section: String, _ maximum: Int
    ) throws(MetadataError) -> Metadata<Content> {
        guard bytes.count <= maximum else {
            throw MetadataError(role, .length, section, "it has more than \(maximum) bytes")
        }
        do throws(MalformedMetadata) {
            return try Metadata(SignedDocument(bytes, maximumByteCount: maximum))
        } catch {
            throw MetadataError(role, .form, section, error.reason)
        }
    }

    /// Verifies that at least a role's threshold of distinct keys signed a document.
    static func verify(
        _ document: SignedDocument, _ role: String, _ keys: KeyTable, _ signers: RoleKeys, _ section: String
    ) throws(MetadataError) {
        let count = keys.signers(of: document, for: signers)
        guard count >= signers.threshold else {
            throw MetadataError(role, .threshold, section, "\(count) of \(signers.threshold) required keys signed")
        }
    }

    /// Verifies that a document has not expired at the start of the update.
    func checkExpiry<Content>(
        of metadata: Metadata<Content>, _ role: String, _ section: String
    ) throws(MetadataError) {
        guard !metadata.hasExpired(at: startTime) else {
            throw MetadataError(role, .expiry, section, "expired at \(metadata.expires.metadataText)")
        }
    }
}

/// The documents whose form and signatures were verified with the keys of one root.
///
/// The same bytes are not verified again. Each update checks what depends on the time and on other documents.
struct KnownDocuments: Sendable {
    var timestamp: Metadata<TimestampContent>?
    var snapshot: Metadata<SnapshotContent>?
    var targets: Metadata<TargetsContent>?
}
