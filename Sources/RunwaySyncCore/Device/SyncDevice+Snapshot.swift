extension SyncDevice {
    /// Begins to read all rows (rule 11), because the log no longer reaches back to the cursor, or has another history.
    /// The app sees the former rows until all new ones have arrived.
    func beginSnapshot(in store: inout some DeviceStore) throws {
        var state = try store.state
        state.snapshot = .rows(start: nil, head: nil, after: nil, decided: [])
        (state.parts, state.stagedDigest) = ([], Digest())
        try store.setState(state)
        try store.removeStaged()
    }

    /// The transactions whose decisions the server has to look up: those without a verdict, and those whose verdict
    /// says that they are in the log, up to a bound. The device sends the others again, and receives their verdicts.
    func named(in store: some DeviceStore) throws -> [Identifier] {
        let outgoing = try store.outgoing()
        let named = outgoing.filter { $0.verdict == nil } + outgoing.filter { $0.verdict?.isInLog == true }
        return named.prefix(SnapshotRequest.maximumPending).map(\.transaction.id)
    }

    func stage(
        _ page: SnapshotPage, in store: inout some DeviceStore, using random: inout some RandomNumberGenerator
    ) throws -> [Effect] {
        try note(horizon: page.horizon, in: &store)
        var state = try store.state
        guard case .rows(let first, _, let after, var decided) = state.snapshot else { return [] }
        let start = first ?? page.start
        for item in page.rows {
            for (_, cell) in item.row.columns { state.clock.receive(cell.stamp.time) }
            state.stagedDigest.replace(item.key, try store.staged(item.key), by: item.row)
            try store.stage(item.key, item.row)
        }
        decided.formUnion(page.decided)
        state.snapshot =
            page.isLast
            ? .log(cursor: start, end: page.head, decided: decided)
            : .rows(start: start, head: page.head, after: page.rows.last?.key ?? after, decided: decided)
        try store.setState(state)
        guard page.isLast, start == page.head else { return [] }
        return try adopt(start, decided: decided, in: &store, using: &random)
    }

    /// Makes the staged rows the confirmed ones, and shows them with the pending transactions that they do not contain.
    /// Transactions that the server acknowledged, and does not have, are sent again (rule 12).
    func adopt(
        _ cursor: Cursor, decided: Set<Identifier>, in store: inout some DeviceStore,
        using random: inout some RandomNumberGenerator
    ) throws -> [Effect] {
        var state = try store.state
        (state.cursor, state.snapshot) = (cursor, nil)
        (state.digest, state.stagedDigest) = (state.stagedDigest, Digest())
        try store.setState(state)
        var lost: Set<Identifier> = []
        for var outgoing in try store.outgoing() {
            if !decided.contains(outgoing.transaction.id), let verdict = outgoing.verdict, verdict.isInLog {
                lost.insert(outgoing.transaction.id)
            } else if outgoing.verdict != nil || decided.contains(outgoing.transaction.id) {
                // Its number may be of a history that the server lost. In this one it is at most that of the cursor, so
                // that a backup up to there covers it.
                if case .decided(let verdict, let time) = outgoing.status, verdict.isInLog {
                    outgoing.status = .decided(.applied(cursor.number), at: time)
                }
                outgoing.isSettled = true
                try store.put(outgoing)
            }
        }
        try store.adoptStaged()
        if !lost.isEmpty { return try renumber(resending: lost, in: &store, using: &random) }
        try refresh(.all, in: &store)
        return []
    }
}
