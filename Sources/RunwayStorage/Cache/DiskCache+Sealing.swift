import Runway

extension DiskCache {
    /// Returns a copy of a change in which the content is encrypted. If the content can't be encrypted now, the change
    /// removes the older content that is stored for the key.
    static func sealed(
        _ change: CacheTierChange, with sealing: (any PayloadSealing)?, _ report: (StorageError) -> Void
    ) -> CacheTierChange {
        guard let sealing, case .store(var content, let key) = change else { return change }
        let digest = CacheDigest(key, isSealed: true)
        do {
            content.metadata = try sealing.seal(content.metadata, for: digest.bytes + [0])
            content.body = try sealing.seal(content.body, for: digest.bytes + [1])
            return .store(content, for: key)
        } catch {
            report(StorageError(.keyUnavailable, "A response could not be encrypted, and was not stored."))
            return .remove(key)
        }
    }

    /// Decrypts a content. Returns `nil` if it can't be decrypted. The bytes on disk need not be damaged: their
    /// checksum is correct.
    static func opened(
        _ content: CacheTierEntry, _ digest: CacheDigest, with sealing: (any PayloadSealing)?
    ) -> CacheTierEntry? {
        guard let sealing else { return content }
        guard let metadata = try? sealing.open(content.metadata, for: digest.bytes + [0]),
            let body = try? sealing.open(content.body, for: digest.bytes + [1])
        else { return nil }
        return CacheTierEntry(metadata: metadata, body: body, kind: content.kind)
    }
}
