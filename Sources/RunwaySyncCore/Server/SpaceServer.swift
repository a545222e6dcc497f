/// The server's half for one space: decides on packets, and returns pages. The caller passes the store and the time.
package struct SpaceServer: Sendable {
    let policies: ConflictPolicies
    /// Whether a sender may make a change. Called for each operation, after the counter row of the space was locked
    /// (rule 13).
    let mayWrite: @Sendable (Sender, Operation.Action) -> Bool
    /// The subject whose request is handled. The default is no subject.
    package var subject: String?
    /// The transactions that are refused whatever they change, with the reasons.
    package var refusals: [Identifier: Refusal] = [:]
    /// The oldest version of the app's tables that may see the space. The default is 0 (rule 15).
    package var minimumSchema: Int64 = 0
    /// The largest number of changes or rows in a page.
    package var pageLimit = 1_000
    /// The size in bytes at which a page takes no more changes or rows.
    static let pageBytes = 1 << 20

    package init(
        _ policies: ConflictPolicies,
        mayWrite: @escaping @Sendable (Sender, Operation.Action) -> Bool = { _, _ in true }
    ) {
        (self.policies, self.mayWrite) = (policies, mayWrite)
    }

    /// Handles a request inside one transaction of the store.
    ///
    /// - Parameters:
    ///   - milliseconds: The time since 1970 by the clock of the database.
    package func handle(
        _ request: SyncRequest, at milliseconds: Int64, in store: inout some SpaceStore
    ) throws -> SyncResponse {
        if request.schema < minimumSchema { return .upgrade }
        return switch request {
        case .push(let packet): try push(packet, at: milliseconds, in: &store)
        case .pull(let request): try pull(request, in: store)
        case .snapshot(let request): try snapshot(request, in: store)
        }
    }

    /// Returns the response to a packet that can't be decided on, whatever the space contains.
    func rejection(of packet: Packet) -> SyncResponse? {
        if packet.transactions.count > Packet.maximumTransactions { return .tooLarge }
        if !packet.isValid { return .invalid }
        let count = packet.transactions.count { if case .batch = $0.operations[0].action { true } else { false } }
        return count > Self.maximumBatches && packet.transactions.count > 1 ? .tooLarge : nil
    }

    /// Checks that a packet continues the chain of its device (rule 4), and decides on its transactions.
    private func push(_ packet: Packet, at now: Int64, in store: inout some SpaceStore) throws -> SyncResponse {
        if let response = rejection(of: packet) { return response }
        let first = packet.transactions[0]
        var record = try store.device(packet.device) ?? DeviceRecord()
        if record.isClosed { return .revoked(record.lastPacket) }
        let known = packet.transactions.compactMap { transaction in
            record.lastPacket.first { $0.number == transaction.number && $0.transaction == transaction.id }?.verdict
        }
        if known.count == packet.transactions.count { return .verdicts(known, head: try store.history.head.number) }
        if first.number <= record.end.number { return .forked }
        if first.number > record.end.number + 1 { return .gap(record.end) }
        guard first.previous == record.end.operation else { return .forked }
        record.lastPacket = try decide(packet.transactions, from: packet.device, in: &record, at: now, in: &store)
        try store.setDevice(packet.device, record)
        return .verdicts(record.lastPacket.map(\.verdict), head: try store.history.head.number)
    }

    /// Decides on transactions in their order, and moves the end of the chain of their device.
    ///
    /// - Parameter isOwn: Whether the server itself made them. The default is `false`.
    func decide(
        _ transactions: [Transaction], from device: Identifier, in record: inout DeviceRecord, at now: Int64,
        in store: inout some SpaceStore, isOwn: Bool = false
    ) throws -> [Decision] {
        try transactions.map { transaction in
            let time = HybridClock.clamp(transaction.time, after: record.time, at: now)
            let known = try store.verdict(on: transaction.id)
            let verdict =
                try known ?? decide(transaction, from: sender(device), time: time, in: &store, isOwn: isOwn)
            if known == nil, record.counts(verdict) { try store.setVerdict(on: transaction.id, verdict) }
            (record.end, record.time) = (transaction.end, max(record.time, time))
            return Decision(transaction: transaction.id, number: transaction.number, verdict: verdict)
        }
    }

    func sender(_ device: Identifier) -> Sender { Sender(device: device, subject: subject) }

    /// Decides on a transaction that has no verdict yet (rule 3).
    private func decide(
        _ transaction: Transaction, from sender: Sender, time: HybridTime, in store: inout some SpaceStore,
        isOwn: Bool
    ) throws -> Verdict {
        var (history, merger) = (try store.history, Merger(policies))
        let (head, number) = (history.head.number, history.head.number + 1)
        if transaction.isVoid { return .refused(.void, head: head) }
        let author = Author(
            device: sender.device, time: time, basis: history.covered(by: transaction.basis), number: number)
        if let refusal = try refusal(of: transaction, by: author, isOwn ? nil : sender, merger, over: store) {
            return .refused(refusal, head: head)
        }
        var (isConflict, isSuperseded) = (false, true)
        var waits: [RowKey: [WaitingOperation]] = [:]
        for operation in transaction.operations {
            if case .update(let key, _, _) = operation.action, try merger.isAbsent(operation, over: store) {
                let waiting = WaitingOperation(
                    operation: operation, sender: sender, time: time, basis: transaction.basis)
                waits[key] = try store.waiting(beside: key) + [waiting]
                isSuperseded = false
            } else if case .merged(let met) = try merger.merge(operation, by: author, over: store) {
                (isConflict, isSuperseded) = (isConflict || met, false)
            }
        }
        if isSuperseded { return .superseded(head: head) }
        try mergeWaiting(&merger, &waits, at: number, history, over: store)
        if merger.hasTooLargeRow || waits.values.contains(where: \.isTooLong) { return .refused(.tooLarge, head: head) }
        history.head = history.head.next(transaction.id, from: sender.device, at: time)
        let entry = LogEntry(
            number: number, tag: history.head.tag, device: sender.device, transaction: transaction.id,
            end: transaction.end, changes: merger.changes(at: number))
        if entry.isTooLarge { return .refused(.tooLarge, head: head) }
        for (key, operations) in waits { try store.setWaiting(beside: key, operations) }
        for (key, row) in merger.rows {
            history.digest.replace(key, try store.row(key), by: row)
            try store.setRow(key, row)
        }
        try store.append(entry)
        try store.setHistory(history)
        return isConflict ? .conflict(number) : .applied(number)
    }

    /// Returns the reason to refuse a transaction as a whole; `nil` if there is none.
    ///
    /// - Parameter sender: Has to have the rights; `nil` for a transaction of the server.
    private func refusal(
        of transaction: Transaction, by author: Author, _ sender: Sender?, _ merger: Merger, over store: some SpaceStore
    ) throws -> Refusal? {
        if let refusal = refusals[transaction.id] { return refusal }
        for operation in transaction.operations {
            if let sender, try !mayMerge(operation, by: author, sender, merger, over: store) { return .forbidden }
            if !transaction.wasAcknowledged, try merger.isAbsent(operation, over: store) { return .absent }
            if case .batch(let batch) = operation.action {
                let count = try merger.keys(matching: batch, over: store).count
                if count > BatchUpdate.maximumRows { return .tooMany }
            }
        }
        return nil
    }

    /// Whether a sender has the rights to an operation and to all that follows from it.
    private func mayMerge(
        _ operation: Operation, by author: Author, _ sender: Sender, _ merger: Merger, over store: some SpaceStore
    ) throws -> Bool {
        // Without this right, no rows are read.
        guard mayWrite(sender, operation.action) else { return false }
        return try merger.consequences(of: operation, by: author, over: store).allSatisfy { mayWrite(sender, $0) }
    }

    /// Merges operations that waited for a life of their row, if this transaction inserts that life (rule 12). Drops
    /// those with which a row would be too large, whose device is closed, or whose sender has lost the right.
    private func mergeWaiting(
        _ merger: inout Merger, _ waits: inout [RowKey: [WaitingOperation]], at number: Int64, _ history: History,
        over store: some SpaceStore
    ) throws {
        // An operation that waited may insert a copy of its row, beside which others wait.
        var (keys, merged) = (merger.rows.keys.sorted(), Set<RowKey>())
        while !keys.isEmpty {
            for key in keys { try mergeWaiting(beside: key, &merger, &waits, at: number, history, over: store) }
            merged.formUnion(keys)
            keys = merger.rows.keys.filter { !merged.contains($0) }.sorted()
        }
    }

    private func mergeWaiting(
        beside key: RowKey, _ merger: inout Merger, _ waits: inout [RowKey: [WaitingOperation]], at number: Int64,
        _ history: History, over store: some SpaceStore
    ) throws {
        let waiting = try waits[key] ?? store.waiting(beside: key)
        if waiting.isEmpty { return }
        var left: [WaitingOperation] = []
        for item in waiting where try store.device(item.sender.device)?.isClosed != true {
            if try merger.isAbsent(item.operation, over: store) {
                left.append(item)
                continue
            }
            let author = Author(
                device: item.sender.device, time: item.time, basis: history.covered(by: item.basis), number: number)
            guard try mayMerge(item.operation, by: author, item.sender, merger, over: store) else { continue }
            let former = merger
            _ = try merger.merge(item.operation, by: author, over: store)
            if merger.hasTooLargeRow { merger = former }
        }
        waits[key] = left
    }
}
