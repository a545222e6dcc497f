extension SyncDevice {
    /// Removes all rows of a space that the device may not see any more (rule 13). Refuses the transactions that the
    /// server has not decided on.
    ///
    /// - Parameter decisions: The verdicts that the server had made before.
    func evict(_ decisions: [Decision], in store: inout some DeviceStore) throws -> [Effect] {
        var state = try store.state
        (state.isRevoked, state.snapshot, state.parts) = (true, nil, [])
        if !isOneWay { (state.digest, state.stagedDigest) = (Digest(), Digest()) }
        try store.setState(state)
        var effects: [Effect] = []
        for var outgoing in try store.outgoing() {
            if outgoing.verdict == nil {
                let verdict = decisions.first { $0.transaction == outgoing.transaction.id }?.verdict
                outgoing.status = .decided(
                    verdict ?? .refused(.revoked, head: state.cursor.number), at: state.clock.last)
                if let refusal = outgoing.verdict?.refusal { effects.append(.refused(outgoing.transaction, refusal)) }
            }
            outgoing.isSettled = true
            try store.put(outgoing)
        }
        if isOneWay { return effects }
        try store.removeStaged()
        try store.adoptStaged()
        try store.setPreviewed([], of: store.previewed)
        return effects
    }

    /// Takes a new id and reads all rows, after the device has regained its right.
    func readmit(
        in store: inout some DeviceStore, using random: inout some RandomNumberGenerator
    ) throws -> [Effect] {
        var state = try store.state
        guard state.isRevoked else { return [] }
        (state.isRevoked, state.cursor) = (false, .none)
        try store.setState(state)
        // A snapshot shows the acknowledged transactions that the server has lost. A device that only sends reads none,
        // and sends all of them again.
        let effects = try renumber(resending: isOneWay ? nil : [], in: &store, using: &random)
        if !isOneWay { try beginSnapshot(in: &store) }
        return effects
    }
}
