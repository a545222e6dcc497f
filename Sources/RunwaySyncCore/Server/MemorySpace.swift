/// The tables of one space in memory. A copy is a backup.
package struct MemorySpace: SpaceStore, SpaceTables {
    package var history: History
    package var devices: [Identifier: DeviceRecord] = [:]
    package var verdicts: [Identifier: Verdict] = [:]
    package var rows: [RowKey: Row] = [:]
    package var waiting: [RowKey: [WaitingOperation]] = [:]
    package var entries: [Int64: LogEntry] = [:]

    package init(epoch: Identifier) { history = History(epoch: epoch) }

    package mutating func setHistory(_ history: History) { self.history = history }
    package func device(_ id: Identifier) -> DeviceRecord? { devices[id] }
    package mutating func setDevice(_ id: Identifier, _ record: DeviceRecord) { devices[id] = record }
    package func verdict(on transaction: Identifier) -> Verdict? { verdicts[transaction] }
    package mutating func setVerdict(on transaction: Identifier, _ verdict: Verdict) { verdicts[transaction] = verdict }
    package func row(_ key: RowKey) -> Row { rows[key] ?? .absent }
    package mutating func setRow(_ key: RowKey, _ row: Row) { rows[key] = row }
    package func keys(matching batch: BatchUpdate, limit: Int) -> [RowKey] {
        Array(rows.filter { batch.matches($0.key, $0.value) }.map(\.key).sorted().prefix(limit))
    }
    package func rows(after key: RowKey?, limit: Int) -> [KeyedRow] {
        let keys = rows.keys.filter { row in key.map { row > $0 } ?? true }.sorted()
        return keys.lazy.map { KeyedRow($0, row($0)) }.loaded(limit: limit)
    }
    package func entry(_ number: Int64) -> LogEntry? { entries[number] }
    package mutating func append(_ entry: LogEntry) { entries[entry.number] = entry }
    package func waiting(beside key: RowKey) -> [WaitingOperation] { waiting[key] ?? [] }
    package mutating func setWaiting(beside key: RowKey, _ operations: [WaitingOperation]) {
        waiting[key] = operations.isEmpty ? nil : operations
    }

    package func content(for needs: SpaceNeeds) -> SpaceContent {
        var content = SpaceContent()
        for id in needs.devices { content.devices[id] = devices[id] }
        for id in needs.transactions { content.verdicts[id] = verdicts[id] }
        var keys = needs.rows
        for need in needs.batches { keys.formUnion(self.keys(matching: need.batch, limit: need.limit)) }
        for key in keys { (content.rows[key], content.waiting[key]) = (rows[key], waiting[key]) }
        if let need = needs.entries {
            content.entries = (need.first..<need.first + Int64(need.limit)).compactMap { entries[$0] }
        }
        if let need = needs.page { content.page = rows(after: need.after, limit: need.limit) }
        return content
    }

    package mutating func save(_ changes: SpaceContent) {
        history = changes.history ?? history
        devices.merge(changes.devices) { $1 }
        verdicts.merge(changes.verdicts) { $1 }
        rows.merge(changes.rows) { $1 }
        for (key, operations) in changes.waiting { setWaiting(beside: key, operations) }
        for entry in changes.entries { append(entry) }
    }

    /// Removes the entries of the log up to a number. The history is saved separately.
    package mutating func removeEntries(through number: Int64) { entries = entries.filter { $0.key > number } }
}
