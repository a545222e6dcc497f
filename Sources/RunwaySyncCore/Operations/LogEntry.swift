/// One transaction in the log of a space, with the row changes that the server decided on (rules 5 and 9).
package struct LogEntry: Hashable, Sendable {
    /// The log number. Numbers have no gaps.
    package let number: Int64
    /// A hash of this entry and all before it, so that two histories that differ have different tags (rule 12).
    package let tag: UInt64
    package let device: Identifier
    /// The id of the transaction, which is the id of its first operation.
    package let transaction: Identifier
    /// The last operation of the transaction in the chain of its device.
    package let end: ChainEnd
    /// The decided changes, which pages carry in parts (``LogPart``). An entry without a change has one empty part.
    package let changes: [RowChange]

    package init(
        number: Int64, tag: UInt64, device: Identifier, transaction: Identifier, end: ChainEnd, changes: [RowChange]
    ) {
        (self.number, self.tag, self.device, self.transaction) = (number, tag, device, transaction)
        (self.end, self.changes) = (end, changes)
    }
}

/// A part of a log entry that fits into a page (rule 9).
package struct LogPart: Hashable, Sendable {
    /// The entry, with the changes of this part only.
    package let entry: LogEntry
    /// The number of changes in the earlier parts of the entry.
    package let offset: Int
    package let isLast: Bool

    package init(entry: LogEntry, offset: Int, isLast: Bool) {
        (self.entry, self.offset, self.isLast) = (entry, offset, isLast)
    }

    /// Cuts a part out of an entry.
    ///
    /// - Parameters:
    ///   - offset: The number of changes to skip.
    ///   - limit: The largest number of changes to take, at least 1.
    ///   - byteLimit: The size in bytes at which the part takes no more changes. The first change may be larger.
    package init(_ entry: LogEntry, from offset: Int, limit: Int, byteLimit: Int = .max) {
        let changes = entry.changes.dropFirst(max(offset, 0)).prefix(limit: limit, byteLimit: byteLimit) {
            $0.byteCount
        }
        self.entry = LogEntry(
            number: entry.number, tag: entry.tag, device: entry.device, transaction: entry.transaction, end: entry.end,
            changes: changes)
        self.offset = offset
        isLast = offset + changes.count >= entry.changes.count
    }
}

/// A place in the log of one history: the last entry that a device has applied (rule 12).
package struct Cursor: Hashable, Sendable {
    package let epoch: Identifier
    package let number: Int64
    /// The tag of the entry; 0 before the first.
    package let tag: UInt64

    /// Returns the cursor after a transaction. Its tag is a hash of everything that the decision on the transaction
    /// depends on.
    func next(_ transaction: Identifier, from device: Identifier, at time: HybridTime) -> Cursor {
        let tag = [transaction.high, transaction.low, device.high, device.low, time.bits].reduce(tag) { hash, word in
            let mixed = (hash ^ word) &* (0xFF51_AFD7_ED55_8CCD as UInt64)
            return mixed ^ mixed >> 32
        }
        return Cursor(epoch: epoch, number: number + 1, tag: tag)
    }

    package init(epoch: Identifier, number: Int64, tag: UInt64) {
        (self.epoch, self.number, self.tag) = (epoch, number, tag)
    }

    /// The cursor of a device that has seen nothing.
    package static let none = Cursor(epoch: Identifier(high: 0, low: 0), number: 0, tag: 0)

    package var basis: Basis { Basis(epoch: epoch, number: number) }
}

extension Sequence {
    /// Returns the first elements that fit into a page, at least one if there is one.
    func prefix(limit: Int, byteLimit: Int, size: (Element) -> Int) -> [Element] {
        var (elements, bytes) = ([Element](), 0)
        for element in self {
            bytes += size(element)
            if !elements.isEmpty, elements.count >= limit || bytes > byteLimit { break }
            elements.append(element)
        }
        return elements
    }
}
