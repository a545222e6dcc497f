import Runway

/// A SHA-256 digest. Keys and targets are stored as digests, since they may contain secrets.
struct CacheDigest: Hashable, Sendable {
    let bytes: [UInt8]

    init(_ message: [UInt8]) {
        var hash = SHA256Hash()
        hash.update(message)
        bytes = hash.digest
    }

    init(_ key: CacheTierKey, isSealed: Bool) { self.init(isSealed ? key.canonicalForm + [0] : key.canonicalForm) }

    /// Creates a digest from stored bytes. Returns `nil` if their count is wrong.
    init?(reading bytes: [UInt8]) {
        guard bytes.count == 32 else { return nil }
        self.bytes = bytes
    }

    func hash(into hasher: inout Hasher) {
        bytes.withUnsafeBytes { hasher.combine(bytes: UnsafeRawBufferPointer(rebasing: $0.prefix(16))) }
    }
}

/// The data about one response that a ``DiskCache`` holds in memory.
struct DiskCacheEntry: Sendable {
    /// Identifies one stored version of a response. A new version has a new id.
    let id: Int64
    let key: CacheDigest
    let service: String
    let endpoint: String?
    let account: String?
    let target: CacheDigest?
    /// The kind of the response, which decides which budget the response uses.
    let kind: CacheKind
    let metadataByteCount: Int
    let bodyByteCount: Int
    /// The checksum of the key, id, metadata and body; see ``contentChecksum(_:)``.
    var checksum: UInt64 = 0
    /// The sequence number of the last use. The entry with the smallest number is evicted first.
    var lastUse: Int64

    /// The maximum size of a content that is stored in the database. A larger one is stored in its own file.
    static var maximumRowByteCount: Int { 16 << 10 }

    var contentByteCount: Int { metadataByteCount + bodyByteCount }
    var isInFile: Bool { contentByteCount > Self.maximumRowByteCount }
    /// The size of the response, as ``DiskCacheLimits/maximumByteCount`` counts it.
    var byteCount: Int { contentByteCount + 512 }

    /// Returns the checksum of the content, the key and the id. An equal content in another entry has another checksum.
    func contentChecksum(_ content: CacheTierEntry) -> UInt64 {
        var checksum = Checksum(seed: UInt64(bitPattern: id))
        checksum.add(key.bytes)
        checksum.add(content.metadata)
        checksum.add(content.body)
        return checksum.value
    }

    /// The checksum of all columns of the entry's row except the last use.
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

/// Decides which responses a ``DiskCache`` stores and evicts. It writes nothing itself: ``plan(_:)`` returns the
/// changes to write.
// Unchecked: all members are values, but `ValuesByKind` is not declared `Sendable`.
struct DiskCacheIndex: @unchecked Sendable {
    struct Plan {
        var stored: [(entry: DiskCacheEntry, content: CacheTierEntry)] = []
        var removed: [DiskCacheEntry] = []

        var isEmpty: Bool { stored.isEmpty && removed.isEmpty }
    }

    /// Whether contents are encrypted. Encrypted contents have other key digests, so a run without the encryption key
    /// does not find contents that it can't read.
    let isSealed: Bool
    private var entries: ValuesByKind<CacheKind, CacheDigest, DiskCacheEntry>
    private var targets: [CacheDigest: Set<CacheDigest>] = [:]
    /// The ids of entries that are not written yet. They count towards the limits, but lookups do not find them.
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

    /// Adds an entry that was read from disk. Entries have to be added in the order of their last use.
    ///
    /// - Returns: The entries to remove from the disk, possibly with `entry` itself: those beyond the present limits,
    ///   and an earlier entry with the same key.
    mutating func restore(_ entry: DiskCacheEntry) -> [DiskCacheEntry] {
        lastID = max(lastID, entry.id)
        // No checksum covers this number. A damaged number must not overflow.
        lastUse = max(lastUse, min(entry.lastUse, Int64(1) << 62))
        var plan = Plan()
        insert(entry, &plan)
        return plan.removed
    }

    /// Returns the index entry of a key, and marks it as the most recently used. Returns `nil` if no response is stored
    /// for the key.
    mutating func use(_ key: CacheDigest) -> DiskCacheEntry? {
        guard holds(key) else { return nil }
        lastUse += 1
        return entries.change(key) { entry in
            entry.lastUse = lastUse
            return entry
        }
    }

    func holds(_ key: CacheDigest) -> Bool { entries.peek(key).map { !unwritten.contains($0.id) } ?? false }

    func holds(_ entry: DiskCacheEntry) -> Bool { entries.peek(entry.key)?.id == entry.id }

    /// Applies changes in memory, and returns the changes to write. Lookups find a stored response only after
    /// ``commit(_:)``.
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

    mutating func planRemoval(of entry: DiskCacheEntry) -> Plan {
        var plan = Plan()
        if holds(entry) { remove(entry.key, &plan) }
        return plan
    }

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

    /// Inserts an entry, which replaces the previous entry of its key, and evicts other entries to make room. Returns
    /// `false` if the content of the entry is larger than the limit.
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
