extension SyncDevice {
    /// Takes a new device id, and numbers the transactions that the server still has to receive, starting from 1 (rule
    /// 12). The operations do not change: the server finds duplicates by their ids.
    ///
    /// - Parameter lost: The acknowledged transactions that the server may have lost. The default is those that the log
    ///   has not shown.
    func renumber(
        resending lost: Set<Identifier>? = nil, in store: inout some DeviceStore,
        using random: inout some RandomNumberGenerator
    ) throws {
        var state = try store.state
        state.device = Identifier(high: random.next(), low: random.next())
        (state.end, state.acknowledged, state.parts) = (ChainEnd(), ChainEnd(), [])
        var packing = Packing(limit: packetLimit)
        for var outgoing in try store.outgoing() {
            if let verdict = outgoing.verdict {
                let isLost = lost?.contains(outgoing.transaction.id) ?? (verdict.number > state.cursor.number)
                guard isLost, verdict.isInLog else { continue }
                outgoing.transaction.wasAcknowledged = true
                outgoing.isSettled = false
            }
            outgoing.packet = packing.packet(of: outgoing.transaction, sequence: outgoing.sequence)
            outgoing.status = .waiting
            outgoing.transaction.number = state.end.number + 1
            outgoing.transaction.previous = state.end.operation
            state.end = outgoing.transaction.end
            try store.put(outgoing)
        }
        try store.setState(state)
        try refresh(in: &store)
    }
}
