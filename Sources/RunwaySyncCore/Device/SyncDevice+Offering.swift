// Old inserts that a new id would bring back: the user decides (rule 12).

extension SyncDevice {
    /// Whether a transaction waits for the user's decision before it is sent under a new id: it inserts a row, and the
    /// log no longer reaches back to what the device had seen then, or it ``waits(_:with:)`` for another one.
    ///
    /// - Parameter held: The rows of the transactions that wait for the decision. Those of this one are added.
    static func isOffered(_ transaction: Transaction, behind horizon: Int64, _ held: inout Set<RowKey>) -> Bool {
        if transaction.basis.number < horizon, transaction.operations.contains(where: \.isInsert) {
            held.formUnion(transaction.operations.compactMap(\.key))
        }
        return waits(transaction, with: &held)
    }

    /// Whether a transaction changes a row of those that wait for the user's decision. It waits with them: the server
    /// may not have the row, and a transaction that comes later in the chain would replace the newer values.
    ///
    /// - Parameter held: The rows of the transactions that wait. Those of this one are added.
    static func waits(_ transaction: Transaction, with held: inout Set<RowKey>) -> Bool {
        let keys = transaction.operations.compactMap(\.key)
        if held.isDisjoint(with: keys) { return false }
        held.formUnion(keys)
        return true
    }

    /// Returns the rows of the transactions that wait for the user's decision.
    func held(in store: some DeviceStore) throws -> Set<RowKey> {
        let offered = try store.open().lazy.filter(\.isOffered)
        return Set(offered.flatMap { $0.transaction.operations.compactMap(\.key) })
    }

    /// Sends the offered transactions as the newest of the device, or refuses them.
    func decideOffers(
        accepts: Bool, at now: Int64, in store: inout some DeviceStore
    ) throws -> [Effect] {
        var state = try store.state
        var packing = Packing(limit: packetLimit)
        var effects: [Effect] = []
        var changed = ChangedRows()
        for var outgoing in try store.open() where outgoing.isOffered {
            changed.insert(outgoing.transaction)
            outgoing.isOffered = false
            if accepts {
                // The order of sealing is the order in the chain.
                try store.remove(outgoing: outgoing.sequence)
                state.sequence += 1
                outgoing = Outgoing(
                    sequence: state.sequence, packet: state.sequence, transaction: outgoing.transaction)
                outgoing.isAccepted = true
                state.append(&outgoing, by: &packing)
            } else {
                outgoing.status = .decided(
                    .refused(.declined, head: state.cursor.number), at: HybridTime(milliseconds: now))
                outgoing.isSettled = true
                effects.append(.refused(outgoing.transaction, .declined))
            }
            try store.put(outgoing)
        }
        try store.setState(state)
        try refresh(changed, in: &store)
        return effects
    }
}

extension Operation {
    fileprivate var isInsert: Bool { if case .insert = action { true } else { false } }
}

extension DeviceState {
    /// Makes a transaction the last one of the chain.
    mutating func append(_ outgoing: inout Outgoing, by packing: inout Packing) {
        outgoing.packet = packing.packet(of: outgoing.transaction, sequence: outgoing.sequence)
        outgoing.transaction.number = end.number + 1
        outgoing.transaction.previous = end.operation
        end = outgoing.transaction.end
    }
}
