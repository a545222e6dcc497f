#if PostgreSQL
    import RunwayServer
    import RunwaySyncCore

    /// Records and rows of a space that a transaction has loaded, with its changes on top. An absent record or row has
    /// an entry, too, so that it is loaded once.
    struct SyncCache {
        struct Device {
            var record: DeviceRecord?
            var subject: String?
        }

        struct Place {
            var row: Row?
            var waiting: [WaitingOperation] = []
        }

        var devices: [Identifier: Device] = [:]
        var verdicts: [Identifier: Verdict?] = [:]
        var rows: [RowKey: Place] = [:]

        /// Returns the records and rows that are not loaded yet.
        func missing(_ needs: SpaceNeeds) -> SpaceNeeds {
            var missing = SpaceNeeds()
            missing.devices = needs.devices.filter { devices[$0] == nil }
            missing.transactions = needs.transactions.filter { verdicts[$0] == nil }
            missing.rows = needs.rows.filter { rows[$0] == nil }
            return missing
        }

        func content(for needs: SpaceNeeds) -> SpaceContent {
            var content = SpaceContent()
            for id in needs.devices { content.devices[id] = devices[id]?.record }
            for id in needs.transactions { content.verdicts[id] = verdicts[id] ?? nil }
            for key in needs.rows {
                guard let place = rows[key] else { continue }
                content.rows[key] = place.row
                if !place.waiting.isEmpty { content.waiting[key] = place.waiting }
            }
            return content
        }

        mutating func apply(_ changes: SpaceContent) {
            for (id, record) in changes.devices { devices[id, default: Device()].record = record }
            for (id, verdict) in changes.verdicts { verdicts[id] = verdict }
            for (key, row) in changes.rows { rows[key, default: Place()].row = row }
            for (key, operations) in changes.waiting { rows[key, default: Place()].waiting = operations }
        }
    }

    /// Changes of a space that were not sent to the database yet.
    struct SyncChanges {
        private var devices: [Identifier: DeviceRecord] = [:]
        private var subjects: [Identifier: String] = [:]
        private var verdicts: [Identifier: Verdict] = [:]
        private var rows: [RowKey: Row] = [:]
        private var waiting: [RowKey: [WaitingOperation]] = [:]
        private var entries: [(number: Int64, total: Int64, entry: [UInt8])] = []
        /// The record of the space, with the size of all entries of its log.
        private var space: (history: History, total: Int64)?

        /// Adds the changes of an exchange.
        ///
        /// - Parameter total: The size of all entries of the log, to which the sizes of the new entries are added.
        mutating func add(_ changes: SpaceContent, to total: inout Int64) {
            devices.merge(changes.devices) { $1 }
            verdicts.merge(changes.verdicts) { $1 }
            rows.merge(changes.rows) { $1 }
            waiting.merge(changes.waiting) { $1 }
            for entry in changes.entries {
                let bytes = entry.encoded()
                total += Int64(bytes.count)
                entries.append((entry.number, total, bytes))
            }
            if let history = changes.history { space = (history, total) }
        }

        mutating func setSubject(_ subject: String, of device: Identifier, _ record: DeviceRecord?) {
            subjects[device] = subject
            devices[device] = devices[device] ?? record
        }

        mutating func add(_ later: SyncChanges) {
            devices.merge(later.devices) { $1 }
            subjects.merge(later.subjects) { $1 }
            verdicts.merge(later.verdicts) { $1 }
            rows.merge(later.rows) { $1 }
            waiting.merge(later.waiting) { $1 }
            entries += later.entries
            space = later.space ?? space
        }

        /// Returns the statements that save the changes, one for each table.
        ///
        /// - Parameters:
        ///   - key: The tenant and the space.
        ///   - now: The time of new log entries.
        func commands(_ key: [PostgreSQLParameter], at now: Int64) -> [PostgreSQLCommand] {
            var commands: [PostgreSQLCommand] = []
            func add(_ statement: String, _ count: Int, _ parameters: @autoclosure () -> [PostgreSQLParameter]) {
                if count > 0 { commands.append(PostgreSQLCommand(statement, key + parameters())) }
            }
            let (ids, keys) = (Array(devices.keys), Array(rows.keys))
            add(
                SyncStatements.saveDevices, ids.count,
                [
                    .ids(ids), .lists(ids.map { devices[$0]?.encoded() }),
                    .lists(ids.map { subjects[$0].map { Array($0.utf8) } }),
                ])
            let transactions = Array(verdicts.keys)
            add(
                SyncStatements.saveVerdicts, transactions.count,
                [.ids(transactions), .lists(transactions.map { verdicts[$0]?.encoded() })])
            add(
                SyncStatements.saveRows, keys.count,
                keys.parameters + [
                    .integers(keys.map { rows[$0]?.life ?? 0 }), .lists(keys.map { rows[$0]?.encoded() }),
                ])
            add(
                SyncStatements.append, entries.count,
                [
                    .integer(now), .integers(entries.map(\.number)), .integers(entries.map(\.total)),
                    .lists(entries.map(\.entry)),
                ])
            let left = waiting.filter { !$0.value.isEmpty }.map { $0 }
            let removed = waiting.filter { $0.value.isEmpty }.map(\.key)
            add(
                SyncStatements.saveWaiting, left.count,
                left.map(\.key).parameters + [.lists(left.map { WaitingList($0.value).encoded() })])
            add(SyncStatements.removeWaiting, removed.count, removed.parameters)
            if let space {
                add(SyncStatements.saveSpace, 1, [.bytes(space.history.encoded()), .integer(space.total)])
            }
            return commands
        }
    }

    extension [RowKey] {
        /// The tables and the ids, as two arrays.
        var parameters: [PostgreSQLParameter] {
            [.lists(map { [UInt8]($0.table.utf8) }), .ids(map(\.id))]
        }
    }
#endif
