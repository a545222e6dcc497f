import RunwaySyncCore

/// The server of a run: its tables, its backup, and the reference beside it.
struct SimulatedServer {
    private struct Right: Hashable {
        let device: Identifier
        let table: String
    }

    var core = SpaceServer(SimulatedEvent.policies)
    private var tables: FaultyTables
    var store: MemorySpace { tables.space }
    private let bug: PlantedBug?
    private(set) var reference: Reference
    private var backup: (MemorySpace, Reference, [SyncValue: Identifier], Set<SyncValue>, [Identifier: Int64])?
    /// The operation that brought each value into the log.
    private var arrived: [SyncValue: Identifier] = [:]
    /// The values of the transactions that the server has decided on, and not refused.
    private(set) var decided: Set<SyncValue> = []
    /// The values of superseded transactions, which no device sends again after a restore.
    private(set) var superseded: Set<SyncValue> = []
    /// The texts of the transactions that came, by their ids: a void has none.
    private var texts: [Identifier: [SyncValue]] = [:]
    /// The values of refused transactions.
    private(set) var refused: Set<SyncValue> = []
    /// A value that came into the log by two operations.
    private(set) var doubled: SyncValue?
    /// The largest number of each device in the log (rule 4).
    private var ends: [Identifier: Int64] = [:]
    /// A device of which the log has a number twice, or numbers in another order.
    private(set) var brokenChain: Identifier?
    /// The ids of devices that belong to somebody else.
    private var taken: Set<Identifier> = []
    private var forbidden: Set<Right> = []
    /// Values that the server can't read.
    private var poison: Set<SyncValue> = []
    /// The rows after each log entry of each history, by the tag of the entry.
    private(set) var states: [UInt64: [RowKey: Row]] = [0: [:]]
    /// The newest entry of the log, with the time of its commit.
    private var newest: (number: Int64, time: Int64) = (0, 0)
    /// The packets that came.
    private var pushed: Set<Packet> = []
    /// The database that handles the same requests; `nil` if the run has none.
    private let twin: (any SpaceTwin)?

    init(epoch: Identifier, bug: PlantedBug?, twin: (any SpaceTwin)? = nil) throws {
        tables = FaultyTables(MemorySpace(epoch: epoch), bug)
        self.bug = bug
        reference = Reference(epoch: epoch)
        self.twin = twin
        try twin?.save { $0.history = store.history }
    }

    /// The part of the tables before a request that tells new transactions from known ones.
    private struct Former {
        var record: DeviceRecord?
        var known: Set<Identifier> = []

        init(of request: SyncRequest, in store: MemorySpace) {
            guard case .push(let packet) = request else { return }
            record = store.device(packet.device)
            known = Set(packet.transactions.map(\.id).filter { store.verdict(on: $0) != nil })
        }
    }

    /// Handles a request, and passes the transactions that are new to the reference.
    mutating func handle(_ request: SyncRequest, at now: Int64, places: inout Set<Place>) throws -> SyncResponse {
        var request = request
        if taken.contains(request.device) {
            places.insert(.deviceTaken)
            return .deviceTaken
        }
        if case .push(let packet) = request, let response = deviate(packet) { return response }
        if case .push(let packet) = request,
            packet.transactions.contains(where: { poison.contains(where: $0.contains) })
        {
            places.insert(.unreadable)
            return .invalid
        }
        if bug == .oldHistory { request = ignoringHistory(request) }
        var core = SpaceServer(SimulatedEvent.policies) { [forbidden] sender, action in
            action.table.map { !forbidden.contains(Right(device: sender.device, table: $0)) } ?? true
        }
        (core.pageLimit, core.minimumSchema) = (self.core.pageLimit, self.core.minimumSchema)
        let clock = bug == .believesClocks ? now + 864_000_000 : now
        let former = Former(of: request, in: store)
        let head = store.history.head.number
        let response = try core.handle(request, at: clock, over: &tables).response
        noteEnds(after: head)
        try twin?.handle(request, by: core, at: clock, expecting: response)
        if let tag = store.entry(store.history.head.number)?.tag { states[tag] = store.rows }
        if case .push(let packet) = request, case .verdicts(let verdicts, _) = response {
            note(packet, verdicts, former: former, at: now, places: &places)
        }
        note(response, places: &places)
        if store.history.head.number > newest.number { newest = (store.history.head.number, now) }
        guard case .page(let page) = response else { return response }
        return switch bug {
        case .splitTransaction: .page(page.unsplit)
        case .cursorBySequence where now - newest.time < 40: .page(page.missing(newest.number))
        default: response
        }
    }

