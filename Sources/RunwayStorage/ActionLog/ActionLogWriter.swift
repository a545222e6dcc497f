import Foundation
import Runway

/// Writes the records of the buffer into the store. Records that arrive during one commit are written by the next
/// commit.
struct ActionLogWriter: Sendable {
    private static let groupSize = 1000

    let buffer: RecordBuffer
    let store: JournalQueue
    let sender: ActionLogSender

    /// Runs until the buffer is finished, and its records are written or can't be written.
    ///
    /// If the disk fails, records stay in the buffer. The writer tries again at the next record, at a flush, or after a
    /// delay that doubles each time.
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
        /// - Parameter waiting: The records that are waiting after the write; `nil` if nothing was written.
        case group(hasHigh: Bool, waiting: LogBatches.Reading?)
    }

    /// Writes all records in groups. Returns `false` if the disk failed.
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
            // The same operation counts the waiting records, so the file need not be read again, even during a pause
            // that the server asked for.
            let written = try await store.run {
                [entries, buffer, sender] journal throws(StorageError) -> (Set<UUID>, LogBatches.Reading)? in
                // The user may have opted out in an earlier run, and this run may not have read the decision yet.
                if try journal.isOptedOut() {
                    buffer.setOptedOut(true)
                    return nil
                }
                // Erased records must not be written. An erasure after this operation removes them from the file.
                if buffer.erasures != erasures { return nil }
                // The account is stored before its records, since an opt-out has to know every account with records.
                try journal.noteAccounts(Set(entries.map(\.scope)))
                return (try journal.append(entries, at: time), try sender.reading(in: journal))
            }
            guard let written else {
                // The next group contains the taken records that were not erased.
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
        // The records are removed before the receipts complete, so that a committed record is no longer in memory.
        buffer.removeTaken(rejected: rejected)
        for record in records {
            record.receipt.settle(failed[record.receipt.id].map(Result.failure) ?? .success(()))
        }
        return .group(hasHigh: records.contains { $0.priority == .high }, waiting: waiting)
    }
}
