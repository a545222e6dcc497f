// Spaces that are only sent: chat, forms (rule 19). Their rows stay in the tables of the app as it wrote them.

extension SyncDevice {
    /// The directions in which a space is synchronised.
    package enum Direction: Hashable, Sendable {
        case both
        /// The device sends its writes, and pulls nothing. A write that waits for longer than `deadline` has failed.
        /// The deadline is in milliseconds; `nil` for none.
        case sending(deadline: Int64?)
    }

    var isOneWay: Bool { direction != .both }

    /// Withdraws the transactions that wait since before the deadline. The verdict on the void shows whether one had
    /// arrived.
    func expire(at now: Int64, in store: inout some DeviceStore) throws {
        guard case .sending(let deadline?) = direction else { return }
        for var outgoing in try store.open() where outgoing.status == .waiting && outgoing.withdrawal == nil {
            if now - outgoing.transaction.time.milliseconds <= deadline { continue }
            outgoing.withdrawal = .expired
            try store.put(outgoing)
        }
    }

    /// Records that the server has a transaction: the lives of its rows, and that the device need not read it again.
    func settle(_ outgoing: inout Outgoing, at number: Int64, in store: inout some DeviceStore) throws {
        var merger = Merger(policies)
        try preview(outgoing.transaction, by: &merger, over: store)
        for (key, row) in merger.rows { try store.setRow(key, Row(life: row.life, number: number, columns: [:])) }
        outgoing.isSettled = true
    }

    /// Sends a failed transaction again, as new operations. If the verdict on its void is not known yet, waits for it,
    /// since the transaction may have arrived.
    func sendAgain(
        _ transaction: Identifier, at now: Int64, in store: inout some DeviceStore,
        using random: inout some RandomNumberGenerator
    ) throws {
        guard isOneWay, var outgoing = try store.outgoing(transaction) else { return }
        switch outgoing.status {
        case .waiting:
            outgoing.withdrawal = outgoing.withdrawal ?? .expired
            outgoing.isSentAgain = true
            try store.put(outgoing)
        case .decided(.refused, _): try replace(outgoing, at: now, in: &store, using: &random)
        case .decided: break
        }
    }

    /// Replaces a refused transaction by a new one, which changes the same rows to what the app shows now.
    func replace(
        _ outgoing: Outgoing, at now: Int64, in store: inout some DeviceStore,
        using random: inout some RandomNumberGenerator
    ) throws {
        try store.remove(outgoing: outgoing.sequence)
        var changed = ChangedRows()
        changed.insert(outgoing.transaction)
        let merger = try preview(&changed, over: store)
        let actions = try outgoing.transaction.operations.compactMap { operation -> Operation.Action? in
            switch operation.action {
            case .insert(let key, _, let values), .update(let key, _, let values):
                let row = try merger.row(key, over: store)
                // The user may have changed or deleted the row since.
                guard let shown = try store.shown(key) else { return nil }
                if !row.isLive { return .insert(key, life: row.lifeOfInsert, shown) }
                return .update(key, life: row.life, shown.filter { name, _ in values[name] != nil })
            case .delete(let key, _, let space):
                return .delete(key, life: try merger.row(key, over: store).lifeOfDelete, movedTo: space)
            case .batch, .void: return operation.action
            }
        }
        if actions.isEmpty { return }
        var (state, packing) = (try store.state, Packing(limit: packetLimit))
        state.sequence += 1
        var again = Outgoing(
            sequence: state.sequence, packet: state.sequence,
            transaction: Transaction(
                number: 1, previous: nil, time: state.timeOfWrite(at: now), basis: state.cursor.basis,
                operations: actions.map { Operation(id: .version7(at: now, using: &random), action: $0) }))
        state.append(&again, by: &packing)
        try store.put(again)
        try store.setState(state)
    }
}