    private mutating func note(
        _ packet: Packet, _ verdicts: [Verdict], former: Former, at now: Int64, places: inout Set<Place>
    ) {
        pushed.insert(packet)
        let isRepetition = former.record == store.device(packet.device)
        if isRepetition { places.insert(.repetition) }
        for (transaction, verdict) in zip(packet.transactions, verdicts) {
            if !isRepetition, former.known.contains(transaction.id) { places.insert(.duplicate) }
            if transaction.time.milliseconds > now + 60_000 { places.insert(.clamped) }
            if !transaction.isVoid { texts[transaction.id] = transaction.texts }
            switch verdict {
            case .applied: if !isRepetition { noteArrival(of: transaction) }
            case .conflict: places.insert(.conflict)
            case .superseded:
                places.insert(.superseded)
                superseded.formUnion(transaction.texts)
            case .refused(let refusal, _):
                places.insert(refusal == .absent ? .absent : .refused)
                refused.formUnion(texts[transaction.id] ?? [])
            }
            if isRepetition { continue }
            if verdict.refusal == nil { decided.formUnion(transaction.texts) }
            let isForbidden = transaction.operations.contains { operation in
                operation.action.table.map { forbidden.contains(Right(device: packet.device, table: $0)) } ?? false
            }
            reference.receive(
                transaction, from: packet.device, at: now, isForbidden: isForbidden,
                isDropped: isDropped)
        }
        if !store.waiting.isEmpty { places.insert(.waitingOperation) }
    }

    /// Whether the server drops a change of a row that waited, since its device has lost the right.
    private var isDropped: (RowKey, Identifier) -> Bool {
        { [forbidden, store] key, device in
            forbidden.contains(Right(device: device, table: key.table)) || store.device(device)?.isClosed == true
        }
    }

    /// Compares new entries of the log with the largest numbers of their devices.
    private mutating func noteEnds(after former: Int64) {
        for number in former..<max(store.history.head.number, former) {
            guard let entry = store.entry(number + 1) else { continue }
            if entry.end.number <= ends[entry.device] ?? 0 { brokenChain = brokenChain ?? entry.device }
            ends[entry.device] = entry.end.number
        }
    }

    private mutating func noteArrival(of transaction: Transaction) {
        for operation in transaction.operations {
            guard case .insert(_, _, let values) = operation.action else { continue }
            for case (_, .text(let text)) in values {
                let first = arrived.updateValue(operation.id, forKey: .text(text))
                if let first, first != operation.id { doubled = .text(text) }
            }
        }
    }

    /// Writes rows as the server itself.
    mutating func write(
        _ rows: [(key: RowKey, values: Columns<SyncValue>?)], at now: Int64, using random: inout SeededRandom
    ) throws {
        let device = Identifier(high: 9, low: 9)
        var same = random
        let head = store.history.head.number
        let response = try core.write(rows, as: device, at: now, over: &tables, using: &random).response
        noteEnds(after: head)
        try twin?.transaction { tables in
            let second = try core.write(rows, as: device, at: now, over: &tables, using: &same).response
            guard response?.transaction == second?.transaction, response?.verdict == second?.verdict else {
                throw StoreDifference(description: "a write of the server")
            }
        }
        guard let response else { return }
        reference.receive(
            response.transaction, from: device, at: now, isForbidden: false, isDropped: isDropped)
        states[store.history.head.tag] = store.rows
    }

    mutating func take(_ device: Identifier) { taken.insert(device) }

    private func note(_ response: SyncResponse, places: inout Set<Place>) {
        switch response {
        case .gap: places.insert(.gap)
        case .forked: places.insert(.forked)
        case .horizon: places.insert(.horizon)
        case .history: places.insert(.history)
        case .revoked: places.insert(.revoked)
        case .upgrade: places.insert(.upgrade)
        case .snapshot(let page): places.insert(page.isLast ? .snapshot : .snapshotOfManyPages)
        case .page(let page): if page.parts.contains(where: { !$0.isLast }) { places.insert(.splitTransaction) }
        default: break
        }
    }

