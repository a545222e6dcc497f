extension SyncDevice {
    /// The number of unsealed transactions at which the shell seals them before the next write (rule 1).
    package static let unsealedLimit = 200

    /// Seals the captured writes into packets: finds the values that they changed, and fixes their basis (rule 1).
    ///
    /// The shell calls it before a migration, and when ``unsealedLimit`` is reached. The device itself calls it in all
    /// other cases.
    package func seal(
        at now: Int64, in store: inout some DeviceStore, using random: inout some RandomNumberGenerator
    ) throws {
        let captured = try store.captured()
        if captured.isEmpty { return }
        var (packing, held) = (try Packing(limit: packetLimit, continuing: store), try held(in: store))
        var changed = ChangedRows(Set(captured.flatMap { $0.rows.map(\.key) }))
        var merger = try preview(&changed, over: store)
        for (transaction, after) in zip(captured, try Self.valuesAfter(captured, in: store)) {
            let actions = try zip(transaction.rows, after).compactMap { change, after in
                try Operation.Action(
                    on: change.key, from: change.before, to: after, of: merger.row(change.key, over: store),
                    by: policies[table: change.key.table], movedTo: transaction.moves[change.key])
            }
            if actions.isEmpty { continue }
            let operations = actions.map { Operation(id: .version7(at: now, using: &random), action: $0) }
            try enqueue(
                operations, time: transaction.time, by: &packing, held: &held, previewedBy: &merger, in: &store)
        }
        try store.removeCaptured()
        let keys = changed.keys.union(merger.rows.keys)
        try setPreviewed(merger, of: keys, isAll: changed.isAll, in: &store)
    }

    /// Updates all rows that match, as one operation (rule 14). The shell must not capture these changes.
    package func updateAll(
        _ batch: BatchUpdate, at now: Int64, in store: inout some DeviceStore,
        using random: inout some RandomNumberGenerator
    ) throws {
        try seal(at: now, in: &store, using: &random)
        var state = try store.state
        let time = state.timeOfWrite(at: now)
        try store.setState(state)
        var merger = try preview(over: store)
        let operation = Operation(id: .version7(at: now, using: &random), action: .batch(batch))
        var (packing, held) = (Packing(limit: 1), Set<RowKey>())
        try enqueue([operation], time: time, by: &packing, held: &held, previewedBy: &merger, in: &store)
        try refresh(.all, in: &store)
    }

    /// Makes operations the last transaction of the chain. A transaction that has to wait for the user's decision on an
    /// offer gets its place in the chain later.
    private func enqueue(
        _ operations: [Operation], time: HybridTime, by packing: inout Packing, held: inout Set<RowKey>,
        previewedBy merger: inout Merger, in store: inout some DeviceStore
    ) throws {
        var state = try store.state
        let transaction = Transaction(
            number: state.end.number + 1, previous: state.end.operation, time: time, basis: state.cursor.basis,
            operations: operations)
        try preview(transaction, by: &merger, over: store)
        state.sequence += 1
        var outgoing = Outgoing(sequence: state.sequence, packet: state.sequence, transaction: transaction)
        outgoing.isOffered = Self.waits(transaction, with: &held)
        if !outgoing.isOffered { state.append(&outgoing, by: &packing) }
        try store.put(outgoing)
        try store.setState(state)
    }

    /// Returns the values of each captured row after its transaction: the values before the next change of the row, or
    /// the shown values if there is no later change.
    private static func valuesAfter(
        _ captured: [CapturedTransaction], in store: some DeviceStore
    ) throws -> [[Columns<SyncValue>?]] {
        var later: [RowKey: Columns<SyncValue>?] = [:]
        let reversed = try captured.reversed().map { transaction in
            let values = try transaction.rows.map { try later[$0.key] ?? store.shown($0.key) }
            for change in transaction.rows { later[change.key] = .some(change.before) }
            return values
        }
        return reversed.reversed()
    }
}

/// Distributes transactions over packets, in their order.
struct Packing {
    /// The size in bytes at which a packet takes no more transactions: 1 MiB. A single transaction may be larger.
    private static let byteLimit = 1 << 20

    let limit: Int
    private var packet: Int64 = 0
    private var count = 0
    private var bytes = 0

    /// - Parameter limit: The largest number of transactions in a packet.
    init(limit: Int) { self.limit = limit }

    /// Continues the last packet if it was not sent yet, since a long time without a network seals many times. A batch
    /// update stays the only one of its packet.
    init(limit: Int, continuing store: some DeviceStore) throws {
        self.init(limit: limit)
        let open = try store.open().lazy.filter(\.isSending)
        guard let last = open.last, last.packet > (try store.state.sentPacket), !last.transaction.isBatch else {
            return
        }
        packet = last.packet
        for outgoing in open.reversed().prefix(while: { $0.packet == last.packet }) {
            count += 1
            bytes += outgoing.transaction.byteCount
        }
    }

    /// Returns the packet of a transaction, which is the sequence number of the first transaction in the packet.
    mutating func packet(of transaction: Transaction, sequence: Int64) -> Int64 {
        if count == 0 || count >= limit || bytes + transaction.byteCount > Self.byteLimit {
            (packet, count, bytes) = (sequence, 0, 0)
        }
        count += 1
        bytes += transaction.byteCount
        return packet
    }
}
