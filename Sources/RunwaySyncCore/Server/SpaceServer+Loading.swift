extension SpaceServer {
    /// The largest number of rows that all batch updates of one packet may match together. A larger packet is divided.
    private static let maximumMatches = 100_000
    /// The number of batch updates whose rows are loaded together.
    private static let batchesPerLoad = 8

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
        var loaded = SpaceWork(try tables.history)
        var lastMiss: SpaceNeeds?
        while true {
            var needs = loaded.missing(needs(of: request, loaded, also: lastMiss))
            needs.batches = Array(needs.batches.prefix(Self.batchesPerLoad))
            if needs != SpaceNeeds() { loaded.insert(try tables.content(for: needs), for: needs) }
            if case .push(let packet) = request, packet.transactions.count > 1,
                loaded.matchCount > Self.maximumMatches
            {
                return (.tooLarge, SpaceContent())
            }
            var work = loaded
            do {
                let response = try handle(request, at: milliseconds, in: &work)
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
            for transaction in packet.transactions {
                needs.transactions.insert(transaction.id)
                needs.add(transaction, from: packet.device, Merger(policies), loaded)
            }
        case .pull(let request):
            needs.devices.insert(request.device)
            let first = max(request.cursor.number, loaded.history.horizon.number + 1)
            if miss == nil { needs.entries = .init(first: first, limit: pageLimit + 1) }
        case .snapshot(let request):
            needs.devices.insert(request.device)
            needs.transactions.formUnion(request.pending)
            needs.page = .init(after: request.after, limit: pageLimit)
        }
        return needs
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
            case .delete(let key, _): rows.insert(key)
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
