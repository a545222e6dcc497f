import RunwaySyncCore

extension Simulation {
    /// Checks that the user's own writes never revert on the screen of a device.
    mutating func look(at index: Int) throws {
        let store = devices[index].file.store
        // The log has shown that a transaction is not in it, or a void takes its place; the refusal comes with the
        // next response.
        if try store.outgoing().contains(where: { $0.verdict == nil && ($0.isSettled || $0.withdrawal != nil) }) {
            devices[index].screen.forget()
        }
        if try !store.parkedRows.isEmpty { places.insert(.parked) }
        if try store.schema == 1, try store.rows.contains(where: { $0.value.columns["c"] != nil }) {
            places.insert(.unknownColumn)
        }
        if failure == nil, try !store.showsAll(by: devices[index].process) {
            failure = "device \(index) shows other values than its rows and pending transactions have"
        }
        guard failure == nil, let finding = devices[index].screen.look(at: try store.shownRows) else { return }
        failure = "device \(index): \(finding)"
    }

    /// Checks that the confirmed rows of a device are those of the server at its cursor.
    mutating func compareConfirmedRows(of index: Int) throws {
        let store = devices[index].file.store
        guard failure == nil, direction == .both, try !store.state.isRevoked else { return }
        guard let expected = server.states[try store.state.cursor.tag] else { return }
        let rows = try store.rows
        for key in Set(expected.keys).union(rows.keys).sorted() {
            let (left, right) = (rows[key] ?? .absent, expected[key] ?? .absent)
            if left.life == right.life, left.columns == right.columns { continue }
            failure = try
                "device \(index) at \(store.state.cursor.number): \(key) is \(describe(left)), not \(describe(right))"
            return
        }
    }

    /// Records what the effects of a device say.
    mutating func note(_ effects: [SyncDevice.Effect], of index: Int) {
        for effect in effects {
            switch effect {
            case .refused(let transaction, let refusal):
                if refusal == .expired { places.insert(.expired) }
                devices[index].screen.forget()
                devices[index].file.written.removeAll { transaction.contains($0) }
            case .pause(let milliseconds): devices[index].pauseEnd = now + milliseconds
            case .offered:
                places.insert(.offered)
                schedule(.decision(index), after: .random(in: 1...2_000, using: &random))
            case .differs: failure = failure ?? "device \(index): the digests differ"
            case .send, .met, .upgrade, .moved: break
            }
        }
    }

    /// Compares all devices with the server, and the server with the reference, when all faults have ended.
    func difference() throws -> String? {
        let expected = server.reference.lines.mapValues { line in
            Row(
                life: line.life, number: 0,
                columns: Columns(
                    line.cells.map { name, cell in
                        let time = HybridTime(milliseconds: 0)
                        return (
                            name,
                            Cell(
                                cell.value, Stamp(number: 0, time: time, operation: cell.operation, device: cell.device)
                            )
                        )
                    }))
        }
        for key in Set(expected.keys).union(server.store.rows.keys).sorted() {
            let (left, right) = (server.store.row(key), expected[key] ?? .absent)
            if left.life != right.life || left.values != right.values {
                return "server: \(key) is \(describe(left)), and \(describe(right)) in the reference"
            }
        }
        var digest = Digest()
        for (key, row) in server.store.rows { digest.replace(key, .absent, by: row) }
        if digest != server.store.history.digest { return "the digest of the server is not that of its rows" }
        if let device = server.brokenChain { return "the log has a number of \(device) twice, or out of order" }
        if let value = server.doubled, direction != .both, !hasCopies { return "\(value) was sent twice" }
        for (index, device) in devices.enumerated() where try !device.file.store.state.isRevoked {
            if let difference = try difference(of: device.file) { return "device \(index): \(difference)" }
        }
        return nil
    }

    private func difference(of file: SimulatedDevice.File) throws -> String? {
        let store = file.store
        if try !store.captured().isEmpty { return "writes are not sealed" }
        if let waiting = try store.outgoing().first(where: { $0.verdict == nil }) {
            return try "transaction \(waiting.transaction.number) waits; cursor \(store.state.cursor.number)"
        }
        if direction == .both, let difference = try differenceOfRows(of: store) { return difference }
        if direction != .both, try store.shownRows != file.own { return "the rows of the app have changed" }
        for value in file.written { if let loss = try lost(value, in: store) { return loss } }
        return nil
    }

