package import RunwaySyncCore

/// The server's tables in memory. A copy is a backup.
package struct MemorySpaceStore: SpaceStore, SpaceTables {
    package var history: History
    package private(set) var rows: [RowKey: Row] = [:]
    private var devices: [Identifier: DeviceRecord] = [:]
    private var verdicts: [Identifier: Verdict] = [:]
    private var entries: [Int64: LogEntry] = [:]
    private var waiting: [RowKey: [WaitingOperation]] = [:]
    let bug: PlantedBug?

    package init(epoch: Identifier, bug: PlantedBug? = nil) {
        history = History(epoch: epoch)
        self.bug = bug
    }

    /// Reads all that is stored in the coding of the stores.
    mutating func reload() throws {
        history = try History(encoded: history.encoded())
        rows = try rows.mapValues { try Row(encoded: $0.encoded()) }
        devices = try devices.mapValues { try DeviceRecord(encoded: $0.encoded()) }
        verdicts = try verdicts.mapValues { try Verdict(encoded: $0.encoded()) }
        entries = try entries.mapValues { try LogEntry(encoded: $0.encoded()) }
        waiting = try waiting.mapValues { try $0.map { try WaitingOperation(encoded: $0.encoded()) } }
    }

    package mutating func setHistory(_ history: History) { self.history = history }
    package func device(_ id: Identifier) -> DeviceRecord? { devices[id] }
    package mutating func setDevice(_ id: Identifier, _ record: DeviceRecord) { devices[id] = record }
    package func verdict(on transaction: Identifier) -> Verdict? {
        bug == .forgetsTransactions ? nil : verdicts[transaction]
    }
    package mutating func setVerdict(on transaction: Identifier, _ verdict: Verdict) { verdicts[transaction] = verdict }

    package func row(_ key: RowKey) -> Row { rows[key] ?? .absent }
    package mutating func setRow(_ key: RowKey, _ row: Row) {
        rows[key] = bug == .purgesTombstones && !row.isLive ? nil : row
    }
    package func keys(matching batch: BatchUpdate, limit: Int) -> [RowKey] {
        Array(rows.filter { $0.key.table == batch.table && batch.matches($0.value) }.map(\.key).sorted().prefix(limit))
    }
    package func rows(after key: RowKey?, limit: Int) -> [KeyedRow] {
        let keys = rows.keys.sorted().drop { row in key.map { row <= $0 } ?? false }
        return keys.lazy.map { KeyedRow($0, row($0)) }.loaded(limit: limit)
    }

    package func entry(_ number: Int64) -> LogEntry? { entries[number] }
    package mutating func append(_ entry: LogEntry) { entries[entry.number] = entry }
    var hasWaiting: Bool { !waiting.isEmpty }
    package func waiting(beside key: RowKey) -> [WaitingOperation] { waiting[key] ?? [] }
    package mutating func setWaiting(beside key: RowKey, _ operations: [WaitingOperation]) {
        waiting[key] = operations.isEmpty ? nil : operations
    }

    package func content(for needs: SpaceNeeds) throws -> SpaceContent {
        var content = SpaceContent()
        for id in needs.devices { content.devices[id] = devices[id] }
        for id in needs.transactions { content.verdicts[id] = verdict(on: id) }
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
        for (key, row) in changes.rows { setRow(key, row) }
        for (key, operations) in changes.waiting { setWaiting(beside: key, operations) }
        for entry in changes.entries { append(entry) }
    }

    /// Removes the log up to a number.
    package mutating func trim(to number: Int64) {
        guard number > history.horizon.number, let entry = entries[number] else { return }
        history.horizon = Cursor(epoch: history.epoch, number: number, tag: entry.tag)
        entries = entries.filter { $0.key > number }
    }

    /// Ends the right of a device to the space.
    package mutating func close(_ device: Identifier) { devices[device, default: DeviceRecord()].isClosed = true }
}
