import Foundation
import Runway

/// Writes what the buffer holds into the store: all that came during one commit in the next one.
struct ActionLogWriter: Sendable {
    /// The most records of one commit.
    private static let groupSize = 1000

    let buffer: RecordBuffer
    let store: JournalStore
    let sender: ActionLogSender

    /// Runs until the buffer is finished and what it held is written, or can't be.
    func run() async {
        for await _ in buffer.additions { await buffer.perform(writeAll) }
        await buffer.perform(writeAll)
    }

    private func writeAll() async {
        while let isHigh = await writeGroup() { await sender.refresh(isUrgent: isHigh) }
    }

    /// Writes one group.
    ///
    /// - Returns: Whether it held a record of high priority; `nil` if there was nothing to write, or the disk failed. Then the records stay
    ///   in the buffer, and the next record or flush has them written again.
    private func writeGroup() async -> Bool? {
        let (records, erasures) = buffer.first(Self.groupSize)
        if records.isEmpty { return nil }
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
        do throws(StorageError) {
            let time = buffer.time
            let evicted = try await store.run { [entries, buffer] journal throws(StorageError) -> Set<UUID>? in
                // Erased records are not written. An erasure that comes later runs after this, and removes them.
                buffer.erasures == erasures ? try journal.append(entries, at: time) : nil
            }
            guard let evicted else { return false }
            for id in evicted { failed[id] = StorageError(.full, "The record was evicted: the log is full.") }
        } catch {
            for record in records { record.receipt.settle(.failure(failed[record.receipt.id] ?? error)) }
            return nil
        }
        // First removed: who has awaited a receipt finds the record on disk, and not in memory.
        buffer.remove(Set(records.map(\.receipt.id)), rejected: rejected)
        for record in records {
            record.receipt.settle(failed[record.receipt.id].map(Result.failure) ?? .success(()))
        }
        return records.contains { $0.priority == .high }
    }
}