    private func differenceOfRows(of store: any SimulatedFile) throws -> String? {
        if try store.state.cursor.number != server.store.history.head.number {
            return try "cursor \(store.state.cursor.number), head \(server.store.history.head.number)"
        }
        if try store.state.digest != server.store.history.digest { return "the digests differ" }
        let rows = server.store.rows.compactMapValues(\.values)
        let (schema, shown) = (try store.schema, try store.shownRows)
        for key in Set(rows.keys).union(shown.keys).sorted() {
            let visible = rows[key].flatMap { SimulatedEvent.visible($0, of: key, schema: schema) }
            if visible == shown[key], try (rows[key] != nil && visible == nil) == store.parkedRows.contains(key) {
                continue
            }
            return
                "\(key) shows \(String(describing: shown[key])), and the server has \(String(describing: rows[key]))"
        }
        return nil
    }

    /// Returns a description if a value that the user wrote is neither in the log nor refused.
    private func lost(_ value: SyncValue, in store: any SimulatedFile) throws -> String? {
        guard let outgoing = try store.outgoing().first(where: { $0.transaction.contains(value) }) else {
            // The device removes what a backup of the server contains. The other holder of a copied file may have
            // withdrawn it.
            let isRefused = hasCopies && server.refused.contains(value)
            let isDecided = server.decided.contains(value) || server.superseded.contains(value)
            return isDecided || isRefused ? nil : "\(value) was never sealed, or is lost"
        }
        guard let verdict = outgoing.verdict, verdict.isInLog else { return nil }
        guard let verdict = server.store.verdict(on: outgoing.transaction.id) else {
            return "\(value) is acknowledged, and unknown to the server"
        }
        // The other holder of a copied file may have sent it to a restored server, or withdrawn it.
        if verdict.refusal != nil, !hasCopies { return "\(value) is acknowledged, and then refused" }
        if !verdict.isInLog { return nil }
        let entry = server.store.entry(verdict.number)
        let isTrimmed = verdict.number <= server.store.history.horizon.number
        return isTrimmed || entry?.transaction == outgoing.transaction.id ? nil : "\(value) is not in its log entry"
    }

    private func describe(_ row: Row) -> String {
        "life \(row.life) " + row.columns.map { "\($0.name) \($0.value.value)" }.joined(separator: ", ")
    }
}

extension Transaction {
    /// The texts that the transaction writes.
    var texts: [SyncValue] {
        operations.flatMap { operation -> [SyncValue] in
            switch operation.action {
            case .insert(_, _, let values), .update(_, _, let values):
                return values.map(\.value).filter { if case .text = $0 { true } else { false } }
            case .batch(let batch): return batch.values.map(\.value)
            case .delete, .void: return []
            }
        }
    }

    func contains(_ value: SyncValue) -> Bool {
        operations.contains { operation in
            switch operation.action {
            case .insert(_, _, let values), .update(_, _, let values): values.contains { $0.value == value }
            case .batch(let batch): batch.values.contains { $0.value == value }
            case .delete, .void: false
            }
        }
    }
}

/// A state that a set of runs must reach, so that the runs show something (sometimes-assertions).
package enum Place: String, CaseIterable, Sendable {
    case absent, announcedRestore, batch, clamped, conflict, crashAfterCommit, crashBeforeCommit, duplicate, forked,
        gap,
        history, horizon, lostResponse, refused, repetition, restore, revoked, snapshot, snapshotOfManyPages,
        splitTransaction, superseded, tooLarge, unreadable, wait, deviceTaken,
        expired, offered, parked, sentAgain, serverWrite, unconditionalBatch, unknownColumn, upgrade, waitingOperation,
        withdrawal
}

/// A hash of what was done, in its order (FNV-1a).
struct Trace {
    private(set) var hash: UInt64 = 0xCBF2_9CE4_8422_2325

    mutating func add(_ first: Int64, _ second: Int) {
        for value in [UInt64(bitPattern: first), UInt64(bitPattern: Int64(second))] {
            hash = (hash ^ value) &* (0x100_0000_01B3 as UInt64)
        }
    }
}
