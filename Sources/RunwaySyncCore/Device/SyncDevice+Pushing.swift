extension SyncDevice {
    /// Returns the oldest packet that waits for its verdicts. It is the same until they arrive (rule 1).
    func nextPacket(in store: some DeviceStore) throws -> Packet? {
        let waiting = try store.open().lazy.filter(\.isSending)
        guard let packet = waiting.first?.packet else { return nil }
        let transactions = waiting.prefix { $0.packet == packet }.map(\.sent)
        return Packet(device: try store.state.device, transactions: Array(transactions), schema: schema)
    }

    /// Records that the oldest packet that waits is sent, so that it takes no more transactions.
    func noteSent(in store: inout some DeviceStore) throws {
        var state = try store.state
        guard let packet = try store.open().first(where: \.isSending)?.packet, packet > state.sentPacket else { return }
        state.sentPacket = packet
        try store.setState(state)
    }

    /// Whether a packet that was pushed is still the oldest one that waits.
    func isNext(
        _ pushed: (device: Identifier, transactions: [Identifier])?, in store: some DeviceStore
    ) throws -> Bool {
        guard let pushed, let packet = try nextPacket(in: store) else { return false }
        return packet.device == pushed.device && packet.transactions.map(\.id) == pushed.transactions
    }

    /// Records the verdicts on the packet that was pushed. A transaction that was not refused stays pending until the
    /// log has reached the number of its verdict (rule 3).
    func record(
        _ verdicts: [Verdict], at now: Int64, in store: inout some DeviceStore,
        using random: inout some RandomNumberGenerator
    ) throws -> [Effect] {
        guard let packet = try nextPacket(in: store), packet.transactions.count == verdicts.count else { return [] }
        var effects: [Effect] = []
        var (state, again) = (try store.state, [Outgoing]())
        // A transaction in the log past the cursor stays shown.
        var changed = ChangedRows()
        for (var outgoing, verdict) in zip(try store.open().lazy.filter(\.isSending), verdicts) {
            let wasShown = outgoing.isShown(at: state.cursor)
            outgoing.status = .decided(verdict, at: HybridTime(milliseconds: now))
            state.acknowledged = outgoing.transaction.end
            if verdict.refusal != nil, outgoing.isSentAgain {
                again.append(outgoing)
            } else if let refusal = verdict.refusal {
                effects.append(.refused(outgoing.transaction, outgoing.withdrawal ?? refusal))
            } else {
                // The transaction had arrived before its void.
                (outgoing.withdrawal, outgoing.isSentAgain) = (nil, false)
                if isOneWay { try settle(&outgoing, at: verdict.number, in: &store) }
            }
            if outgoing.isShown(at: state.cursor) != wasShown { changed.insert(outgoing.transaction) }
            try store.put(outgoing)
            if case .conflict = verdict { effects.append(.met(outgoing.transaction)) }
        }
        try store.setState(state)
        for outgoing in again { try replace(outgoing, at: now, in: &store, using: &random) }
        try prune(at: now, in: &store)
        try refresh(changed, in: &store)
        return effects
    }

    /// The largest total size in bytes of the acknowledged transactions that a device holds, in case the server is
    /// restored (rule 12).
    private static let retainedBytes = 16 << 20
    /// The time for which a device holds acknowledged transactions: 30 days, in milliseconds.
    private static let retainedTime: Int64 = 30 * 86_400_000

    /// Removes acknowledged transactions that are too old, or exceed the total size. Refused ones stay.
    private func prune(at now: Int64, in store: inout some DeviceStore) throws {
        guard try store.hasRetained(bytes: Self.retainedBytes, before: now - Self.retainedTime) else { return }
        let cursor = try store.state.cursor
        var bytes = 0
        for outgoing in try store.outgoing().reversed() {
            guard case .decided(let verdict, let time) = outgoing.status, verdict.refusal == nil else { continue }
            bytes += outgoing.transaction.byteCount
            let isOld = bytes > Self.retainedBytes || now - time.milliseconds > Self.retainedTime
            if isOld, !outgoing.isShown(at: cursor) { try store.remove(outgoing: outgoing.sequence) }
        }
    }

    /// Removes the acknowledged transactions that a backup of the server contains, if there is a new backup.
    func prune(through backup: Int64, in store: inout some DeviceStore) throws {
        var state = try store.state
        let number = min(backup, state.cursor.number)
        guard state.snapshot == nil, number > state.backup else { return }
        state.backup = number
        try store.setState(state)
        for outgoing in try store.outgoing() where outgoing.isSettled {
            guard let verdict = outgoing.verdict, verdict.refusal == nil, verdict.number <= number else { continue }
            try store.remove(outgoing: outgoing.sequence)
        }
    }

    /// Withdraws a transaction that no server accepts, before it is sent: another program may have written a row of
    /// more than 4 MiB (rule 1). Such a transaction is the only one of its packet.
    func withdrawTooLarge(in store: inout some DeviceStore) throws {
        guard let packet = try nextPacket(in: store), packet.transactions.count == 1,
            packet.transactions[0].byteCount > Transaction.maximumBytes
        else { return }
        try withdraw(packet.transactions[0].id, because: .tooLarge, in: &store)
    }

    /// Divides the packet that waits into smaller packets. Withdraws its transaction if it has only one.
    func divide(by count: Int, because refusal: Refusal, in store: inout some DeviceStore) throws {
        guard let packet = try nextPacket(in: store) else { return }
        let waiting = Array(try store.open().lazy.filter(\.isSending).prefix(packet.transactions.count))
        if waiting.count == 1 {
            try withdraw(packet.transactions[0].id, because: refusal, in: &store)
            return
        }
        let size = (waiting.count - 1) / count + 1
        var state = try store.state
        state.sentPacket = max(state.sentPacket, waiting[waiting.count - 1].sequence)
        try store.setState(state)
        for (index, var outgoing) in waiting.enumerated() {
            outgoing.packet = waiting[index / size * size].sequence
            try store.put(outgoing)
        }
    }

    /// Sends a void under the number and id of a transaction, so that the chain has no gap before its successors (rules
    /// 3 and 19).
    ///
    /// The verdict shows whether the transaction had arrived before. Does nothing if a verdict has arrived already.
    func withdraw(_ transaction: Identifier, because refusal: Refusal, in store: inout some DeviceStore) throws {
        let found = try store.open().first { $0.transaction.id == transaction && $0.status == .waiting }
        guard var outgoing = found else { return }
        if outgoing.isOffered {
            // It has no number that a void must fill.
            outgoing.isOffered = false
            outgoing.status = .decided(.refused(refusal, head: try store.state.cursor.number), at: .zero)
            outgoing.isSettled = true
        } else {
            outgoing.withdrawal = refusal
        }
        try store.put(outgoing)
        var changed = ChangedRows()
        changed.insert(outgoing.transaction)
        try refresh(changed, in: &store)
    }
}
