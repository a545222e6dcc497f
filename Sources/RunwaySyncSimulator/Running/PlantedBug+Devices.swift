import RunwaySyncCore

// What a device with a planted mistake does to its file.
extension SimulatedDevice {
    /// The transactions that wait for a verdict.
    var undecided: Set<Identifier> {
        get throws { Set(try file.store.outgoing().filter { $0.verdict == nil }.map(\.transaction.id)) }
    }

    /// Counts the oldest packet as acknowledged.
    mutating func dropPacket(at now: Int64) throws {
        guard let first = try file.store.outgoing().first(where: { $0.verdict == nil }) else { return }
        for outgoing in try file.store.outgoing() where outgoing.verdict == nil && outgoing.packet == first.packet {
            try decide(outgoing, at: now)
        }
    }

    /// Counts all transactions as acknowledged that change a row of those that were.
    mutating func decideByRow(_ former: Set<Identifier>, at now: Int64) throws {
        let keys = try file.store.outgoing().filter { former.contains($0.transaction.id) && $0.verdict != nil }
            .flatMap { $0.transaction.operations.compactMap(\.key) }
        for outgoing in try file.store.outgoing() where outgoing.verdict == nil {
            if outgoing.transaction.operations.contains(where: { $0.key.map(keys.contains) ?? false }) {
                try decide(outgoing, at: now)
            }
        }
    }

    private mutating func decide(_ outgoing: Outgoing, at now: Int64) throws {
        var outgoing = outgoing
        outgoing.status = try .decided(
            .applied(file.store.state.cursor.number), at: HybridTime(milliseconds: now))
        try file.store.put(outgoing)
    }
}

extension Operation {
    fileprivate var key: RowKey? {
        switch action {
        case .insert(let key, _, _), .update(let key, _, _), .delete(let key, _, _): key
        case .batch, .void: nil
        }
    }
}

extension Packet {
    /// The packet with another basis.
    func rebased(on basis: Basis) -> Packet {
        Packet(
            device: device,
            transactions: transactions.map { transaction in
                var rebased = Transaction(
                    number: transaction.number, previous: transaction.previous, time: transaction.time, basis: basis,
                    operations: transaction.operations)
                rebased.wasAcknowledged = transaction.wasAcknowledged
                return rebased
            }, schema: schema)
    }
}

extension SyncResponse {
    var isGap: Bool { if case .gap = self { true } else { false } }
}

extension SyncRequest {
    var isPush: Bool { if case .push = self { true } else { false } }

    var device: Identifier {
        switch self {
        case .push(let packet): packet.device
        case .pull(let request): request.device
        case .snapshot(let request): request.device
        }
    }
}

extension Outgoing {
    /// Whether the app shows the transaction as failed (rule 19).
    var hasFailed: Bool { withdrawal == .expired || verdict?.refusal != nil }
}
