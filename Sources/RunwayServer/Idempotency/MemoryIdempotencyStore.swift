public import Foundation
import RunwaySignatures
import Synchronization

/// Stores responses in memory, for one process. After a restart, a repeated request is executed again.
///
/// Expired records, and claims from before the clock was set back, make space for new keys within a second. No other
/// record is removed: a full store refuses every claim. A principal may use a share of the space that the other
/// principals leave. Only principals that have used up their share are refused before the store is full.
public final class MemoryIdempotencyStore: IdempotencyStore {
    fileprivate struct Record {
        var fingerprint: [UInt8]
        var token: UUID
        var response: IdempotentResponse?
        /// The end of the lease, or of the response's lifetime.
        var expiry: Date
    }

    private struct Tally {
        var count = 0
        var byteCount = 0

        mutating func replace(_ old: Record?, by new: Record?) {
            count += (new == nil ? 0 : 1) - (old == nil ? 0 : 1)
            byteCount += (new?.byteCount ?? 0) - (old?.byteCount ?? 0)
        }
    }

    private struct State {
        var records: [IdempotencyKey: Record] = [:]
        var all = Tally()
        var principals: [ExactText: Tally] = [:]
        /// The time of the last search for expired records.
        var lastSearch: Date?

        /// Replaces the record of a key, and updates the byte counts.
        mutating func set(_ key: IdempotencyKey, _ record: Record?) {
            let (principal, old) = (ExactText(key.principal), records[key])
            all.replace(old, by: record)
            var own = principals[principal] ?? Tally()
            own.replace(old, by: record)
            principals[principal] = own.count > 0 ? own : nil
            records[key] = record
        }

        /// Removes expired records, at most once a second: a search reads all records, and refused requests may be
        /// frequent.
        mutating func removeEnded(at now: Date, _ lease: Duration) {
            if let lastSearch, abs(now.timeIntervalSince(lastSearch)) < 1 { return }
            lastSearch = now
            for (key, record) in records where record.isOver(at: now, lease) { set(key, nil) }
        }

        func hasRoom(for key: IdempotencyKey, _ bounds: IdempotencyBounds) -> Bool {
            let own = principals[ExactText(key.principal)] ?? Tally()
            return bounds.hasRoom(all: (all.count, all.byteCount), own: (own.count, own.byteCount))
        }
    }

    private let bounds: IdempotencyBounds
    /// Guards the records.
    private let state = Mutex(State())

    /// Creates an empty store with limits in total and per principal.
    ///
    /// - Parameters:
    ///   - maximumCount: The maximum number of keys. The default is 100,000.
    ///   - maximumByteCount: The maximum size of the responses in bytes. Every claim is refused while this size is
    ///     reached. The default is 64 MiB.
    ///   - share: The share of both limits that one principal may use: a fraction, from 0 to 1, of the space that the
    ///     other principals leave. The default is a tenth.
    public init(maximumCount: Int = 100_000, maximumByteCount: Int = 64 << 20, shareOfPrincipal share: Double = 0.1) {
        bounds = IdempotencyBounds(count: maximumCount, byteCount: maximumByteCount, shareOfPrincipal: share)
    }

    /// Claims an idempotency key for the execution of a request. Returns whether the caller has to execute the request,
    /// or the stored response.
    public func claim(
        _ key: IdempotencyKey, fingerprint: [UInt8], token: UUID, at now: Date, lease: Duration
    ) throws -> IdempotencyClaim {
        try state.withLock { state in
            if let record = state.records[key] {
                if record.response != nil {
                    if record.expiry > now { return record.claim(fingerprint) }
                } else if record.fingerprint != fingerprint {
                    return .mismatch
                } else if IdempotencyLease.isHeld(until: record.expiry, at: now, lease) {
                    return .inFlight(until: record.expiry)
                }
            } else if !state.hasRoom(for: key, bounds) {
                state.removeEnded(at: now, lease)
                guard state.hasRoom(for: key, bounds) else { throw StoreRefusal.full() }
            }
            let expiry = now.addingTimeInterval(lease / .seconds(1))
            state.set(key, Record(fingerprint: fingerprint, token: token, expiry: expiry))
            return .claimed
        }
    }

    /// Stores the response to a request that was executed under a claimed key.
    public func complete(
        _ key: IdempotencyKey, token: UUID, with response: IdempotentResponse, until expiry: Date
    ) -> Bool {
        state.withLock { state in
            guard var record = state.records[key], record.token == token else { return false }
            (record.response, record.expiry) = (response, expiry)
            state.set(key, record)
            return true
        }
    }

    /// Removes the claim of a key whose request was not executed, so that the key can be claimed again.
    public func release(_ key: IdempotencyKey, token: UUID) {
        state.withLock { state in
            guard let record = state.records[key], record.token == token, record.response == nil else { return }
            state.set(key, nil)
        }
    }
}

extension MemoryIdempotencyStore.Record {
    fileprivate var byteCount: Int { fingerprint.count + (response?.byteCount ?? 0) }

    /// Returns whether the response has expired or, without a response, whether the lease has ended.
    fileprivate func isOver(at now: Date, _ lease: Duration) -> Bool {
        response == nil ? !IdempotencyLease.isHeld(until: expiry, at: now, lease) : expiry <= now
    }

    /// Returns the result of claiming a key whose record has a response.
    fileprivate func claim(_ fingerprint: [UInt8]) -> IdempotencyClaim {
        guard self.fingerprint == fingerprint, let response else { return .mismatch }
        return .completed(response)
    }
}
