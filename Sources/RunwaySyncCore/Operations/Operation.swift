/// One change that a device made (rule 2). Its time, basis and place in the chain are those of its ``Transaction``.
package struct Operation: Hashable, Sendable {
    package let id: Identifier
    package let action: Action

    package init(id: Identifier, action: Action) { (self.id, self.action) = (id, action) }

    package enum Action: Hashable, Sendable {
        /// Makes the row. It has all columns, and an odd life.
        case insert(RowKey, life: Int64, Columns<SyncValue>)
        /// Changes columns of a row of this life.
        case update(RowKey, life: Int64, Columns<SyncValue>)
        /// Removes the row. It has an even life.
        case delete(RowKey, life: Int64)
        /// Changes all rows that match.
        case batch(BatchUpdate)
        /// Takes the place of an operation that was withdrawn, or that the server can't decode (rule 3).
        case void
    }
}

/// Operations that are applied together or not at all, in the chain of one device in one space.
package struct Transaction: Hashable, Sendable {
    /// The number of the first operation in the chain of the device, from 1. The others follow.
    package var number: Int64
    /// The operation before the first one in the chain; `nil` at its start.
    package var previous: Identifier?
    /// The time of the write, read when it was captured.
    package let time: HybridTime
    /// The last log entry that the device had applied when it sealed the transaction.
    package let basis: Basis
    /// Whether a server acknowledged the transaction, and lost it in a restore (rule 12).
    package var wasAcknowledged = false
    /// The operations, at least one. Each is on a row of its own; a batch is the only one.
    package var operations: [Operation]

    package init(number: Int64, previous: Identifier?, time: HybridTime, basis: Basis, operations: [Operation]) {
        precondition(!operations.isEmpty, "a transaction has an operation")
        (self.number, self.previous, self.time, self.basis) = (number, previous, time, basis)
        self.operations = operations
    }

    /// The id: that of the first operation. It stays the same when the device is renumbered.
    package var id: Identifier { operations[0].id }
    /// The end of the chain after this transaction.
    package var end: ChainEnd {
        ChainEnd(number: number + Int64(operations.count) - 1, operation: operations[operations.count - 1].id)
    }
    /// Whether it was withdrawn.
    package var isVoid: Bool { operations.allSatisfy { $0.action == .void } }

    /// The largest number of operations in a transaction (rule 1).
    package static let maximumOperations = 5_000
    /// The bound of numbers in a chain.
    private static let maximumNumber: Int64 = 1 << 53
    /// The largest size of a transaction in bytes (rule 1).
    package static let maximumBytes = 4 << 20

    /// An estimate of the space that the transaction takes, in bytes.
    package var byteCount: Int {
        operations.reduce(64) { sum, operation in
            switch operation.action {
            case .insert(let key, _, let values), .update(let key, _, let values):
                values.reduce(sum + 48 + key.table.utf8.count) { $0 + $1.name.utf8.count + $1.value.byteCount + 4 }
            case .delete, .batch, .void: sum + 64
            }
        }
    }
}

/// The last operation of a device's chain; number 0 before the first.
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

/// Transactions of one device that are sent together (rule 1). A packet never changes; it is sent again as it is.
package struct Packet: Hashable, Sendable {
    package let device: Identifier
    /// The transactions, at least one, in the order of the chain.
    package let transactions: [Transaction]

    package init(device: Identifier, transactions: [Transaction]) {
        (self.device, self.transactions) = (device, transactions)
    }

    /// Whether each transaction follows the one before it, and each has the form that its actions promise.
    package var isValid: Bool {
        zip(transactions, transactions.dropFirst()).allSatisfy { former, latter in
            latter.number == former.end.number + 1 && latter.previous == former.end.operation
        } && !transactions.isEmpty && transactions.allSatisfy(\.isValid)
    }
}

extension Transaction {
    fileprivate var isValid: Bool {
        var keys: Set<RowKey> = []
        return number > 0 && number < Self.maximumNumber && operations.count <= Self.maximumOperations
            && byteCount <= Self.maximumBytes
            && operations.allSatisfy { operation in
                switch operation.action {
                case .insert(let key, let life, let values), .update(let key, let life, let values):
                    life > 0 && life % 2 == 1 && keys.insert(key).inserted && values.allSatisfy(\.value.isValid)
                case .delete(let key, let life): life > 0 && life % 2 == 0 && keys.insert(key).inserted
                case .batch(let batch): operations.count == 1 && batch.values.allSatisfy(\.value.isValid)
                case .void: true
                }
            }
    }
}
