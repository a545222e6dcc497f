/// The tables of one space at the server, inside one transaction (rule 9).
///
/// An implementation locks the counter row of the space before the first read, reads only committed data, and commits
/// all changes or none.
package protocol SpaceStore: RowSource {
    /// The epochs, the head and the horizon of the log.
    var history: History { get throws }
    mutating func setHistory(_ history: History) throws
    /// Returns the server's record of a device in this space; `nil` before its first packet.
    func device(_ id: Identifier) throws -> DeviceRecord?
    mutating func setDevice(_ id: Identifier, _ record: DeviceRecord) throws
    /// Returns the verdict on a transaction. Verdicts are never removed (rule 12).
    func verdict(on transaction: Identifier) throws -> Verdict?
    mutating func setVerdict(on transaction: Identifier, _ verdict: Verdict) throws
    mutating func setRow(_ key: RowKey, _ row: Row) throws
    /// Returns rows and tombstones in the order of their keys, after a key.
    func rows(after key: RowKey?, limit: Int) throws -> [KeyedRow]
    /// Returns an entry of the log; `nil` before the horizon and past the head.
    func entry(_ number: Int64) throws -> LogEntry?
    mutating func append(_ entry: LogEntry) throws
    /// Returns the operations that wait until a life of their row is inserted again (rule 12).
    func waiting(beside key: RowKey) throws -> [WaitingOperation]
    mutating func setWaiting(beside key: RowKey, _ operations: [WaitingOperation]) throws
}

/// The epochs, the head and the horizon of a log.
package struct History: Hashable, Sendable {
    /// The newest epoch.
    package var epoch: Identifier
    /// The earlier epochs, oldest first. Each has the number of its last entry that the next epoch also has.
    package var earlier: [Basis] = []
    /// The newest entry.
    package var head: Cursor
    /// The newest entry that was removed from the log.
    package var horizon: Cursor
    /// The digest of the rows at the head (rule 15).
    package var digest = Digest()
    /// The newest entry that a backup contains; 0 if there is none (rule 12).
    package var backup: Int64 = 0

    package init(epoch: Identifier) {
        self.epoch = epoch
        head = Cursor(epoch: epoch, number: 0, tag: 0)
        horizon = head
    }

    /// Begins a new epoch after a restore. Its head is the last entry of the former epoch that the restore has left
    /// (rule 12).
    package mutating func begin(_ new: Identifier) {
        earlier.append(Basis(epoch: epoch, number: head.number))
        epoch = new
        head = Cursor(epoch: new, number: head.number, tag: head.tag)
        horizon = Cursor(epoch: new, number: horizon.number, tag: horizon.tag)
    }

    /// Returns the last log number of this history that a basis covers; 0 for a basis of an unknown epoch.
    func covered(by basis: Basis) -> Int64 {
        if basis.epoch == epoch { return min(basis.number, head.number) }
        guard let index = earlier.firstIndex(where: { $0.epoch == basis.epoch }) else { return 0 }
        return earlier[index...].reduce(basis.number) { min($0, $1.number) }
    }
}

/// The server's record of one device in one space.
package struct DeviceRecord: Hashable, Sendable {
    /// The last operation in the chain of the device.
    package var end = ChainEnd()
    /// The largest time under which an operation of the device is stored.
    package var time = HybridTime.zero
    /// The decisions on the transactions of the device's last packet (rule 3).
    package var lastPacket: [Decision] = []
    /// Whether the device lost its right to the space. It never regains the right under this id (rule 13).
    package var isClosed = false
    /// The number of refused transactions of the device.
    package var refusalCount: Int64 = 0

    package init() {}

    /// The number of refused transactions of a device whose verdicts are stored for ever.
    package static let maximumRefusals: Int64 = 1_000

    /// Counts a new verdict, and returns whether it is stored for ever.
    ///
    /// A device without any right could otherwise fill the database with refused transactions. The later ones have
    /// their verdicts only in ``lastPacket``: another device that sends them, from a copy of the file, has them decided
    /// again.
    mutating func counts(_ verdict: Verdict) -> Bool {
        if verdict.refusal == nil { return true }
        refusalCount = min(refusalCount, Self.maximumRefusals) + 1
        return refusalCount <= Self.maximumRefusals
    }
}

/// A device that makes changes, with the subject for whom it makes them.
package struct Sender: Hashable, Sendable {
    package let device: Identifier
    /// The subject; `nil` if the caller of the server names none.
    package let subject: String?

    package init(device: Identifier, subject: String?) { (self.device, self.subject) = (device, subject) }
}

extension [WaitingOperation] {
    /// The subject for whom the row of the list counts: the sender of the first operation.
    package var subject: String? { first?.sender.subject }

    /// Whether the list can't be stored beside a row: it has more than 1,000 operations, or 4 MiB.
    var isTooLong: Bool {
        count > 1_000 || reduce(0) { $0 + $1.operation.byteCount } > Transaction.maximumBytes
    }
}

/// An operation that was acknowledged before a restore of the server, and whose row was not inserted again yet.
package struct WaitingOperation: Hashable, Sendable {
    package let operation: Operation
    /// The sender, whose rights are asked again when the row is inserted (rule 13).
    package let sender: Sender
    package let time: HybridTime
    package let basis: Basis

    package init(operation: Operation, sender: Sender, time: HybridTime, basis: Basis) {
        (self.operation, self.sender, self.time, self.basis) = (operation, sender, time, basis)
    }
}
