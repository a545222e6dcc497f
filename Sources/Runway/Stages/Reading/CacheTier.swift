public import HTTPTypes

public import struct Foundation.Date

/// Stores responses below memory, for example on the device's disk.
///
/// Pass one to the initialiser of ``NetworkLayer``. It is used only for endpoints whose ``CachePolicy`` stores on disk, never
/// in the caller's turn, and for no longer than ``ResponseCache/maximumTierWait``. Writes are serialised; lookups may run concurrently.
/// A failure fails no call: a lookup that failed found nothing, and a clear that failed is repeated before any other operation;
/// until then, nothing that it covers is found.
///
/// The implementation limits its size and evicts least recently used entries. It need not know lifetimes: an entry contains all
/// that a policy needs, and a key all that identifies the caller.
///
/// ```swift
/// actor DictionaryTier: CacheTier {
///     private var entries: [CacheKey: CacheTierEntry] = [:]
///
///     func find(_ key: CacheKey) -> CacheTierEntry? { entries[key] }
///     func store(_ entry: CacheTierEntry, for key: CacheKey) { entries[key] = entry }
///     func remove(_ key: CacheKey) { entries[key] = nil }
///     func clear(_ scope: CacheScope) { entries = entries.filter { !scope.covers($0.key) } }
/// }
/// ```
public protocol CacheTier: Sendable {
    /// Returns the entry of a key; `nil` if there is none.
    func find(_ key: CacheKey) async throws -> CacheTierEntry?
    /// Stores an entry in place of the key's last one.
    func store(_ entry: CacheTierEntry, for key: CacheKey) async throws
    /// Removes the entry of a key.
    func remove(_ key: CacheKey) async throws
    /// Removes all entries in a scope, including those of earlier launches.
    func clear(_ scope: CacheScope) async throws
}

/// A response as a ``CacheTier`` stores it.
public struct CacheTierEntry: Sendable, Hashable, Codable {
    /// Status and header fields.
    public var head: HTTPResponse
    /// The body, with codings undone.
    public var bytes: [UInt8]
    /// The date at which the response was received.
    public var date: Date

    /// An entry with what a tier read back from its storage.
    public init(head: HTTPResponse, bytes: [UInt8], date: Date) {
        self.head = head
        self.bytes = bytes
        self.date = date
    }

    init(_ response: CachedResponse) {
        self.init(head: response.rawData.response, bytes: response.rawData.bytes, date: response.date)
    }
}
