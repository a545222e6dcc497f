import Runway

/// A SHA-256, by which keys and targets are stored: they may contain secrets.
struct CacheDigest: Hashable, Sendable {
    let bytes: [UInt8]

    init(_ message: [UInt8]) {
        var hash = SHA256Hash()
        hash.update(message)
        bytes = hash.digest
    }

    /// The digest of a key.
    init(_ key: CacheTierKey, isSealed: Bool) { self.init(isSealed ? key.canonicalForm + [0] : key.canonicalForm) }

    /// A digest that was read back; `nil` if it has not the length of a digest.
    init?(reading bytes: [UInt8]) {
        guard bytes.count == 32 else { return nil }
        self.bytes = bytes
    }

    func hash(into hasher: inout Hasher) {
        bytes.withUnsafeBytes { hasher.combine(bytes: UnsafeRawBufferPointer(rebasing: $0.prefix(16))) }
    }
}

/// The data that a ``DiskCache`` has in memory about one response.
struct DiskCacheEntry: Sendable {
    /// Identifies one stored version: a response that replaces another one has a new id.
    let id: Int64
    let key: CacheDigest
    let service: String
    let endpoint: String?
    let account: String?
    let target: CacheDigest?
    /// The kind whose budget the response uses.
    let kind: CacheKind
    let metadataByteCount: Int
    let bodyByteCount: Int
    /// The checksum of key, id, metadata and body; see ``contentChecksum(_:)``.
    var checksum: UInt64 = 0
    /// The sequence number of its last use: of two entries, the one with the smaller number is evicted first.
    var lastUse: Int64

    /// The largest content that is stored in the database; a larger one has a file of its own.
    static var maximumRowByteCount: Int { 16 << 10 }

    var contentByteCount: Int { metadataByteCount + bodyByteCount }
    var isInFile: Bool { contentByteCount > Self.maximumRowByteCount }
    /// The size of the response as ``DiskCacheLimits/maximumByteCount`` counts it.
    var byteCount: Int { contentByteCount + 512 }

    /// Returns the checksum of the content, the key and the id of the entry. An equal content of another entry has a
    /// different checksum.
    func contentChecksum(_ content: CacheTierEntry) -> UInt64 {
        var checksum = Checksum(seed: UInt64(bitPattern: id))
        checksum.add(key.bytes)
        checksum.add(content.metadata)
        checksum.add(content.body)
        return checksum.value
    }

    /// The checksum of all columns of its row but the last use.
    var seal: UInt64 {
        var seal = Checksum(seed: UInt64(bitPattern: id))
        seal.add(key.bytes)
        for text in [service, endpoint, account] {
            seal.add(text == nil ? 0 : 1)
            seal.add(Array((text ?? "").utf8))
        }
        seal.add(target?.bytes ?? [])
        seal.add(UInt64(bitPattern: Int64(metadataByteCount)))
        seal.add(UInt64(bitPattern: Int64(bodyByteCount)))
        seal.add(checksum)
        seal.add(Array(kind.name.utf8))
        return seal.value
    }
}

/// Decides which responses a ``DiskCache`` stores and evicts. The index writes nothing itself: ``plan(_:)`` returns the
/// changes to write.
// Unchecked: all members are values, but `ValuesByKind` does not declare that it is sendable.
struct DiskCacheIndex: @unchecked Sendable {
    /// The changes of one transaction.
    struct Plan {
        var stored: [(entry: DiskCacheEntry, content: CacheTierEntry)] = []
        var removed: [DiskCacheEntry] = []

        var isEmpty: Bool { stored.isEmpty && removed.isEmpty }
    }

    /// Whether contents are encrypted. The keys of encrypted contents have other digests, so that a run without the
    /// encryption key finds nothing that it can't read.
    let isSealed: Bool
    private var entries: ValuesByKind<CacheKind, CacheDigest, DiskCacheEntry>
    /// The keys of each target.
    private var targets: [CacheDigest: Set<CacheDigest>] = [:]
    /// The numbers of entries that are not written yet: they count, and are not found.
    private var unwritten: Set<Int64> = []
    private var lastID: Int64 = 0
    private var lastUse: Int64 = 0

    init(_ limits: DiskCacheLimits, isSealed: Bool = false) {
        self.isSealed = isSealed
        entries = ValuesByKind(
            maximumCount: limits.maximumCount, maximumByteCount: limits.maximumByteCount,
            byteCounts: limits.maximumByteCountByKind)
    }

