extension SyncDevice {
    enum PageOutcome {
        case applied
        /// The page does not continue the entries that the device has.
        case stalled
        /// Another device uses the id of this device.
        case forked
        /// The end of the snapshot is in a history that the server lost.
        case beginAgain
    }

    /// Returns the request for the next rows or entries.
    func nextPull(in store: some DeviceStore) throws -> SyncRequest {
        let state = try store.state
        // The server checks that its history still has the head of the last page: rows may come from any entry before.
        guard case .rows(_, let head, let after, _) = state.snapshot else {
            return .pull(
                PullRequest(device: state.device, cursor: state.position, offset: state.received, schema: schema))
        }
        let pending = head == nil ? try named(in: store) : []
        return .snapshot(
            SnapshotRequest(device: state.device, start: head, after: after, pending: pending, schema: schema))
    }

    /// Applies a page of the log to the confirmed or staged rows, and shows the changes (rules 5, 9 and 11).
    func apply(
        _ page: LogPage, at now: Int64, in store: inout some DeviceStore,
        using random: inout some RandomNumberGenerator, _ effects: inout [Effect]
    ) throws -> PageOutcome {
        var (changed, decided) = (ChangedRows(), Decided())
        let former = try store.state.cursor
        try note(horizon: page.horizon, in: &store)
        // A server that states a larger head must send the entries up to it.
        var outcome = try page.parts.isEmpty && page.head > store.state.position.number ? PageOutcome.stalled : .applied
        for part in page.parts {
            var state = try store.state
            let isOther = state.parts.first.map { $0.entry.tag != part.entry.tag } ?? false
            if part.entry.number != state.position.number + 1 || part.offset != state.received || isOther {
                state.parts = []
                try store.setState(state)
                outcome = .stalled
                break
            }
            state.parts.append(part)
            try store.setState(state)
            if !part.isLast { continue }
            if case .log(_, let end, _) = state.snapshot, part.entry.number == end.number, part.entry.tag != end.tag {
                outcome = .beginAgain
                break
            }
            if try isForeign(part.entry, in: store) {
                outcome = .forked
                break
            }
            for part in state.parts {
                for change in part.entry.changes {
                    try apply(change, number: part.entry.number, in: &store)
                    changed.insert(change.key)
                    if let space = change.movedTo { effects.append(.moved(change.key, to: space)) }
                }
            }
            try advance(past: part.entry, epoch: page.epoch, in: &store)
            decided.add(part.entry, of: state.device)
        }
        try settle(decided, since: former, in: &store, &changed)
        if case .log(let cursor, let end, let decided) = try store.state.snapshot {
            if cursor.number >= end.number {
                effects += try adopt(cursor, decided: decided, in: &store, using: &random)
            } else if page.parts.isEmpty, outcome == .applied {
                outcome = .beginAgain
            }
        } else {
            try refresh(changed, in: &store)
        }
        var state = try store.state
        if state.snapshot == nil, state.cursor.number == page.head, state.digest != page.digest {
            state.mismatchCount += 1
            state.lastMismatch = HybridTime(milliseconds: now)
            try store.setState(state)
            effects.append(.differs)
        }
        return outcome
    }

    /// Records how far back the log reaches.
    func note(horizon: Int64, in store: inout some DeviceStore) throws {
        var state = try store.state
        if state.horizon == horizon { return }
        state.horizon = horizon
        try store.setState(state)
    }

    /// Whether another device made an entry under the id of this device.
    private func isForeign(_ entry: LogEntry, in store: some DeviceStore) throws -> Bool {
        let state = try store.state
        guard entry.device == state.device else { return false }
        return try store.outgoing(entry.transaction) == nil
    }

    private func apply(_ change: RowChange, number: Int64, in store: inout some DeviceStore) throws {
        var state = try store.state
        for (_, cell) in change.columns { state.clock.receive(cell.stamp.time) }
        if state.snapshot == nil {
            let former = try store.row(change.key)
            var row = former
            row.apply(change, number: number)
            state.digest.replace(change.key, former, by: row)
            try store.setRow(change.key, row)
        } else {
            // The page of rows may contain the change already. Applying it again leaves the same row at the end of the
            // snapshot.
            let former = try store.staged(change.key)
            var row = former
            row.apply(change, number: number)
            state.stagedDigest.replace(change.key, former, by: row)
            try store.stage(change.key, row)
        }
        try store.setState(state)
    }

    /// Moves the cursor past an entry.
    private func advance(past entry: LogEntry, epoch: Identifier, in store: inout some DeviceStore) throws {
        var state = try store.state
        let cursor = Cursor(epoch: epoch, number: entry.number, tag: entry.tag)
        state.parts = []
        if case .log(_, let end, let decided) = state.snapshot {
            state.snapshot = .log(cursor: cursor, end: end, decided: decided)
        } else {
            state.cursor = cursor
        }
        try store.setState(state)
    }

    /// Marks the transactions that the server has decided on (rule 3), once for a page, since thousands may wait. Adds
    /// the rows of those that are no longer shown on top of the confirmed rows.
    private func settle(
        _ decided: Decided, since former: Cursor, in store: inout some DeviceStore, _ changed: inout ChangedRows
    ) throws {
        if decided.transactions.isEmpty { return }
        var state = try store.state
        let open = try store.open()
        let settled = open.filter { !$0.isSettled && decided.contains($0) }
        if case .log(let cursor, let end, let former) = state.snapshot {
            state.snapshot = .log(
                cursor: cursor, end: end, decided: former.union(settled.map(\.transaction.id)))
            return try store.setState(state)
        }
        // Bases of another epoch cover nothing.
        if state.cursor.epoch != former.epoch { changed.insertAll() }
        for outgoing in open where outgoing.isShown(at: former) {
            if outgoing.isShown(at: state.cursor), !decided.contains(outgoing) { continue }
            changed.insert(outgoing.transaction)
        }
        for var outgoing in settled {
            outgoing.isSettled = true
            try store.put(outgoing)
        }
    }
}

/// The transactions on which the server has decided, as the entries of a page show it: those in the log, and all that
/// the device had sent before its own.
private struct Decided {
    private(set) var transactions: Set<Identifier> = []
    private var end: Int64 = 0

    mutating func add(_ entry: LogEntry, of device: Identifier) {
        transactions.insert(entry.transaction)
        if entry.device == device { end = max(end, entry.end.number) }
    }

    func contains(_ outgoing: Outgoing) -> Bool {
        // An offered transaction has a number of a former chain.
        transactions.contains(outgoing.transaction.id) || outgoing.transaction.number <= end && !outgoing.isOffered
    }
}

extension DeviceState {
    /// The number of changes of the next entry that have arrived.
    fileprivate var received: Int { parts.reduce(0) { $0 + $1.entry.changes.count } }

    /// The last entry that was applied to the staged rows while the log completes a snapshot, and to the confirmed rows
    /// otherwise.
    fileprivate var position: Cursor {
        if case .log(let cursor, _, _) = snapshot { cursor } else { cursor }
    }
}
