/// Stores responses in addition to memory, for example on the device's disk.
///
/// Pass a tier to the initialiser of ``NetworkLayer``. It is used only for endpoints whose ``CachePolicy`` stores on
/// disk, and never in the synchronous part of a call. No call waits for it longer than
/// ``ResponseCache/maximumTierWait``. Changes are serialised; lookups may run concurrently. A failure of the tier never
/// makes a call fail. After a failed lookup, the call continues as if nothing were stored. Failed removals are repeated
/// before any other change; until then, the entries that they cover are not found.
///
/// The implementation limits its size and evicts least recently used entries. It need not know lifetimes: an entry
/// contains all data that a policy needs, and a key contains everything that identifies the caller.
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
    /// Returns the response that is stored under a key, or `nil` if the tier has none.
    func find(_ key: CacheTierKey) async throws -> CacheTierEntry?
    /// Returns `false` if the tier knows, without waiting for a disk or another thread, that it has no entry under a
    /// key. The tier is then not searched. The default is `true`.
    func mayHold(_ key: CacheTierKey) -> Bool
    /// Applies changes in order. If it throws, any of the changes may have been applied. The cache then removes the
    /// entries that should have been stored, and repeats the removals.
    func apply(_ changes: [CacheTierChange]) async throws
}

extension CacheTier {
    /// Returns `true`, the default: every key is looked up.
    public func mayHold(_ key: CacheTierKey) -> Bool { true }
}

/// One change of a ``CacheTier``.
public enum CacheTierChange: Sendable, Hashable {
    /// Stores an entry in place of the previous entry under the key.
    case store(CacheTierEntry, for: CacheTierKey)
    /// Removes the entry under the key.
    case remove(CacheTierKey)
    /// Removes the entries of all keys with this ``CacheTierKey/target``, for every account.
    case removeTarget(String)
    /// Removes all entries in a scope, including entries of earlier launches.
    case clear(CacheScope)

    /// Returns whether the change removes the entry under a key. A change that stores an entry removes none.
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
    /// The name of the service that the entry belongs to.
    public let service: String
    /// The name of the endpoint. `nil` for responses of ``CachePolicy/http(onDisk:)``, which belong to a target.
    public let endpoint: String?
    /// The account of the call; `nil` if no account was signed in.
    public let account: String?
    /// The URL that responses of ``CachePolicy/http(onDisk:)`` belong to; `nil` for other responses. It may contain
    /// secrets, like the ``canonicalForm``.
    public let target: String?
    /// Bytes in which the keys of different responses differ. They are the same in every launch of the app.
    ///
    /// They contain the secrets that the request contains. A tier must store a cryptographic digest of these bytes,
    /// such as SHA-256, never the bytes themselves.
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

    /// Hashes ``canonicalForm``.
    public func hash(into hasher: inout Hasher) { hasher.combine(canonicalForm) }
}

/// The entry that a ``CacheTier`` stores under a key. Runway writes and reads its bytes.
public struct CacheTierEntry: Sendable, Hashable, Codable {
    /// The header fields and all other data that determine how the body may be used.
    public var metadata: [UInt8]
    /// The response body without content codings.
    public var body: [UInt8]
    /// The kind of the response, for a tier with a budget for each kind. The kind of an entry that the tier returns is
    /// ignored.
    public var kind: CacheKind

    /// Creates an entry from the bytes that a tier read from its storage.
    public init(metadata: [UInt8], body: [UInt8], kind: CacheKind = .standard) {
        self.metadata = metadata
        self.body = body
        self.kind = kind
    }
}
