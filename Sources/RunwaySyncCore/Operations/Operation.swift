/// One change that a device made (rule 2). Its ``Transaction`` has its time, its basis and its number in the chain.
package struct Operation: Hashable, Sendable {
    package let id: Identifier
    package let action: Action

    package init(id: Identifier, action: Action) { (self.id, self.action) = (id, action) }

    package enum Action: Hashable, Sendable {
        /// Inserts a row, with all columns and an odd life.
        case insert(RowKey, life: Int64, Columns<SyncValue>)
        /// Changes columns of a row that has this life.
        case update(RowKey, life: Int64, Columns<SyncValue>)
        /// Deletes a row, whose life becomes this even number. If the row moved to another space, names that space
        /// (rule 13).
        case delete(RowKey, life: Int64, movedTo: Identifier? = nil)
        /// Changes all rows that match.
        case batch(BatchUpdate)
        /// Replaces an operation that was withdrawn, or that the server can't decode (rule 3).
        case void
    }
}

extension Operation.Action {
    /// Makes the action that changes the values of a row; `nil` if they are equal.
    ///
    /// - Parameters:
    ///   - before: The values before the change; `nil` if the row did not exist.
    ///   - after: The values after the change; `nil` if the row was deleted.
    ///   - row: The row, from which the life follows.
    ///   - space: The space to which a deleted row moved. The default is none.
    init?(
        on key: RowKey, from before: Columns<SyncValue>?, to after: Columns<SyncValue>?, of row: Row,
        by policy: ConflictPolicy, movedTo space: Identifier? = nil
    ) {
        if before == after { return nil }
        guard let after else {
            self = .delete(key, life: row.lifeOfDelete, movedTo: space)
            return
        }
        // A row that is only sent stays in the app's table if its insert is refused: its next update inserts it.
        guard let before, row.isLive else {
            self = .insert(key, life: row.lifeOfInsert, after)
            return
        }
        var changed = after.filter { before[$0] != $1 }
        if changed.isEmpty { return nil }
        if policy == .wholeRow {
            // Columns that the device does not know come back unchanged (rule 15).
            changed = row.values ?? [:]
            changed.merge(after)
        }
        self = .update(key, life: row.life, changed)
    }
}

/// Operations that are applied together or not at all, in the chain of one device in one space.
package struct Transaction: Hashable, Sendable {
    /// The number of the first operation in the chain of the device, from 1. The other operations have the numbers that
    /// follow.
    package var number: Int64
    /// The operation before the first one in the chain; `nil` at its start.
    package var previous: Identifier?
    /// The time of the write, which was read when the write was captured.
    package let time: HybridTime
    /// The last log entry that the device had applied when it sealed the transaction.
    package let basis: Basis
    /// Whether a server acknowledged the transaction, and lost it when it was restored (rule 12).
    package var wasAcknowledged = false
    /// The operations, at least one. No two of them change the same row. A batch update is the only operation of its
    /// transaction.
    package var operations: [Operation]

    package init(number: Int64, previous: Identifier?, time: HybridTime, basis: Basis, operations: [Operation]) {
        precondition(!operations.isEmpty, "a transaction has an operation")
        (self.number, self.previous, self.time, self.basis) = (number, previous, time, basis)
        self.operations = operations
    }

    /// The id, which is the id of the first operation. It stays the same when the device is renumbered.
    package var id: Identifier { operations[0].id }
    /// The last operation of this transaction in the chain.
    package var end: ChainEnd {
        ChainEnd(number: number + Int64(operations.count) - 1, operation: operations[operations.count - 1].id)
    }
    /// Whether all operations are void.
    package var isVoid: Bool { operations.allSatisfy { $0.action == .void } }

    /// The largest number of operations in a transaction (rule 1).
    package static let maximumOperations = 5_000
    /// The number that all numbers in a chain are below.
    private static let maximumNumber: Int64 = 1 << 53
    /// The largest life that an operation makes, so far below the largest number of the coding that no following
    /// insert or delete passes that.
    private static let maximumLife: Int64 = 1 << 40
    /// The largest size of a transaction in bytes (rule 1).
    package static let maximumBytes = 4 << 20

    /// Whether the transaction is a batch update, which is its only operation.
    var isBatch: Bool { if case .batch? = operations.first?.action { true } else { false } }

    /// An estimate of the space that the transaction takes, in bytes.
    package var byteCount: Int {
        operations.reduce(64) { $0 + $1.byteCount }
    }
}

extension Operation {
    /// An estimate of the space that the operation takes, in bytes.
    var byteCount: Int {
        switch action {
        case .insert(let key, _, let values), .update(let key, _, let values):
            values.reduce(48 + key.table.utf8.count) { $0 + $1.name.utf8.count + $1.value.byteCount + 4 }
        case .batch(let batch): batch.byteCount
        case .delete, .void: 64
        }
    }
}

/// The last operation of a device's chain. Its number is 0 if the chain has no operation.
package struct ChainEnd: Hashable, Sendable {
    package var number: Int64 = 0
    package var operation: Identifier?

    package init(number: Int64 = 0, operation: Identifier? = nil) {
        (self.number, self.operation) = (number, operation)
    }
}

/// The part of the log that a device had seen.
package struct Basis: Hashable, Sendable {
    package let epoch: Identifier
    package let number: Int64

    package init(epoch: Identifier, number: Int64) { (self.epoch, self.number) = (epoch, number) }
}

/// Transactions of one device that are sent together (rule 1). A packet never changes, also when it is sent again.
package struct Packet: Hashable, Sendable {
    package let device: Identifier
    /// The transactions, at least one, in the order of the chain.
    package let transactions: [Transaction]
    /// The version of the app's tables when the packet is sent (rule 15).
    package let schema: Int64

    /// The largest number of transactions on which a server decides together. A larger packet is divided.
    package static let maximumTransactions = 500

    package init(device: Identifier, transactions: [Transaction], schema: Int64 = 1) {
        (self.device, self.transactions, self.schema) = (device, transactions, schema)
    }

    /// Whether each transaction follows the previous one in the chain, and has the form that its actions require.
    package var isValid: Bool {
        zip(transactions, transactions.dropFirst()).allSatisfy { former, latter in
            latter.number == former.end.number + 1 && latter.previous == former.end.operation
        } && !transactions.isEmpty && transactions.allSatisfy(\.isValid)
    }
}

extension Transaction {
    fileprivate var isValid: Bool {
        var keys: Set<RowKey> = []
        let lives = 1...Self.maximumLife
        return number > 0 && number < Self.maximumNumber && operations.count <= Self.maximumOperations
            && byteCount <= Self.maximumBytes
            && operations.allSatisfy { operation in
                switch operation.action {
                case .insert(let key, let life, let values), .update(let key, let life, let values):
                    lives ~= life && life % 2 == 1 && keys.insert(key).inserted && values.allSatisfy(\.value.isValid)
                case .delete(let key, let life, _): lives ~= life && life % 2 == 0 && keys.insert(key).inserted
                case .batch(let batch): operations.count == 1 && batch.values.allSatisfy(\.value.isValid)
                case .void: true
                }
            }
    }
}
