/// The tables of one space on a device, inside one transaction.
///
/// As a ``RowSource`` it reads *confirmed* rows: those of the log up to the cursor. The app reads and writes *shown*
/// rows: confirmed rows with the pending transactions of this device on top (rule 5).
package protocol DeviceStore: RowSource {
    var state: DeviceState { get throws }
    mutating func setState(_ state: DeviceState) throws
    mutating func setRow(_ key: RowKey, _ row: Row) throws

    /// Returns the values that the app sees, of the columns that it has; `nil` if the row is not there.
    func shown(_ key: RowKey) throws -> Columns<SyncValue>?
    /// Shows values, or removes the row. The change must not be captured (rule 1).
    ///
    /// Shows the columns that the table of the app has. A row that the table refuses is parked instead: it is not
    /// shown, counted, and tried again when it changes and after a migration. It is no error (rule 15).
    mutating func show(_ key: RowKey, _ values: Columns<SyncValue>?) throws
    /// The rows that pending transactions change.
    var previewed: Set<RowKey> { get throws }
    /// Records which of some rows pending transactions change.
    mutating func setPreviewed(_ keys: Set<RowKey>, of all: Set<RowKey>) throws
    /// The copies that pending transactions change instead of rows, with those rows (rule 7). `nil` if they are not
    /// known, as at the start of a process: then all pending transactions are merged once.
    var copies: [RowKey: RowKey]? { get }
    mutating func setCopies(_ copies: [RowKey: RowKey])

    /// Returns the captured writes of the app that are not sealed yet, oldest first (rule 1).
    func captured() throws -> [CapturedTransaction]
    mutating func removeCaptured() throws

    /// Returns the sealed transactions of this device, in the order of their sequence numbers.
    func outgoing() throws -> [Outgoing]
    /// Returns the transactions of ``outgoing()`` that wait for a verdict, or that the log has not decided on.
    func open() throws -> [Outgoing]
    /// Returns the transaction of ``outgoing()`` with an id.
    func outgoing(_ transaction: Identifier) throws -> Outgoing?
    /// Whether the acknowledged transactions have more than a number of bytes, or one of them was acknowledged before a
    /// time. May be `true` if they do not.
    func hasRetained(bytes: Int, before milliseconds: Int64) throws -> Bool
    /// Inserts a transaction, or replaces the one with the same sequence number.
    mutating func put(_ outgoing: Outgoing) throws
    mutating func remove(outgoing sequence: Int64) throws

    /// Returns a row of the snapshot that is being read; ``Row/absent`` if the snapshot does not have it (rule 11).
    func staged(_ key: RowKey) throws -> Row
    mutating func stage(_ key: RowKey, _ row: Row) throws
    mutating func removeStaged() throws
    /// Replaces all confirmed rows by the staged ones, and shows them.
    mutating func adoptStaged() throws
}

extension DeviceStore {
    package func open() throws -> [Outgoing] { try outgoing().filter(\.isOpen) }
    package func outgoing(_ transaction: Identifier) throws -> Outgoing? {
        try outgoing().first { $0.transaction.id == transaction }
    }
    package func hasRetained(bytes: Int, before milliseconds: Int64) throws -> Bool { true }
}

/// The state of a device in one space, which fits into one row.
package struct DeviceState: Hashable, Sendable {
    /// The id of this device in this space. A new one begins a chain of its own (rule 12).
    package var device: Identifier
    /// The last sealed operation.
    package var end = ChainEnd()
    /// The last operation that the server acknowledged under this id.
    package internal(set) var acknowledged = ChainEnd()
    package var cursor = Cursor.none
    /// The parts of the next log entry that have arrived (rule 9).
    package var parts: [LogPart] = []
    package var clock = HybridClock()
    /// The last sequence number of an outgoing transaction.
    package var sequence: Int64 = 0
    /// The last packet that was sent, or divided. Later ones may take more transactions (rule 1).
    package internal(set) var sentPacket: Int64 = 0
    /// The snapshot that is being read; `nil` if there is none.
    package var snapshot: SnapshotProgress?
    /// The digest of the confirmed rows (rule 15).
    package internal(set) var digest = Digest()
    /// The digest of the staged rows.
    package internal(set) var stagedDigest = Digest()
    /// The newest log entry that the server is known to have removed.
    package internal(set) var horizon: Int64 = 0
    /// The newest log entry that a backup of the server is known to contain (rule 12).
    package internal(set) var backup: Int64 = 0
    /// Whether the device lost its right to the space (rule 13).
    package var isRevoked = false
    /// The number of pages after which the rows differed from those of the server at the same entry (rule 15).
    package internal(set) var mismatchCount: Int64 = 0
    /// The time of the last of these pages, by the device's clock; `nil` if there was none.
    package internal(set) var lastMismatch: HybridTime?

    package init(device: Identifier) { self.device = device }

    /// Returns the time for a write of the app, read in its transaction.
    ///
    /// - Parameter milliseconds: The reading of the system's clock.
    package mutating func timeOfWrite(at milliseconds: Int64) -> HybridTime { clock.tick(at: milliseconds) }
}

