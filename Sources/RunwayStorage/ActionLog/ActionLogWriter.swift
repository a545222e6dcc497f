import Foundation
import Runway

/// Writes the records of the buffer into the store. The records that arrive during one commit are written by the next.
struct ActionLogWriter: Sendable {
    /// The most records of one commit.
    private static let groupSize = 1000

    let buffer: RecordBuffer
    let store: JournalStore
    let sender: ActionLogSender

    /// Runs until the buffer is finished and its records are written, or can't be written.
    ///
    /// If the disk fails, records stay in the buffer. The next record, a flush, or a timer whose wait doubles makes the
    /// writer try again.
    func run() async {
        var failures = 0
        var alarm: Task<Void, any Error>?
        for await _ in buffer.additions {
            alarm?.cancel()
            alarm = nil
            if await buffer.perform(writeAll) {
                failures = 0
            } else {
                failures += 1
                let wait = buffer.options.backoff.bound(after: failures)
                alarm = Task { [buffer] in
                    try await buffer.clock.sleep(until: buffer.clock.now + wait)
                    buffer.wake()
                }
            }
        }
        alarm?.cancel()
        if await !buffer.perform(writeAll) { buffer.abandon() }
    }

    private enum Written {
        case nothing, failed
        /// - Parameter waiting: The records that wait after that; `nil` if nothing was written.
        case group(hasHigh: Bool, waiting: LogBatches.Reading?)
    }

    /// Writes group after group; returns `false` if the disk failed.
    private func writeAll() async -> Bool {
        while true {
            switch await writeGroup() {
            case .nothing: return true
            case .failed: return false
            case .group(let hasHigh, let waiting):
                if let waiting { sender.loop.change { $0.policy.note(waiting, isUrgent: hasHigh) } }
            }
        }
    }

    private func writeGroup() async -> Written {
        let (records, erasures) = buffer.take(Self.groupSize)
        if records.isEmpty { return .nothing }
        var entries: [JournalEntry] = []
        var failed: [UUID: StorageError] = [:]
        for record in records {
            do throws(StorageError) {
                let entry = try record.entry(
                    boot: buffer.boot, redaction: buffer.options.redaction,
                    maximumByteCount: buffer.options.maximumRecordByteCount)
                entries.append(entry)
            } catch {
                failed[record.receipt.id] = error
            }
        }
        let rejected = failed.count
        let waiting: LogBatches.Reading
        do throws(StorageError) {
            let time = buffer.time
            // The waiting records are counted in the same operation, so that nothing else is read while the server asks
            // to wait.
            let written = try await store.run {
                [entries, buffer, sender] journal throws(StorageError) -> (Set<UUID>, LogBatches.Reading)? in
                // An earlier run may have been opted out, which this one has not read before.
                if try journal.isOptedOut() {
                    buffer.setOptedOut(true)
                    return nil
                }
                // Erased records are not written. A later erasure runs after this operation, and removes them.
                if buffer.erasures != erasures { return nil }
                // Before the records: of an account that has any, an opt-out must know.
                try journal.noteAccounts(Set(entries.map(\.scope)))
                return (try journal.append(entries, at: time), try sender.reading(in: journal))
            }
            guard let written else {
                // The records that were not erased are written with the next group.
                buffer.restoreTaken()
                return .group(hasHigh: false, waiting: nil)
            }
            let evicted = written.0
            waiting = written.1
            for id in evicted { failed[id] = StorageError(.full, "The record was evicted: the log is full.") }
        } catch {
            buffer.restoreTaken()
            for record in records { record.receipt.settle(.failure(failed[record.receipt.id] ?? error)) }
            return .failed
        }
        // Removed before the receipts are settled: after a receipt, the record is on disk and no longer in memory.
        buffer.removeTaken(rejected: rejected)
        for record in records {
            record.receipt.settle(failed[record.receipt.id].map(Result.failure) ?? .success(()))
        }
        return .group(hasHigh: records.contains { $0.priority == .high }, waiting: waiting)
    }
}
