public import Foundation
import RunwaySignatures
import Synchronization

/// Stores records in memory, for tests and demos. They are lost when the process ends.
public final class MemoryActionLogSink: ActionLogErasing {
    private struct State {
        var records: [ActionLogBatch.Record] = []
        var ids: Set<UUID> = []
        /// The owner, the installation and the counted bytes of each record.
        var owners: [UUID: (owner: ActionLogOwner, installation: UUID, byteCount: Int)] = [:]
        var highest: [UUID: Int64] = [:]
        var byteCounts: [UUID: Int] = [:]
        var byteCount = 0
    }

    /// The default quotas of a sink in memory: 256 MiB for the log.
    public static var quotas: ActionLogQuotas {
        var quotas = ActionLogQuotas()
        quotas.maximumByteCount = 256 << 20
        return quotas
    }

    /// Guards the records and the highest number of each stream.
    private let state = Mutex(State())
    private let gate: ActionLogGate
    private let now: @Sendable () -> Date

    /// Creates an empty sink.
    ///
    /// - Parameters:
    ///   - quotas: Limits for the stored bytes. The default is ``quotas``.
    ///   - now: Returns the current date, by which the daily shares of sources are computed. The default is the
    ///     system's clock.
    public init(
        quotas: ActionLogQuotas = MemoryActionLogSink.quotas, now: @escaping @Sendable () -> Date = { Date() }
    ) {
        gate = ActionLogGate(quotas)
        self.now = now
    }

    /// The records in the order of storage.
    public var records: [ActionLogBatch.Record] { state.withLock { $0.records } }

    /// Stores a batch in memory.
    ///
    /// - Throws: ``StoreRefusal`` if the batch exceeds a quota.
    public func store(_ batch: ActionLogBatch) throws(StoreRefusal) -> ActionLogStorage {
        try state.withLock { state throws(StoreRefusal) in
            let highest = state.highest[batch.stream] ?? 0
            if batch.number <= highest {
                let hasAll = batch.records.allSatisfy { state.ids.contains($0.id) }
                return hasAll ? .known : .gap(expected: highest + 1)
            }
            if batch.number > highest + 1 { return .gap(expected: highest + 1) }
            let milliseconds = Int64(now().timeIntervalSince1970 * 1000)
            var room = gate.room(of: gate.quotas.maximumByteCount - state.byteCount, at: milliseconds)
            let installationByteCount = state.byteCounts[batch.installation, default: 0]
            let refusal = room.refusal(of: batch, installationByteCount: installationByteCount) { state.ids }
            if let refusal { throw refusal }
            var duplicates: Set<UUID> = []
            var byteCount = batch.streamByteCount
            for record in batch.records {
                if state.ids.insert(record.id).inserted {
                    state.records.append(record)
                    let owner = batch.account.map(ActionLogOwner.account) ?? .nobody(installation: batch.installation)
                    state.owners[record.id] = (owner, batch.installation, batch.byteCount(of: record))
                    byteCount += batch.byteCount(of: record)
                } else {
                    duplicates.insert(record.id)
                }
            }
            state.highest[batch.stream] = batch.number
            state.byteCounts[batch.installation, default: 0] += byteCount
            state.byteCount += byteCount
            room.add(byteCount, of: batch)
            room.didCommit()
            return .stored(duplicates: duplicates)
        }
    }

    /// Removes the records of an account. Their ids stay.
    public func erase(account: String) {
        erase { if case .account(let owner) = $0 { owner.isExactly(account) } else { false } }
    }

    /// Removes the records of an installation that have no account. Their ids stay.
    public func erase(anonymousRecordsOf installation: UUID) {
        erase { if case .nobody(let owner) = $0 { owner == installation } else { false } }
    }

    private func erase(where isErased: (ActionLogOwner) -> Bool) {
        state.withLock { state in
            let erased = state.owners.filter { isErased($0.value.owner) }
            state.records.removeAll { erased[$0.id] != nil }
            for (id, record) in erased {
                state.owners[id] = nil
                let contents = record.byteCount - ActionLogBatch.rowByteCount
                state.byteCounts[record.installation, default: 0] -= contents
                state.byteCount -= contents
            }
        }
    }
}
