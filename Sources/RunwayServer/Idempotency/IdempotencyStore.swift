public import Foundation
public import HTTPTypes
import RunwaySignatures

/// Stores the responses to requests with idempotency keys.
///
/// The implementation must be atomic: of several claims of a key at the same time, one is ``IdempotencyClaim/claimed``.
/// What it has is forgotten after the time that the caller names, and not before.
public protocol IdempotencyStore: Sendable {
    /// Claims a key for the execution of a request.
    ///
    /// If there is no record of the key, or only one that has expired, the implementation inserts one with the token.
    /// If there is one whose lease has ended without a response, the implementation replaces its token: the former
    /// owner is fenced out. A lease that ends more than a day later than one that begins now is taken to be from before
    /// the clock was set back: it has ended. The implementation removes such claims before it throws
    /// ``IdempotencyStoreFull``, since their date is far away.
    ///
    /// - Parameters:
    ///   - key: The key of a principal.
    ///   - fingerprint: Tells the request from others.
    ///   - token: Identifies the claim.
    ///   - now: The date.
    ///   - lease: How long nobody else can claim the key, unless the request completes or is released before.
    /// - Throws: ``IdempotencyStoreFull``, or any other error; the request is not executed.
    func claim(
        _ key: IdempotencyKey, fingerprint: [UInt8], token: UUID, at now: Date, lease: Duration
    ) async throws -> IdempotencyClaim

    /// Stores the response of an execution until a date.
    ///
    /// After an error it is called again with the same token, although the response may be stored: it must return
    /// `true` then, too. With `false` the client of a request that was executed would get 409.
    ///
    /// - Returns: Whether it is stored. `false` if the token is not the record's any more; nothing is changed then.
    /// - Throws: Any error; the record stays claimed, unless the response was stored.
    func complete(
        _ key: IdempotencyKey, token: UUID, with response: IdempotentResponse, until expiry: Date
    ) async throws -> Bool

    /// Removes a record whose request was not executed. Does nothing if the token is not the record's any more.
    ///
    /// - Throws: Any error; the record stays claimed until its lease ends.
    func release(_ key: IdempotencyKey, token: UUID) async throws
}

/// An idempotency key of one principal. The keys of others are different ones, whatever their text. Both parts are
/// compared byte by byte.
public struct IdempotencyKey: Sendable, Hashable {
    /// Who sent the request.
    public var principal: String
    /// The key that the client chose.
    public var text: String

    /// Combines the text of a key with the principal that it belongs to.
    public init(principal: String, text: String) {
        self.principal = principal
        self.text = text
    }

    /// Whether both parts have the same bytes.
    public static func == (left: IdempotencyKey, right: IdempotencyKey) -> Bool {
        left.principal.isExactly(right.principal) && left.text.isExactly(right.text)
    }

    /// Hashes the bytes of both parts.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(ExactText(principal))
        hasher.combine(ExactText(text))
    }
}

/// What an ``IdempotencyStore`` found.
public enum IdempotencyClaim: Sendable, Hashable {
    /// The request must be executed now by who claimed.
    case claimed
    /// A request with the key is being executed; its lease ends at the date.
    case inFlight(until: Date)
    /// The request was executed, with this response.
    case completed(IdempotentResponse)
    /// The key belongs to another request.
    case mismatch
}

/// A response as an ``IdempotencyStore`` has it.
public struct IdempotentResponse: Sendable, Hashable, Codable {
    /// The status.
    public var status: Int
    /// The header fields that are stored.
    public var headerFields: HTTPFields
    /// The body; `nil` if it was too large to be stored.
    public var body: [UInt8]?

    /// Lets a store of your own return a response that it has stored.
    public init(status: Int, headerFields: HTTPFields, body: [UInt8]?) {
        self.status = status
        self.headerFields = headerFields
        self.body = body
    }

    /// About how many bytes it takes.
    package var byteCount: Int {
        headerFields.reduce((body?.count ?? 0) + 64) { $0 + $1.name.rawName.utf8.count + $1.value.utf8.count }
    }
}

/// Decides whether a claim without a response holds off others.
package enum IdempotencyLease {
    /// How far the clocks of servers may be apart, and how much the leases of those that share a store may differ.
    private static let tolerance = Duration.seconds(86_400)

    /// The whole milliseconds of a lease, bounded to some 30,000 years, so that a sum with a date does not overflow.
    package static func milliseconds(_ lease: Duration) -> Int64 {
        Int64(max(-1e15, min(lease / .milliseconds(1), 1e15)))
    }

    /// The latest end of a lease that any server has begun. One that ends later is from before the clock was set back.
    ///
    /// - Parameters:
    ///   - now: The date.
    ///   - lease: The length of a lease that begins now.
    package static func latestEnd(at now: Date, _ lease: Duration) -> Date {
        now.addingTimeInterval((lease + tolerance) / .seconds(1))
    }

    /// Whether a lease has not ended.
    ///
    /// - Parameters:
    ///   - end: The end of the lease.
    ///   - now: The date, which may have been set back since the lease began.
    ///   - lease: The length of a lease that begins now.
    package static func isHeld(until end: Date, at now: Date, _ lease: Duration) -> Bool {
        end > now && end <= latestEnd(at: now, lease)
    }
}

/// How much a store may have, of all principals and of one.
package struct IdempotencyBounds: Sendable {
    private let count: Int
    private let byteCount: Int
    private let share: Double

    package init(count: Int, byteCount: Int, shareOfPrincipal share: Double) {
        self.count = max(1, count)
        self.byteCount = max(1, byteCount)
        self.share = share.isNaN ? 1 : max(0, min(share, 1))
    }

    /// Whether a principal may claim another key. It may use its share of what the others leave, so that a few
    /// principals never fill a store (ten fill two thirds of it at most if the share is a tenth), and at least one key.
    /// Numbers of a damaged file may have any value.
    ///
    /// - Parameters:
    ///   - all: What the store has of all principals.
    ///   - own: What it has of this one.
    package func hasRoom(all: (count: Int, byteCount: Int), own: (count: Int, byteCount: Int)) -> Bool {
        func hasRoom(_ all: Int, _ own: Int, _ bound: Int) -> Bool {
            all < bound && Double(own) < max(1, ((Double(bound) - Double(all) + Double(own)) * share).rounded(.down))
        }
        return hasRoom(all.count, own.count, count) && hasRoom(all.byteCount, own.byteCount, byteCount)
    }
}

/// A store has no room for another key, or none of its principal. ``IdempotencyMiddleware`` responds with 429.
public struct IdempotencyStoreFull: Error, CustomStringConvertible {
    /// Lets a store of your own refuse a key for which it has no room.
    public init() {}

    /// What happened, in one sentence.
    public var description: String { "The store has no room for another idempotency key." }
}