    /// Returns the response of a server with a planted mistake; `nil` if it responds as it should.
    private func deviate(_ packet: Packet) -> SyncResponse? {
        let head = store.history.head.number
        let applied = SyncResponse.verdicts(packet.transactions.map { _ in .applied(head) }, head: head)
        switch bug {
        case .verdictLostWithItsResponse: return pushed.contains(packet) ? applied : nil
        case .knownByNumber:
            let end = store.device(packet.device)?.end.number ?? 0
            return packet.transactions.allSatisfy { $0.number <= end } ? applied : nil
        default: return nil
        }
    }

    private func ignoringHistory(_ request: SyncRequest) -> SyncRequest {
        guard case .pull(let pull) = request, pull.cursor != .none else { return request }
        let number = min(pull.cursor.number, store.history.head.number)
        let tag = store.entry(number)?.tag ?? store.history.horizon.tag
        let cursor = Cursor(epoch: store.history.epoch, number: number, tag: tag)
        return .pull(PullRequest(device: pull.device, cursor: cursor, offset: pull.offset, schema: pull.schema))
    }

    mutating func backUp() throws {
        tables.space.history.backup = store.history.head.number
        try twin?.save { $0.history = store.history }
        backup = (store, reference, arrived, decided, ends)
        try twin?.backUp()
    }

    /// Restores the backup.
    ///
    /// - Parameter epoch: The new epoch; `nil` if nobody announces the restore.
    mutating func restore(announcing epoch: Identifier?) throws -> Bool {
        guard let backup else { return false }
        (tables.space, reference, arrived, decided, ends) = backup
        try tables.space.reload()
        try twin?.restore()
        pushed = []
        if let epoch, bug != .oldHistory {
            tables.space.history.begin(epoch)
            reference.begin(epoch)
            try twin?.save { $0.history = store.history }
        }
        return true
    }

    mutating func trim() throws {
        tables.space.trim(to: (store.history.head.number + store.history.horizon.number) / 2)
        try twin?.save { $0.history = store.history }
        try twin?.removeEntries(through: store.history.horizon.number)
    }

    /// Compares the database with the store in memory.
    func compareTwin() throws { try twin?.compare(with: store) }

    mutating func permit(_ device: Identifier, table: String, _ isAllowed: Bool) {
        let right = Right(device: device, table: table)
        if isAllowed { forbidden.remove(right) } else { forbidden.insert(right) }
    }

    mutating func poison(_ value: SyncValue) { poison.insert(value) }

    mutating func revoke(_ device: Identifier) throws {
        tables.space.close(device)
        try twin?.save { $0.devices[device] = store.device(device) }
    }
}

extension Operation.Action {
    /// The table; `nil` for a void.
    fileprivate var table: String? {
        switch self {
        case .insert(let key, _, _), .update(let key, _, _), .delete(let key, _, _): key.table
        case .batch(let batch): batch.table
        case .void: nil
        }
    }
}

extension LogPage {
    /// The page of a server that takes each part for a whole transaction.
    fileprivate var unsplit: LogPage {
        LogPage(
            parts: parts.map { LogPart($0.entry, from: 0, limit: .max) }, head: head, end: end, epoch: epoch,
            digest: digest, horizon: horizon, backup: backup)
    }

    /// The page as a reader receives it that does not see the changes of an entry, since their transaction is not
    /// committed yet.
    fileprivate func missing(_ number: Int64) -> LogPage {
        let parts = parts.map { part in
            let entry = part.entry
            if entry.number != number { return part }
            let rest = LogEntry(
                number: number, tag: entry.tag, device: entry.device, transaction: entry.transaction, end: entry.end,
                changes: [])
            return LogPart(entry: rest, offset: part.offset, isLast: part.isLast)
        }
        return LogPage(
            parts: parts, head: head, end: end, epoch: epoch, digest: digest, horizon: horizon, backup: backup)
    }
}
