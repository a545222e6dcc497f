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
        guard failure == nil, let finding = devices[index].screen.look(at: try store.shownRows) else { return }
        failure = "device \(index): \(finding)"
    }

    /// Checks that the confirmed rows of a device are those of the server at its cursor.
    mutating func compareConfirmedRows(of index: Int) throws {
        let store = devices[index].file.store
        guard failure == nil, try !store.state.isRevoked else { return }
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
            case .refused(let transaction, _):
                devices[index].screen.forget()
                devices[index].file.written.removeAll { transaction.contains($0) }
            case .pause(let milliseconds): devices[index].pauseEnd = now + milliseconds
            case .send, .met, .upgrade: break
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
        if try store.state.cursor.number != server.store.history.head.number {
            return try "cursor \(store.state.cursor.number), head \(server.store.history.head.number)"
        }
        let rows = server.store.rows.compactMapValues(\.values)
        let shown = try store.shownRows
        for key in Set(rows.keys).union(shown.keys).sorted() where rows[key] != shown[key] {
            return
                "\(key) shows \(String(describing: shown[key])), and the server has \(String(describing: rows[key]))"
        }
        for value in file.written { if let loss = try lost(value, in: store) { return loss } }
        return nil
    }

    /// Returns a description if a value that the user wrote is neither in the log nor refused.
    private func lost(_ value: SyncValue, in store: any SimulatedFile) throws -> String? {
        guard let outgoing = try store.outgoing().first(where: { $0.transaction.contains(value) }) else {
            return "\(value) was never sealed, or is lost"
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
