// Old inserts that a new id would bring back: the user decides (rule 12).

extension SyncDevice {
    /// Whether a transaction waits for the user's decision before it is sent under a new id: it inserts a row, and the
    /// log no longer reaches back to what the device had seen then, or it changes a row of such a transaction.
    ///
    /// - Parameter held: The rows of the transactions that wait for the decision. Those of this one are added.
    static func isOffered(_ transaction: Transaction, behind horizon: Int64, _ held: inout Set<RowKey>) -> Bool {
        let isOld = transaction.basis.number < horizon
        var (keys, isOffered) = (Set<RowKey>(), false)
        for operation in transaction.operations {
            switch operation.action {
            case .insert(let key, _, _):
                keys.insert(key)
                isOffered = isOffered || isOld
            case .update(let key, _, _), .delete(let key, _, _): keys.insert(key)
            case .batch, .void: break
            }
        }
        isOffered = isOffered || !keys.isDisjoint(with: held)
        if isOffered { held.formUnion(keys) }
        return isOffered
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
            changed.insert(outgoing.transaction, policies)
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

extension DeviceState {
    /// Makes a transaction the last one of the chain.
    mutating func append(_ outgoing: inout Outgoing, by packing: inout Packing) {
        outgoing.packet = packing.packet(of: outgoing.transaction, sequence: outgoing.sequence)
        outgoing.transaction.number = end.number + 1
        outgoing.transaction.previous = end.operation
        end = outgoing.transaction.end
    }
}
