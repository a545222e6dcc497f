import RunwaySyncCore

extension Simulation {
    mutating func perform(_ event: SimulatedEvent) throws {
        narrate?("\(event)")
        stepCount += 1
        switch event {
        case .write(let index, let writes): try write(writes, on: index)
        case .batch(let index, let table, let below): try updateAll(table: table, below: below, on: index)
        case .pass(let milliseconds): try pass(milliseconds)
        case .link(let index, let link): devices[index].link = link
        case .crash(let index, .now): try devices[index].restart()
        case .crash(let index, let point): devices[index].crash = point
        case .save(let index): devices[index].saved = devices[index].file
        case .restore(let index):
            guard let saved = devices[index].saved else { return }
            devices[index].file = saved
            try devices[index].restart()
            hasCopies = true
            for index in devices.indices { devices[index].screen.isOff = true }
        case .clone(let index, let isNoticed):
            guard devices.count < 6, try !devices[index].file.store.state.isRevoked else { return }
            try add(devices[index].file)
            hasCopies = true
            // Writes that were not sealed are sealed twice, as two operations.
            for index in devices.indices { devices[index].screen.isOff = true }
            if isNoticed { try handle(.wasCopied, on: devices.count - 1) }
        case .clock(let index, let offset): devices[index].offset = offset
        case .backUp: try server.backUp()
        case .restoreServer(let isAnnounced):
            guard try server.restore(announcing: isAnnounced ? newIdentifier() : nil) else { return }
            places.insert(isAnnounced ? .announcedRestore : .restore)
            for index in devices.indices { devices[index].screen.isOff = true }
        case .trim: try server.trim()
        case .limit(let page, let packet):
            server.core.pageLimit = page
            for index in devices.indices { devices[index].process.packetLimit = packet }
        case .fail(let index, let count, let failure):
            devices[index].failures += Array(repeating: failure, count: count)
        case .permit(let index, let table, let isAllowed):
            try server.permit(devices[index].file.store.state.device, table: SimulatedEvent.tables[table], isAllowed)
        case .revoke(let index):
            try server.revoke(devices[index].file.store.state.device)
            devices[index].screen.isOff = true
        case .readmit(let index): try handle(.readmitted, on: index)
        case .poison(let index): if let value = devices[index].file.written.last { server.poison(value) }
        case .sendAgain(let index):
            let failed = try devices[index].file.store.outgoing().first { $0.hasFailed }
            guard let failed, direction != .both else { return }
            // The user waits for it once more.
            devices[index].file.written += failed.transaction.texts
            try handle(.sentAgain(failed.transaction.id), on: index)
            places.insert(.sentAgain)
        case .serverWrite(let writes):
            let former = server.store.history.head.number
            var rows: [(key: RowKey, values: Columns<SyncValue>?)] = []
            for write in writes {
                let values = Columns(write.columns.map { ($0, newValue(of: $0, on: -1)) })
                rows.append((key(of: write), values.isEmpty ? nil : values))
            }
            try server.write(rows, at: now, using: &random)
            places.insert(.serverWrite)
            for index in devices.indices { devices[index].screen.forget() }
            wakeUp(after: former)
        case .update(let index): try update(index)
        case .requireUpdate: server.core.minimumSchema = 2
        case .take(let index): try server.take(devices[index].file.store.state.device)
        case .withdraw(let index):
            let store = devices[index].file.store
            guard let last = try store.outgoing().last(where: { $0.verdict == nil }) else { return }
            try handle(.withdrew(last.transaction.id), on: index)
            places.insert(.withdrawal)
        }
    }

    /// Writes rows in one transaction of the app.
    private mutating func write(_ writes: [SimulatedEvent.RowWrite], on index: Int) throws {
        guard try !devices[index].file.store.state.isRevoked else { return }
        var changes: [(key: RowKey, values: Columns<SyncValue>?)] = []
        let schema = try devices[index].file.store.schema
        for write in writes {
            let key = key(of: write)
            let columns =
                schema > 1 || write.columns.isEmpty ? write.columns : write.columns.map { $0 == "c" ? "a" : $0 }
            var values = Columns(columns.map { ($0, newValue(of: $0, on: index)) })
            // The former app does not write what it refuses.
            if schema == 1, values["n"] == .integer(9) { values["n"] = .integer(8) }
            changes.append((key, values.isEmpty ? nil : values))
            devices[index].file.own[key] = values.isEmpty ? nil : values
            devices[index].file.written += values.map(\.value).filter { if case .text = $0 { true } else { false } }
        }
        try devices[index].file.store.write(changes, at: now + devices[index].offset)
        operationCount += changes.count
        if try devices[index].file.store.captured().count >= SyncDevice.unsealedLimit {
            try devices[index].file.store.seal(by: devices[index].process, at: now, using: &random)
        }
        try look(at: index)
        try handle(.wrote, on: index)
    }

    private func key(of write: SimulatedEvent.RowWrite) -> RowKey {
        // Each write of a device that only sends is a new row, as in a chat.
        let id = direction == .both ? UInt64(write.row) : UInt64(16 * writeCount + write.row)
        return RowKey(SimulatedEvent.tables[write.table], Identifier(high: id, low: direction == .both ? 1 : 2))
    }

    /// Installs the new version of the app of a device.
    private mutating func update(_ index: Int) throws {
        try devices[index].file.store.update(by: devices[index].process, at: now, using: &random)
        try devices[index].restart()
        try look(at: index)
    }

    private mutating func newValue(of column: String, on index: Int) -> SyncValue {
        writeCount += 1
        return column == "n" ? .integer(Int64(writeCount % 10)) : .text("\(writeCount) of \(index)")
    }

    private mutating func updateAll(table: Int, below: Int64, on index: Int) throws {
        // The rows of an app that only sends are not those of the server.
        guard try !devices[index].file.store.state.isRevoked, direction == .both else { return }
        let value = newValue(of: "b", on: index)
        let batch = BatchUpdate(
            table: SimulatedEvent.tables[table],
            where: below < 0 ? [] : [.init("n", .less, .integer(below))], set: ["b": value])
        try devices[index].file.store.updateAll(
            batch, by: devices[index].process, at: now + devices[index].offset, using: &random)
        devices[index].file.written.append(value)
        operationCount += 1
        places.insert(below < 0 ? .unconditionalBatch : .batch)
        // At the server it may match other rows.
        for index in devices.indices { devices[index].screen.isOff = true }
        try handle(.wrote, on: index)
    }

    /// Ends all faults, small limits too. Rights stay as they are.
    mutating func endFaults() throws {
        server.core.pageLimit = max(server.core.pageLimit, 20)
        for index in devices.indices {
            devices[index].link = .clear
            devices[index].process.packetLimit = max(devices[index].process.packetLimit, 20)
            devices[index].failures = []
            devices[index].crash = nil
            if server.core.minimumSchema > 1 { try update(index) }
            // A device that does not pull finds out about a restore of the server when it sends.
            if direction != .both { try write([.init(table: 0, row: 0, columns: ["a"])], on: index) }
        }
    }
}
