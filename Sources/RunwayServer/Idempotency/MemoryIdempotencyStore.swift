public import Foundation
import Synchronization

/// Stores responses in memory, for one process: a restart forgets them, and a request that is sent again is executed again.
///
/// Records that have expired make room for others. None is removed before: a full store claims nothing more.
public final class MemoryIdempotencyStore: IdempotencyStore {
    fileprivate struct Record {
        var fingerprint: [UInt8]
        var token: UUID
        var response: IdempotentResponse?
        /// The end of the lease, or of the life of the response.
        var expiry: Date
    }

    private struct State {
        var records: [IdempotencyKey: Record] = [:]
        var byteCount = 0

        /// Replaces the record of a key, and counts its bytes.
        mutating func set(_ key: IdempotencyKey, _ record: Record?) {
            byteCount -= records[key]?.byteCount ?? 0
            byteCount += record?.byteCount ?? 0
            records[key] = record
        }
    }

    private let maximumCount: Int
    private let maximumByteCount: Int
    /// Guards the records.
    private let state = Mutex(State())

    /// Creates an empty store.
    ///
    /// - Parameters:
    ///   - maximumCount: The most keys. The default is 100,000.
    ///   - maximumByteCount: The most bytes of responses: once there are as many, no key is claimed. The default is 64 MiB.
    public init(maximumCount: Int = 100_000, maximumByteCount: Int = 64 << 20) {
        self.maximumCount = maximumCount
        self.maximumByteCount = maximumByteCount
    }

    /// Claims a key.
    public func claim(
        _ key: IdempotencyKey, fingerprint: [UInt8], token: UUID, at now: Date, lease: Duration
    ) throws -> IdempotencyClaim {
        try state.withLock { state in
            if let record = state.records[key] {
                if record.response != nil {
                    if record.expiry > now { return record.claim(fingerprint) }
                } else if record.fingerprint != fingerprint {
                    return .mismatch
                } else if record.expiry > now {
                    return .inFlight(until: record.expiry)
                }
            } else if state.records.count >= maximumCount || state.byteCount >= maximumByteCount {
                for (key, record) in state.records where record.expiry <= now { state.set(key, nil) }
                guard state.records.count < maximumCount, state.byteCount < maximumByteCount else {
                    throw IdempotencyStoreFull()
                }
            }
            let expiry = now.addingTimeInterval(lease / .seconds(1))
            state.set(key, Record(fingerprint: fingerprint, token: token, expiry: expiry))
            return .claimed
        }
    }

    /// Stores a response.
    public func complete(
        _ key: IdempotencyKey, token: UUID, with response: IdempotentResponse, until expiry: Date
    ) -> Bool {
        state.withLock { state in
            guard var record = state.records[key], record.token == token, record.response == nil else { return false }
            (record.response, record.expiry) = (response, expiry)
            state.set(key, record)
            return true
        }
    }

    /// Removes a record whose request was not executed.
    public func release(_ key: IdempotencyKey, token: UUID) {
        state.withLock { state in
            guard let record = state.records[key], record.token == token, record.response == nil else { return }
            state.set(key, nil)
        }
    }
}

extension MemoryIdempotencyStore.Record {
    fileprivate var byteCount: Int { fingerprint.count + (response?.byteCount ?? 0) }

    /// What a claim of a record with a response finds.
    fileprivate func claim(_ fingerprint: [UInt8]) -> IdempotencyClaim {
        guard self.fingerprint == fingerprint, let response else { return .mismatch }
        return .completed(response)
    }
}
