#if PostgreSQL
    import RunwayServer
    import RunwaySyncCore

    extension SyncChanges {
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
                left.map(\.key).parameters + [
                    .lists(left.map { $0.value.subject.map { Array($0.utf8) } }),
                    .lists(left.map { WaitingList($0.value).encoded() }),
                ])
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
