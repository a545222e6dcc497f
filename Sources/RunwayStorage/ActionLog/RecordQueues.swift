/// Records in the order in which they came, in a queue for each priority, so that the one to evict is found at once.
struct RecordQueues: Sendable {
    /// The records of one priority. Those before the first are gone.
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
    private(set) var count = 0

    mutating func append(_ record: ActionRecord) {
        queues[record.priority, default: Queue()].records.append(record)
        count += 1
    }

    /// Removes the oldest record of the lowest priority.
    mutating func evict() -> ActionRecord? {
        for priority in queues.keys.sorted() {
            guard let evicted = queues[priority]?.removeFirst() else { continue }
            count -= 1
            return evicted
        }
        return nil
    }

    /// The oldest records, in the order in which they came.
    func first(_ maximumCount: Int) -> [ActionRecord] {
        var heads = queues.values.map { $0.records[$0.start...] }
        var first: [ActionRecord] = []
        while first.count < maximumCount,
            let index = heads.indices.filter({ !heads[$0].isEmpty }).min(by: {
                heads[$0].first?.number ?? 0 < heads[$1].first?.number ?? 0
            })
        {
            first.append(heads[index].removeFirst())
        }
        return first
    }

    /// Removes records that ``first(_:)`` returned. Those that were evicted meanwhile are gone already.
    mutating func remove(_ numbers: Set<UInt64>) {
        for priority in Array(queues.keys) {
            while let first = queues[priority]?.first, numbers.contains(first.number) {
                _ = queues[priority]?.removeFirst()
                count -= 1
            }
        }
    }

    /// Removes and returns the records for which a condition holds.
    mutating func removeAll(where condition: (ActionRecord) -> Bool) -> [ActionRecord] {
        var removed: [ActionRecord] = []
        for priority in Array(queues.keys) {
            guard let queue = queues[priority] else { continue }
            let records = queue.records[queue.start...]
            removed += records.filter(condition)
            queues[priority] = Queue(records: records.filter { !condition($0) })
        }
        count -= removed.count
        return removed
    }
}
