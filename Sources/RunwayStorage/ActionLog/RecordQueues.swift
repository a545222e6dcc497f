/// Records in the order of recording, in one queue per priority, so that the next record to evict is found at once.
struct RecordQueues: Sendable {
    /// The records of one priority. The elements before `first` are removed already.
    private struct Queue: Sendable {
        var records: [ActionRecord] = []
        var start = 0

        var first: ActionRecord? { start < records.count ? records[start] : nil }

        mutating func removeFirst() -> ActionRecord? {
            guard let first else { return nil }
            start += 1
            if start > 64, start * 2 > records.count {
                records.removeFirst(start)
                start = 0
            }
            return first
        }
    }

    private var queues: [ActionPriority: Queue] = [:]
    /// The records that are being written, in the order of recording. They are not evicted.
    private var taken: [ActionRecord] = []
    private(set) var count = 0
    private(set) var byteCount = 0

    mutating func append(_ record: ActionRecord) {
        queues[record.priority, default: Queue()].records.append(record)
        count += 1
        byteCount += record.byteCount
    }

    mutating func evict() -> ActionRecord? {
        for priority in queues.keys.sorted() {
            guard let evicted = queues[priority]?.removeFirst() else { continue }
            count -= 1
            byteCount -= evicted.byteCount
            return evicted
        }
        return nil
    }

    /// Takes the oldest records for writing, in the order of recording. ``removeTaken()`` or ``restoreTaken()`` must
    /// follow.
    mutating func take(_ maximumCount: Int) -> [ActionRecord] {
        precondition(taken.isEmpty, "one group is written at a time")
        while taken.count < maximumCount,
            let oldest = queues.min(by: { ($0.value.first?.number ?? .max) < ($1.value.first?.number ?? .max) }),
            let record = queues[oldest.key]?.removeFirst()
        {
            taken.append(record)
        }
        return taken
    }

    /// Removes the taken records, which are on disk or were rejected.
    mutating func removeTaken() {
        count -= taken.count
        byteCount -= taken.reduce(0) { $0 + $1.byteCount }
        taken = []
    }

    /// Puts the taken records back, before all other records.
    mutating func restoreTaken() {
        for (priority, records) in Dictionary(grouping: taken, by: \.priority) {
            guard let queue = queues[priority] else { continue }
            queues[priority] = Queue(records: records + queue.records[queue.start...])
        }
        taken = []
    }

    mutating func removeAll(where condition: (ActionRecord) -> Bool) -> [ActionRecord] {
        var removed = taken.filter(condition)
        taken.removeAll(where: condition)
        for priority in Array(queues.keys) {
            guard let queue = queues[priority] else { continue }
            let records = queue.records[queue.start...]
            removed += records.filter(condition)
            queues[priority] = Queue(records: records.filter { !condition($0) })
        }
        count -= removed.count
        byteCount -= removed.reduce(0) { $0 + $1.byteCount }
        return removed
    }
}
