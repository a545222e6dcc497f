extension SpaceServer {
    /// The largest number of rows that all batch updates of one packet may match together. A larger packet is divided.
    private static let maximumMatches = 100_000
    /// The largest number of batch updates in a packet, whose rows are loaded together. A larger packet is divided.
    static let maximumBatches = 8

    /// Handles a request inside one transaction of a database.
    ///
    /// The database loads what the request names. If the decision needs more, such as the copy of a row, the database
    /// loads that, too, and the decision begins again.
    ///
    /// - Parameters:
    ///   - milliseconds: The time since 1970 by the clock of the database.
    /// - Throws: ``SpaceDamage``, and the errors of the database.
    package func handle(
        _ request: SyncRequest, at milliseconds: Int64, over tables: inout some SpaceTables
    ) throws -> (response: SyncResponse, changes: SpaceContent) {
        if request.schema >= minimumSchema, case .push(let packet) = request, let response = rejection(of: packet) {
            return (response, SpaceContent())
        }
        return try exchange(over: &tables, needs: { needs(of: request, $0, also: $1) }) { work in
            if case .push(let packet) = request, packet.transactions.count > 1,
                work.matchCount > Self.maximumMatches
            {
                return .tooLarge
            }
            return try handle(request, at: milliseconds, in: &work)
        }
    }

    /// Writes rows as a device of the server's own, inside one transaction of a database. See
    /// ``write(_:as:at:in:using:)``.
    package func write(
        _ rows: [(key: RowKey, values: Columns<SyncValue>?)], as device: Identifier, at milliseconds: Int64,
        over tables: inout some SpaceTables, using random: inout some RandomNumberGenerator
    ) throws -> (response: (transaction: Transaction, verdict: Verdict)?, changes: SpaceContent) {
        let start = random
        return try exchange(
            over: &tables,
            needs: { _, miss in
                var needs = miss ?? SpaceNeeds()
                needs.devices.insert(device)
                needs.rows.formUnion(rows.map(\.key))
                return needs
            },
            decide: { work in
                random = start
                return try write(rows, as: device, at: milliseconds, in: &work, using: &random)
            })
    }

    /// Updates all rows that match, as a device of the server's own, inside one transaction of a database.
    package func updateAll(
        _ batch: BatchUpdate, as device: Identifier, at milliseconds: Int64, over tables: inout some SpaceTables,
        using random: inout some RandomNumberGenerator
    ) throws -> (response: (transaction: Transaction, verdict: Verdict)?, changes: SpaceContent) {
        let start = random
        return try exchange(
            over: &tables,
            needs: { _, miss in
                var needs = miss ?? SpaceNeeds()
                needs.devices.insert(device)
                needs.batches.append(.init(batch: batch, limit: 2 * BatchUpdate.maximumRows))
                return needs
            },
            decide: { work in
                random = start
                return try updateAll(batch, as: device, at: milliseconds, in: &work, using: &random)
            })
    }

    /// Loads what a decision needs, decides, and saves the changes. If the decision misses something, loads that, too,
    /// and begins again.
    private func exchange<Response>(
        over tables: inout some SpaceTables, needs: (SpaceWork, SpaceNeeds?) -> SpaceNeeds,
        decide: (inout SpaceWork) throws -> Response
    ) throws -> (response: Response, changes: SpaceContent) {
        var loaded = SpaceWork(try tables.history)
        var lastMiss: SpaceNeeds?
        while true {
            var needs = needs(loaded, lastMiss)
            needs.devices.formUnion(loaded.waitingDevices)
            needs = loaded.missing(needs)
            needs.batches = Array(needs.batches.prefix(Self.maximumBatches))
            if needs != SpaceNeeds() { loaded.insert(try tables.content(for: needs), for: needs) }
            var work = loaded
            do {
                let response = try decide(&work)
                try tables.save(work.changes)
                return (response, work.changes)
            } catch let miss as SpaceMiss {
                if miss.needs == lastMiss { throw SpaceDamage() }
                lastMiss = miss.needs
            }
        }
    }

    /// Returns what a request needs as far as it is known, and what the last decision missed.
    private func needs(of request: SyncRequest, _ loaded: SpaceWork, also miss: SpaceNeeds?) -> SpaceNeeds {
        var needs = miss ?? SpaceNeeds()
        switch request {
        case .push(let packet):
            needs.devices.insert(packet.device)
            // A packet that does not continue the chain costs nothing more.
            if miss == nil, packet.isLarge { return needs }
            for transaction in packet.transactions {
                needs.transactions.insert(transaction.id)
                // A batch without the right is refused before its rows are read.
                if case .batch = transaction.operations[0].action,
                    !mayWrite(sender(packet.device), transaction.operations[0].action)
                {
                    continue
                }
                needs.add(transaction, from: packet.device, Merger(policies), loaded)
            }
        case .pull(let request):
            needs.devices.insert(request.device)
            let first = max(request.cursor.number, loaded.history.horizon.number + 1)
            if miss == nil { needs.entries = .init(first: first, limit: pageLimit + 1) }
        case .snapshot(let request):
            needs.devices.insert(request.device)
            if request.start == nil { needs.transactions.formUnion(request.pending) }
            needs.page = .init(after: request.after, limit: pageLimit)
        }
        return needs
    }
}

extension Packet {
    /// Whether the packet has more than 1,000 operations or a batch update, whose rows cost more to load than the
    /// record of its device.
    fileprivate var isLarge: Bool {
        transactions.reduce(0) { $0 + $1.operations.count } > 1_000
            || transactions.contains { if case .batch = $0.operations[0].action { true } else { false } }
    }
}

extension SpaceNeeds {
    /// Adds the rows of a transaction. Once they are loaded, adds the copies that it makes of them.
    fileprivate mutating func add(
        _ transaction: Transaction, from device: Identifier, _ merger: Merger, _ loaded: SpaceWork
    ) {
        let author = Author(
            device: device, time: .zero, basis: loaded.history.covered(by: transaction.basis), number: .max)
        for operation in transaction.operations {
            switch operation.action {
            case .insert(let key, let life, let values), .update(let key, let life, let values):
                rows.insert(key)
                if let row = try? loaded.row(key), row.life == life,
                    let copy = merger.copy(values, of: row, key, by: author)
                {
                    rows.insert(copy)
                }
            case .delete(let key, _, _): rows.insert(key)
            case .batch(let batch): batches.append(.init(batch: batch, limit: 2 * BatchUpdate.maximumRows))
            case .void: break
            }
        }
    }
}

/// The error of a space whose log has a gap.
package struct SpaceDamage: Error {
    package init() {}
}