/// A snapshot that is being read (rule 11).
package enum SnapshotProgress: Hashable, Sendable {
    /// Pages of rows arrive. The first one had the head `start`, and the last one `head`; both are `nil` if none has
    /// arrived yet.
    case rows(start: Cursor?, head: Cursor?, after: RowKey?, decided: Set<Identifier>)
    /// All rows have arrived; now the log up to `end` is applied to them.
    case log(cursor: Cursor, end: Cursor, decided: Set<Identifier>)
}

/// The changes of one write of the app, which triggers captured (rule 1).
package struct CapturedTransaction: Hashable, Sendable {
    package let time: HybridTime
    /// The first change of each row.
    package private(set) var rows: [Change] = []
    /// The spaces to which rows move that the transaction deletes (rule 13).
    private(set) var moves: [RowKey: Identifier] = [:]
    private var keys: Set<RowKey> = []
    private var byteCount = 0

    package struct Change: Hashable, Sendable {
        package let key: RowKey
        /// The values before the transaction; `nil` if the row did not exist.
        package let before: Columns<SyncValue>?
    }

    package init(time: HybridTime) { self.time = time }

    /// Captures a change of a row. The values before the first change of a row count; every change adds to the size.
    ///
    /// - Parameters:
    ///   - before: The values before the change; `nil` if the row did not exist.
    ///   - space: The space to which the row moves, if the change deletes it for that (rule 13). The default is no
    ///     space.
    ///   - byteCount: The size of the new values.
    /// - Throws: ``TransactionTooLarge``, which the app's write throws.
    package mutating func capture(
        _ key: RowKey, before: Columns<SyncValue>?, movedTo space: Identifier? = nil, byteCount: Int
    ) throws(TransactionTooLarge) {
        moves[key] = space
        if keys.insert(key).inserted { rows.append(Change(key: key, before: before)) }
        self.byteCount += byteCount
        if rows.count > Transaction.maximumOperations || self.byteCount > Transaction.maximumBytes {
            throw TransactionTooLarge()
        }
    }
}

/// The error of a write of the app that changes more than 5,000 rows, or more than 4 MiB (rule 1).
package struct TransactionTooLarge: Error {}

/// A sealed transaction on its device.
package struct Outgoing: Hashable, Sendable {
    /// The position in the order of sealing, which renumbering does not change.
    package let sequence: Int64
    /// The sequence number of the first transaction in its packet.
    package var packet: Int64
    package var transaction: Transaction
    package var status = Status.waiting
    /// Whether the log has shown that the server decided on it (rule 3).
    package var isSettled = false
    /// The reason why a void is sent instead of the operations; `nil` if there is none (rules 3 and 19).
    package var withdrawal: Refusal?
    /// Whether the transaction is not sent before the user has decided (rule 12).
    package var isOffered = false
    /// Whether the user has accepted that the transaction is sent; it is not offered again.
    package var isAccepted = false
    /// Whether the transaction is sent again, as a new one, when its void was refused (rule 19).
    package var isSentAgain = false

    package init(sequence: Int64, packet: Int64, transaction: Transaction) {
        (self.sequence, self.packet, self.transaction) = (sequence, packet, transaction)
    }

    package enum Status: Hashable, Sendable {
        /// The server has not sent a verdict.
        case waiting
        case decided(Verdict, at: HybridTime)
    }

    package var verdict: Verdict? {
        if case .decided(let verdict, _) = status { verdict } else { nil }
    }

    /// Whether the transaction is in the packet that is sent, or in a later one.
    var isSending: Bool { status == .waiting && !isOffered }

    /// Whether the transaction waits for a verdict, or the log has not decided on it.
    package var isOpen: Bool { status == .waiting || !isSettled }

    /// The transaction as it is sent.
    var sent: Transaction {
        var sent = transaction
        if withdrawal != nil { sent.operations = sent.operations.map { Operation(id: $0.id, action: .void) } }
        return sent
    }

    /// Whether the app sees the transaction on top of confirmed rows up to a cursor (rules 3 and 5).
    func isShown(at cursor: Cursor) -> Bool {
        if isSettled || withdrawal != nil { return false }
        return verdict.map { $0.refusal == nil && $0.number > cursor.number } ?? true
    }
}