    var count: Int { entries.count }
    var byteCount: Int { entries.byteCount }

    /// Adds an entry that was read from the disk. Entries have to be added in the order of their last use.
    ///
    /// - Returns: The entries that have to be removed, since limits or files have changed.
    mutating func restore(_ entry: DiskCacheEntry) -> [DiskCacheEntry] {
        lastID = max(lastID, entry.id)
        // No checksum covers it, and a damaged one must not overflow.
        lastUse = max(lastUse, min(entry.lastUse, Int64(1) << 62))
        var plan = Plan()
        insert(entry, &plan)
        return plan.removed
    }

    /// Returns the entry of a key, which becomes the most recently used; `nil` if there is none.
    mutating func use(_ key: CacheDigest) -> DiskCacheEntry? {
        guard holds(key) else { return nil }
        lastUse += 1
        return entries.change(key) { entry in
            entry.lastUse = lastUse
            return entry
        }
    }

    /// Returns whether a response is stored for a key.
    func holds(_ key: CacheDigest) -> Bool { entries.peek(key).map { !unwritten.contains($0.id) } ?? false }

    /// Returns whether an entry is stored still.
    func holds(_ entry: DiskCacheEntry) -> Bool { entries.peek(entry.key)?.id == entry.id }

    /// Makes the changes, and returns the ones to write. A stored response is found only after ``commit(_:)``.
    mutating func plan(_ changes: [CacheTierChange]) -> Plan {
        var plan = Plan()
        for change in changes {
            switch change {
            case .store(let content, let key): store(content, for: key, &plan)
            case .remove(let key): remove(CacheDigest(key, isSealed: isSealed), &plan)
            case .removeTarget(let target):
                for key in targets[CacheDigest(Array(target.utf8))] ?? [] { remove(key, &plan) }
            case .clear(let scope):
                for key in entries.keys {
                    guard let entry = entries.peek(key) else { continue }
                    if scope.covers(service: entry.service, endpoint: entry.endpoint, account: entry.account) {
                        remove(key, &plan)
                    }
                }
            }
        }
        return plan
    }

    /// Removes an entry whose content is damaged.
    mutating func planRemoval(of entry: DiskCacheEntry) -> Plan {
        var plan = Plan()
        if holds(entry) { remove(entry.key, &plan) }
        return plan
    }

    /// Records that a plan was written.
    mutating func commit(_ plan: Plan) { for stored in plan.stored { unwritten.remove(stored.entry.id) } }

    private mutating func store(_ content: CacheTierEntry, for key: CacheTierKey, _ plan: inout Plan) {
        lastID += 1
        lastUse += 1
        var entry = DiskCacheEntry(
            id: lastID, key: CacheDigest(key, isSealed: isSealed), service: key.service, endpoint: key.endpoint,
            account: key.account, target: key.target.map { CacheDigest(Array($0.utf8)) }, kind: content.kind,
            metadataByteCount: content.metadata.count, bodyByteCount: content.body.count, lastUse: lastUse)
        entry.checksum = entry.contentChecksum(content)
        if insert(entry, &plan) {
            unwritten.insert(entry.id)
            plan.stored.append((entry, content))
        }
    }

    /// Inserts an entry in place of its key's last one, and evicts others for it. Returns `false` if it is larger than
    /// the limit.
    @discardableResult
    private mutating func insert(_ entry: DiskCacheEntry, _ plan: inout Plan) -> Bool {
        remove(entry.key, &plan)
        guard entries.canHold(entry.kind, byteCount: entry.byteCount) else {
            plan.removed.append(entry)
            return false
        }
        while let oldest = entries.valueToEvict(for: entry.kind, byteCount: entry.byteCount) {
            remove(oldest.key, &plan)
        }
        entries.insert(entry, for: entry.key, of: entry.kind, byteCount: entry.byteCount)
        if let target = entry.target { targets[target, default: []].insert(entry.key) }
        return true
    }

    private mutating func remove(_ key: CacheDigest, _ plan: inout Plan) {
        guard let entry = entries.remove(key) else { return }
        if let target = entry.target {
            targets[target]?.remove(key)
            if targets[target]?.isEmpty ?? false { targets[target] = nil }
        }
        if unwritten.remove(entry.id) != nil {
            plan.stored.removeAll { $0.entry.id == entry.id }
        } else {
            plan.removed.append(entry)
        }
    }
}
