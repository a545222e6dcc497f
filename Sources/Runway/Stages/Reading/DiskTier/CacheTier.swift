/// Stores responses below memory, for example on the device's disk.
///
/// Pass one to the initialiser of ``NetworkLayer``. It is used only for endpoints whose ``CachePolicy`` stores on disk,
/// never in the caller's turn, and for no longer than ``ResponseCache/maximumTierWait``. Changes are serialised;
/// lookups may run concurrently. A failure fails no call: a lookup that failed found nothing, and removals that failed
/// are repeated before any other change; until then, nothing that they cover is found.
///
/// The implementation limits its size and evicts least recently used entries. It need not know lifetimes: an entry
/// contains all that a policy needs, and a key all that identifies the caller.
///
/// ```swift
/// actor DictionaryTier: CacheTier {
///     private var entries: [CacheTierKey: CacheTierEntry] = [:]
///
///     func find(_ key: CacheTierKey) -> CacheTierEntry? { entries[key] }
///
///     func apply(_ changes: [CacheTierChange]) {
///
///         for change in changes {
///             if case .store(let entry, let key) = change { entries[key] = entry }
///             entries = entries.filter { !change.removes($0.key) }
///         }
///     }
/// }
/// ```
public protocol CacheTier: Sendable {
    /// Returns the entry of a key; `nil` if the tier has none.
    func find(_ key: CacheTierKey) async throws -> CacheTierEntry?
    /// Returns `false` if the tier knows, without waiting for a drive or for another thread's work, that it has no
    /// entry of a key. No lookup is made then. The default is `true`.
    func mayHold(_ key: CacheTierKey) -> Bool
    /// Applies changes in their order. If it throws, any of them may have been applied: entries that should have been
    /// stored are then removed, and removals are repeated.
    func apply(_ changes: [CacheTierChange]) async throws
}

extension CacheTier {
    /// `true`: every key is looked up.
    public func mayHold(_ key: CacheTierKey) -> Bool { true }
}

/// One change of a ``CacheTier``.
public enum CacheTierChange: Sendable, Hashable {
    /// Stores an entry in place of the key's last one.
    case store(CacheTierEntry, for: CacheTierKey)
    /// Removes the entry of a key.
    case remove(CacheTierKey)
    /// Removes the entries of all keys with this ``CacheTierKey/target``, whoever they belong to.
    case removeTarget(String)
    /// Removes all entries in a scope, including those of earlier launches.
    case clear(CacheScope)

    /// Returns whether the change removes the entry of a key. A change that stores an entry removes none.
    public func removes(_ key: CacheTierKey) -> Bool {
        switch self {
        case .store: false
        case .remove(let removed): removed == key
        case .removeTarget(let target): key.target == target
        case .clear(let scope): scope.covers(key)
        }
    }
}

/// Identifies an entry of a ``CacheTier``, in every launch of the app.
public struct CacheTierKey: Sendable, Hashable {
    /// The name of the service.
    public let service: String
    /// The name of the endpoint; `nil` for the responses of ``CachePolicy/http(onDisk:)``, which belong to a target.
    public let endpoint: String?
    /// The account of the call; `nil` if no account was signed in.
    public let account: String?
    /// The URL to which responses of ``CachePolicy/http(onDisk:)`` belong; `nil` for others. It may contain secrets,
    /// like the ``canonicalForm``.
    public let target: String?
    /// Everything that distinguishes keys, as bytes that are the same in every launch of the app.
    ///
    /// The form contains the secrets that the request contains. A tier stores a cryptographic digest of the form, such
    /// as SHA-256, never the bytes.
    public let canonicalForm: [UInt8]

    init(_ key: CacheKey) {
        (service, endpoint, account, target) = (key.service, key.endpoint, key.account, nil)
        canonicalForm = key.canonicalForm
    }

    init(_ uri: HTTPCacheURI, _ partition: CachePartition) {
        (service, endpoint, account) = (partition.serviceName, nil, partition.account)
        target = uri.text
        var form = CanonicalForm()
        form.add("")
        form.add(partition)
        form.add(uri.text)
        canonicalForm = form.bytes
    }

    /// Returns whether two keys identify the same entry.
    public static func == (lhs: CacheTierKey, rhs: CacheTierKey) -> Bool { lhs.canonicalForm == rhs.canonicalForm }

    /// Feeds the canonical form, which distinguishes all keys.
    public func hash(into hasher: inout Hasher) { hasher.combine(canonicalForm) }
}

/// The entry that a ``CacheTier`` stores for a key, in bytes that Runway writes and reads.
public struct CacheTierEntry: Sendable, Hashable, Codable {
    /// The header fields and all else that decides on the use of the body.
    public var metadata: [UInt8]
    /// The body, with codings undone.
    public var body: [UInt8]
    /// The kind of the response, for a tier that has a budget for each kind. The kind in an entry that the tier returns
    /// has no effect.
    public var kind: CacheKind

    /// Makes an entry of the bytes that a tier read from its storage.
    public init(metadata: [UInt8], body: [UInt8], kind: CacheKind = .standard) {
        self.metadata = metadata
        self.body = body
        self.kind = kind
    }
}
