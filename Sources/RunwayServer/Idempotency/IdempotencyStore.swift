public import Foundation
public import HTTPTypes
import RunwaySignatures

/// Stores the responses to requests with idempotency keys.
///
/// The implementation must be atomic: only one of several simultaneous claims of a key is ``IdempotencyClaim/claimed``.
/// It must store a record until the date that the caller passes, and remove it later.
public protocol IdempotencyStore: Sendable {
    /// Claims a key for the execution of a request.
    ///
    /// The implementation follows these rules:
    ///
    /// - If the key has no record, or only an expired one, it inserts a record with the token.
    /// - If the lease of a record has ended without a response, it replaces the record's token, so that the former
    ///   owner can no longer complete or release the record.
    /// - If a lease ends more than one day after `now` plus `lease`, the lease began before the clock was set back, and
    ///   counts as ended. The implementation removes claims with such leases before it throws
    ///   ``StoreRefusal/full(retryAfter:)``, since their end is far away.
    ///
    /// - Parameters:
    ///   - key: The key of a principal.
    ///   - fingerprint: Identifies the request that uses the key.
    ///   - token: Identifies the claim.
    ///   - now: The current date.
    ///   - lease: The time for which no other request can claim the key, unless the claim is completed or released
    ///     earlier.
    /// - Throws: ``StoreRefusal/full(retryAfter:)`` or ``StoreRefusal/busy``, to which ``IdempotencyMiddleware``
    ///   responds with 429, or any other error. The request is then not executed.
    func claim(
        _ key: IdempotencyKey, fingerprint: [UInt8], token: UUID, at now: Date, lease: Duration
    ) async throws -> IdempotencyClaim

    /// Stores the response of an execution until a date.
    ///
    /// After an error, the function is called again with the same token, although the response may already be stored:
    /// it must then also return `true`. After `false`, the client of an executed request would receive 409.
    ///
    /// - Returns: Whether the response is stored. `false`, without a change, if the record now has another token.
    func complete(
        _ key: IdempotencyKey, token: UUID, with response: IdempotentResponse, until expiry: Date
    ) async throws -> Bool

    /// Removes the record of a request that was not executed. Does nothing if the record now has another token.
    ///
    /// - Throws: Any error; the key stays claimed until the lease ends.
    func release(_ key: IdempotencyKey, token: UUID) async throws
}

/// An idempotency key of one principal. Keys of different principals differ even if their texts are equal. Both parts
/// are compared byte by byte.
public struct IdempotencyKey: Sendable, Hashable {
    /// The sender of the request.
    public var principal: String
    /// The key that the client chose.
    public var text: String

    /// Creates a key from its principal and its text.
    public init(principal: String, text: String) {
        self.principal = principal
        self.text = text
    }

    /// Returns whether the principals and the texts of two keys have the same bytes.
    public static func == (left: IdempotencyKey, right: IdempotencyKey) -> Bool {
        left.principal.isExactly(right.principal) && left.text.isExactly(right.text)
    }

    /// Hashes the bytes of the principal and the text.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(ExactText(principal))
        hasher.combine(ExactText(text))
    }
}

/// The result of ``IdempotencyStore/claim(_:fingerprint:token:at:lease:)``.
public enum IdempotencyClaim: Sendable, Hashable {
    /// The caller must execute the request now.
    case claimed
    /// Another request with the key is being executed; its lease ends at the date.
    case inFlight(until: Date)
    /// The request was executed, with this response.
    case completed(IdempotentResponse)
    /// The key was used with a different request.
    case mismatch
}

/// A stored response in an ``IdempotencyStore``.
public struct IdempotentResponse: Sendable, Hashable, Codable {
    /// The status code.
    public var status: Int
    /// The stored header fields.
    public var headerFields: HTTPFields
    /// The body; `nil` if it was too large to be stored.
    public var body: [UInt8]?

    /// Creates a stored response, for a custom store.
    public init(status: Int, headerFields: HTTPFields, body: [UInt8]?) {
        self.status = status
        self.headerFields = headerFields
        self.body = body
    }

    /// The approximate size of the response in bytes.
    package var byteCount: Int {
        headerFields.reduce((body?.count ?? 0) + 64) { $0 + $1.name.rawName.utf8.count + $1.value.utf8.count }
    }
}

/// Decides whether a claim without a response still excludes other claims.
package enum IdempotencyLease {
    /// The maximum difference between the clocks of servers, and between the leases of servers that share a store.
    private static let tolerance = Duration.seconds(86_400)

    /// Returns a lease in whole milliseconds, limited to about 30,000 years, so that adding it to a date does not
    /// overflow.
    package static func milliseconds(_ lease: Duration) -> Int64 {
        Int64(max(-1e15, min(lease / .milliseconds(1), 1e15)))
    }

    /// Returns the latest time at which a lease of any server can end. A lease that ends later is from before the clock
    /// was set back.
    ///
    /// - Parameters:
    ///   - now: The current date.
    ///   - lease: The length of a lease that begins now.
    package static func latestEnd(at now: Date, _ lease: Duration) -> Date {
        now.addingTimeInterval((lease + tolerance) / .seconds(1))
    }

    /// Returns whether a lease still excludes other claims.
    ///
    /// - Parameters:
    ///   - end: The end of the lease.
    ///   - now: The current date. The clock may have been set back since the lease began.
    ///   - lease: The length of a lease that begins now.
    package static func isHeld(until end: Date, at now: Date, _ lease: Duration) -> Bool {
        end > now && end <= latestEnd(at: now, lease)
    }
}

/// Limits for the contents of a store, in total and per principal.
package struct IdempotencyBounds: Sendable {
    private let count: Int
    private let byteCount: Int
    private let share: Double

    package init(count: Int, byteCount: Int, shareOfPrincipal share: Double) {
        self.count = max(1, count)
        self.byteCount = max(1, byteCount)
        self.share = share.isNaN ? 1 : max(0, min(share, 1))
    }

    /// Returns whether a principal may claim another key. The principal may use its share of the space that the other
    /// principals leave, and at least one key. A few principals therefore never fill a store: with a share of a tenth,
    /// ten principals use at most two thirds of it. The numbers may come from a damaged file and have any value.
    ///
    /// - Parameters:
    ///   - all: The contents of the store, of all principals.
    ///   - own: The contents of this principal.
    package func hasRoom(all: (count: Int, byteCount: Int), own: (count: Int, byteCount: Int)) -> Bool {
        func hasRoom(_ all: Int, _ own: Int, _ bound: Int) -> Bool {
            all < bound && Double(own) < max(1, ((Double(bound) - Double(all) + Double(own)) * share).rounded(.down))
        }
        return hasRoom(all.count, own.count, count) && hasRoom(all.byteCount, own.byteCount, byteCount)
    }
}
