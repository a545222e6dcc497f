package import RunwaySyncCore

/// The file of a simulated device, and the writes of its app. A copy is a saved file.
package protocol SimulatedFile {
    var state: DeviceState { get throws }
    /// The confirmed rows.
    var rows: [RowKey: Row] { get throws }
    var shownRows: [RowKey: Columns<SyncValue>] { get throws }
    func captured() throws -> [CapturedTransaction]
    func outgoing() throws -> [Outgoing]
    /// Changes a transaction, as a device with a planted mistake does.
    mutating func put(_ outgoing: Outgoing) throws
    /// Writes as the app does, in one transaction.
    ///
    /// - Throws: ``TransactionTooLarge``.
    mutating func write(_ values: [(key: RowKey, values: Columns<SyncValue>?)], at milliseconds: Int64) throws
    /// The version of the app's tables: 1, and 2 after ``update()``. The default is 2.
    var schema: Int64 { get throws }
    /// The rows that the tables of the app refused. None by default.
    var parkedRows: Set<RowKey> { get throws }
    /// Installs version 2 of the app, in one transaction. Does nothing by default.
    mutating func update(by process: SyncDevice, at milliseconds: Int64, using random: inout SeededRandom) throws
    /// Whether the app sees what the rows and the pending transactions make. `true` by default.
    func showsAll(by process: SyncDevice) throws -> Bool
    /// Reads all that is stored, as a process does when it begins. Does nothing by default.
    mutating func reload() throws
    /// Updates all rows that match, in one transaction.
    mutating func updateAll(
        _ batch: BatchUpdate, by process: SyncDevice, at milliseconds: Int64, using random: inout SeededRandom) throws
    /// Seals the writes of the app, in one transaction.
    mutating func seal(by process: SyncDevice, at milliseconds: Int64, using random: inout SeededRandom) throws
    /// Handles an event in one transaction.
    mutating func handle(
        _ event: SyncDevice.Event, by process: inout SyncDevice, at milliseconds: Int64,
        using random: inout SeededRandom
    ) throws -> [SyncDevice.Effect]
}

extension SimulatedFile {
    package mutating func reload() {}
    package func showsAll(by process: SyncDevice) throws -> Bool { true }
    package var schema: Int64 { 2 }
    package var parkedRows: Set<RowKey> { [] }
    package mutating func update(
        by process: SyncDevice, at milliseconds: Int64, using random: inout SeededRandom
    ) throws {}
}

extension SimulatedFile where Self: DeviceStore {
    package mutating func updateAll(
        _ batch: BatchUpdate, by process: SyncDevice, at milliseconds: Int64, using random: inout SeededRandom
    ) throws { try process.updateAll(batch, at: milliseconds, in: &self, using: &random) }

    package mutating func seal(
        by process: SyncDevice, at milliseconds: Int64, using random: inout SeededRandom
    ) throws { try process.seal(at: milliseconds, in: &self, using: &random) }

    package mutating func handle(
        _ event: SyncDevice.Event, by process: inout SyncDevice, at milliseconds: Int64,
        using random: inout SeededRandom
    ) throws -> [SyncDevice.Effect] { try process.handle(event, at: milliseconds, in: &self, using: &random) }
}

