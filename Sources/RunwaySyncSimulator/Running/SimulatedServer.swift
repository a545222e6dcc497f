import RunwaySyncCore

/// The server of a run: its tables, its backup, and the reference beside it.
struct SimulatedServer {
    private struct Right: Hashable {
        let device: Identifier
        let table: String
    }

    var core = SpaceServer(SimulatedEvent.policies)
    private(set) var store: MemorySpaceStore
    private(set) var reference: Reference
    private var backup: (MemorySpaceStore, Reference)?
    private var forbidden: Set<Right> = []
    /// Values that the server can't read.
    private var poison: Set<SyncValue> = []
    /// The rows after each log entry of each history, by the tag of the entry.
    private(set) var states: [UInt64: [RowKey: Row]] = [0: [:]]
    /// The packets that came.
    private var pushed: Set<Packet> = []
    /// The database that handles the same requests; `nil` if the run has none.
    private let twin: (any SpaceTwin)?

    init(epoch: Identifier, bug: PlantedBug?, twin: (any SpaceTwin)? = nil) throws {
        store = MemorySpaceStore(epoch: epoch, bug: bug)
        reference = Reference(epoch: epoch)
        self.twin = twin
        try twin?.save { $0.history = store.history }
    }

    /// Handles a request, and passes the transactions that are new to the reference.
    mutating func handle(_ request: SyncRequest, at now: Int64, places: inout Set<Place>) throws -> SyncResponse {
        var request = request
        if case .push(let packet) = request, let response = deviate(packet) { return response }
        if case .push(let packet) = request,
            packet.transactions.contains(where: { poison.contains(where: $0.contains) })
        {
            places.insert(.unreadable)
            return .invalid
        }
        if store.bug == .oldHistory { request = ignoringHistory(request) }
        var core = SpaceServer(SimulatedEvent.policies) { [forbidden] device, action in
            action.table.map { !forbidden.contains(Right(device: device, table: $0)) } ?? true
        }
        core.pageLimit = self.core.pageLimit
        let clock = store.bug == .believesClocks ? now + 864_000_000 : now
        let former = store
        let response = try core.handle(request, at: clock, over: &store).response
        try twin?.handle(request, by: core, at: clock, expecting: response)
        if let tag = store.entry(store.history.head.number)?.tag { states[tag] = store.rows }
        if case .push(let packet) = request, case .verdicts(let verdicts, _) = response {
            note(packet, verdicts, former: former, at: now, places: &places)
        }
        note(response, places: &places)
        if store.bug == .splitTransaction, case .page(let page) = response { return .page(page.unsplit) }
        return response
    }

    private mutating func note(
        _ packet: Packet, _ verdicts: [Verdict], former: MemorySpaceStore, at now: Int64, places: inout Set<Place>
    ) {
        pushed.insert(packet)
        let isRepetition = former.device(packet.device) == store.device(packet.device)
        if isRepetition { places.insert(.repetition) }
        for (transaction, verdict) in zip(packet.transactions, verdicts) {
            if !isRepetition, former.verdict(on: transaction.id) != nil { places.insert(.duplicate) }
            if transaction.time.milliseconds > now + 60_000 { places.insert(.clamped) }
            switch verdict {
            case .applied: break
            case .conflict: places.insert(.conflict)
            case .superseded: places.insert(.superseded)
            case .refused(let refusal, _): places.insert(refusal == .absent ? .absent : .refused)
            }
            if isRepetition { continue }
            let isForbidden = transaction.operations.contains { operation in
                operation.action.table.map { forbidden.contains(Right(device: packet.device, table: $0)) } ?? false
            }
            reference.receive(transaction, from: packet.device, at: now, isForbidden: isForbidden)
        }
        if store.hasWaiting { places.insert(.waitingOperation) }
    }

    private func note(_ response: SyncResponse, places: inout Set<Place>) {
        switch response {
        case .gap: places.insert(.gap)
        case .forked: places.insert(.forked)
        case .horizon: places.insert(.horizon)
        case .history: places.insert(.history)
        case .revoked: places.insert(.revoked)
        case .snapshot(let page): places.insert(page.isLast ? .snapshot : .snapshotOfManyPages)
        case .page(let page): if page.parts.contains(where: { !$0.isLast }) { places.insert(.splitTransaction) }
        default: break
        }
    }

    /// Returns the response of a server with a planted mistake; `nil` if it responds as it should.
    private func deviate(_ packet: Packet) -> SyncResponse? {
        let head = store.history.head.number
        let applied = SyncResponse.verdicts(packet.transactions.map { _ in .applied(head) }, head: head)
        switch store.bug {
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
        return .pull(PullRequest(device: pull.device, cursor: cursor, offset: pull.offset))
    }

    mutating func backUp() throws {
        backup = (store, reference)
        try twin?.backUp()
    }

    /// Restores the backup.
    ///
    /// - Parameter epoch: The new epoch; `nil` if nobody announces the restore.
    mutating func restore(announcing epoch: Identifier?) throws -> Bool {
        guard let backup else { return false }
        (store, reference) = backup
        try store.reload()
        try twin?.restore()
        pushed = []
        if let epoch, store.bug != .oldHistory {
            store.history.begin(epoch)
            reference.begin(epoch)
            try twin?.save { $0.history = store.history }
        }
        return true
    }

    mutating func trim() throws {
        store.trim(to: (store.history.head.number + store.history.horizon.number) / 2)
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
        store.close(device)
        try twin?.save { $0.devices[device] = store.device(device) }
    }
}

extension Operation.Action {
    /// The table; `nil` for a void.
    fileprivate var table: String? {
        switch self {
        case .insert(let key, _, _), .update(let key, _, _), .delete(let key, _): key.table
        case .batch(let batch): batch.table
        case .void: nil
        }
    }
}

extension LogPage {
    /// The page of a server that takes each part for a whole transaction.
    fileprivate var unsplit: LogPage {
        LogPage(parts: parts.map { LogPart($0.entry, from: 0, limit: .max) }, head: head, end: end, epoch: epoch)
    }
}
