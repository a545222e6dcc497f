extension SyncDevice {
    /// Takes a new device id, and numbers the transactions that the server still has to receive, starting from 1 (rule
    /// 12). The operations do not change: the server finds duplicates by their ids.
    ///
    /// - Parameter lost: The acknowledged transactions that the server may have lost. The default is those that the log
    ///   has not shown.
    func renumber(
        resending lost: Set<Identifier>? = nil, in store: inout some DeviceStore,
        using random: inout some RandomNumberGenerator
    ) throws -> [Effect] {
        var state = try store.state
        state.device = Identifier(high: random.next(), low: random.next())
        (state.end, state.acknowledged, state.parts) = (ChainEnd(), ChainEnd(), [])
        var (packing, held) = (Packing(limit: packetLimit), Set<RowKey>())
        var offered: [Transaction] = []
        for var outgoing in try store.outgoing() {
            if let verdict = outgoing.verdict {
                let isLost = lost?.contains(outgoing.transaction.id) ?? (verdict.number > state.cursor.number)
                guard isLost, verdict.isInLog else { continue }
                outgoing.transaction.wasAcknowledged = true
                outgoing.isSettled = false
            }
            outgoing.status = .waiting
            if outgoing.withdrawal == nil, !outgoing.isAccepted,
                Self.isOffered(outgoing.transaction, behind: state.horizon, &held)
            {
                if !outgoing.isOffered { offered.append(outgoing.transaction) }
                outgoing.isOffered = true
            } else {
                state.append(&outgoing, by: &packing)
            }
            try store.put(outgoing)
        }
        try store.setState(state)
        try refresh(.all, in: &store)
        return offered.isEmpty ? [] : [.offered(offered)]
    }
}