/// A device's tables in memory, with what SQLite's triggers do: each write of the app captures the row before it.
///
/// A copy is a saved file.
package struct MemoryDeviceStore: DeviceStore, SimulatedFile {
    package var state: DeviceState
    package private(set) var previewed: Set<RowKey> = []
    package private(set) var copies: [RowKey: RowKey]?
    package private(set) var shownRows: [RowKey: Columns<SyncValue>] = [:]
    package private(set) var rows: [RowKey: Row] = [:]
    private var stagedRows: [RowKey: Row] = [:]
    private var changes: [CapturedTransaction] = []
    private var transactions: [Outgoing] = []
    package private(set) var schema: Int64 = 1
    package private(set) var parkedRows: Set<RowKey> = []
    let bug: PlantedBug?

    package init(device: Identifier, bug: PlantedBug? = nil) {
        state = DeviceState(device: device)
        self.bug = bug
    }

    /// Writes as the app does, in one transaction.
    ///
    /// - Throws: ``TransactionTooLarge``.
    package mutating func write(
        _ values: [(key: RowKey, values: Columns<SyncValue>?)], at milliseconds: Int64
    ) throws(TransactionTooLarge) {
        var captured = CapturedTransaction(time: state.timeOfWrite(at: milliseconds))
        for (key, values) in values {
            let byteCount = values?.reduce(0) { $0 + $1.value.byteCount } ?? 0
            try captured.capture(key, before: shownRows[key], byteCount: byteCount)
            // The app can't delete a row that it does not have.
            if values != nil { parkedRows.remove(key) }
            if let values { shownRows[key, default: [:]].merge(values) } else { shownRows[key] = nil }
        }
        if bug != .captureAfterCommit { changes.append(captured) }
    }

    /// Reads all that is stored in the coding of the stores.
    package mutating func reload() throws {
        state = try DeviceState(encoded: state.encoded())
        transactions = try transactions.map { try Outgoing(encoded: $0.encoded()) }
        rows = try rows.mapValues { try Row(encoded: $0.encoded()) }
        stagedRows = try stagedRows.mapValues { try Row(encoded: $0.encoded()) }
        copies = nil
    }

    package mutating func setState(_ state: DeviceState) { self.state = state }
    package func row(_ key: RowKey) -> Row { rows[key] ?? .absent }
    package mutating func setRow(_ key: RowKey, _ row: Row) { rows[key] = row }

    package func keys(matching batch: BatchUpdate, limit: Int) -> [RowKey] {
        Array(rows.filter { batch.matches($0.key, $0.value) }.map(\.key).sorted().prefix(limit))
    }

    package func shown(_ key: RowKey) -> Columns<SyncValue>? { shownRows[key] }
    package mutating func show(_ key: RowKey, _ values: Columns<SyncValue>?) {
        if bug == .capturesTheLog {
            var captured = CapturedTransaction(time: state.clock.last)
            try? captured.capture(key, before: shownRows[key], byteCount: 0)
            changes.append(captured)
        }
        let visible = values.flatMap { SimulatedEvent.visible($0, of: key, schema: schema) }
        shownRows[key] = visible
        if (values == nil) == (visible == nil) { parkedRows.remove(key) } else { parkedRows.insert(key) }
    }

    package mutating func update(
        by process: SyncDevice, at milliseconds: Int64, using random: inout SeededRandom
    ) throws {
        try process.seal(at: milliseconds, in: &self, using: &random)
        schema = 2
        let changed = parkedRows.union(rows.filter { $0.value.columns["c"] != nil }.keys)
        try process.refresh(ChangedRows(changed), in: &self)
    }

    package mutating func setPreviewed(_ keys: Set<RowKey>, of all: Set<RowKey>) {
        previewed.subtract(all)
        previewed.formUnion(keys)
    }

    package mutating func setCopies(_ copies: [RowKey: RowKey]) { self.copies = copies }

    /// Whether the app sees what the confirmed rows and all pending transactions make (rule 5), unless it has written
    /// since.
    package func showsAll(by process: SyncDevice) throws -> Bool {
        if !changes.isEmpty { return true }
        var all = self
        try process.refresh(.all, in: &all)
        return all.shownRows == shownRows && all.previewed == previewed
    }

    package func captured() -> [CapturedTransaction] { changes }
    package mutating func removeCaptured() { changes = [] }

    package func outgoing() -> [Outgoing] { transactions }
    package mutating func put(_ outgoing: Outgoing) {
        var outgoing = outgoing
        if bug == .hidesAtVerdict, outgoing.verdict != nil { outgoing.isSettled = true }
        if bug == .forgetsAcknowledged, outgoing.verdict?.isInLog == true { return remove(outgoing: outgoing.sequence) }
        if let index = transactions.firstIndex(where: { $0.sequence >= outgoing.sequence }) {
            if transactions[index].sequence == outgoing.sequence {
                transactions[index] = outgoing
            } else {
                transactions.insert(outgoing, at: index)
            }
        } else {
            transactions.append(outgoing)
        }
    }
    package mutating func remove(outgoing sequence: Int64) { transactions.removeAll { $0.sequence == sequence } }

    package func staged(_ key: RowKey) -> Row {
        stagedRows[key] ?? .absent
    }
    package mutating func stage(_ key: RowKey, _ row: Row) { stagedRows[key] = row }
    package mutating func removeStaged() { stagedRows = [:] }
    package mutating func adoptStaged() {
        (rows, stagedRows) = (stagedRows, [:])
        (shownRows, parkedRows) = ([:], [])
        for (key, row) in rows { show(key, row.values) }
        if bug == .snapshotDropsOutgoing { transactions = [] }
    }
}
