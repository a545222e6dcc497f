public import HTTPTypes

public import struct Foundation.Date

/// A place below memory where answers are kept, such as the device's disk.
///
/// A layer is given one at ``NetworkLayer``'s initialiser. It is asked only for
/// endpoints whose ``CachePolicy`` names ``CacheTiers/disk``, never in the caller's turn, and for no longer than
/// ``ResponseCache/maximumTierWait``. Operations that change it come one after the other, in the order in which they were meant; looks may
/// come beside them. What it throws fails no call: a look that failed found nothing, and a clear that failed is done again before
/// anything else, while nothing that it covers is found.
///
/// The implementation bounds what it holds and lets go of the least recently used. It need not know lifetimes.
public protocol CacheTier: Sendable {
    /// The answer kept under a key; `nil` if there is none.
    func find(_ key: CacheKey) async throws -> StoredAnswer?
    /// Keeps an answer in the place of the key's last one.
    func keep(_ answer: StoredAnswer, for key: CacheKey) async throws
    /// Lets go of a key's answer.
    func remove(_ key: CacheKey) async throws
    /// Lets go of all answers in a scope, those of earlier launches too.
    func clear(_ scope: CacheScope) async throws
}

/// An answer as a ``CacheTier`` stores it.
public struct StoredAnswer: Sendable, Hashable, Codable {
    /// Status and header fields.
    public var head: HTTPResponse
    /// The body, with codings undone.
    public var bytes: [UInt8]
    /// The date at which it came from the server.
    public var date: Date

    /// Makes a stored answer.
    public init(head: HTTPResponse, bytes: [UInt8], date: Date) {
        self.head = head
        self.bytes = bytes
        self.date = date
    }

    init(_ kept: KeptAnswer) {
        self.init(head: kept.rawData.response, bytes: kept.rawData.bytes, date: kept.date)
    }
}
