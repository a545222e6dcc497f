/// The working set of one exchange: the content that a database has loaded, and the changes on top.
///
/// ``SpaceServer`` decides on it as on any ``SpaceStore``, so that databases differ only in their statements. A read of
/// something that was not loaded throws ``SpaceMiss``; the exchange then begins again with more content.
package struct SpaceWork: SpaceStore {
    private let stored: History
    private var loaded = SpaceContent()
    /// The loads that are complete: a record, row or entry that they name, and did not find, does not exist.
    private var covered = SpaceNeeds()
    /// The limit up to which the rows of a batch update were loaded; `Int.max` if all were.
    private var matches: [BatchUpdate: Int] = [:]
    /// The number of rows that all batch updates match together.
    private(set) var matchCount = 0
    private var entries: [Int64: LogEntry] = [:]
    /// The changes to save.
    package private(set) var changes = SpaceContent()

    package init(_ history: History) { stored = history }

    /// Inserts what a database has loaded.
    package mutating func insert(_ content: SpaceContent, for needs: SpaceNeeds) {
        loaded.devices.merge(content.devices) { $1 }
        loaded.verdicts.merge(content.verdicts) { $1 }
        loaded.rows.merge(content.rows) { $1 }
        loaded.waiting.merge(content.waiting) { $1 }
        for entry in content.entries { entries[entry.number] = entry }
        covered.devices.formUnion(needs.devices)
        covered.transactions.formUnion(needs.transactions)
        covered.rows.formUnion(needs.rows)
        covered.rows.formUnion(content.rows.keys)
        if let page = needs.page { (covered.page, loaded.page) = (page, content.page) }
        for need in needs.batches {
            let count = content.rows.count { need.batch.matches($0.key, $0.value) }
            matchCount += count
            matches[need.batch] = count < need.limit ? .max : need.limit
        }
    }

    /// Removes from needs what was loaded.
    func missing(_ needs: SpaceNeeds) -> SpaceNeeds {
        var needs = needs
        needs.devices.subtract(covered.devices)
        needs.transactions.subtract(covered.transactions)
        needs.rows.subtract(covered.rows)
        if needs.page == covered.page { needs.page = nil }
        needs.batches.removeAll { matches[$0.batch, default: 0] >= $0.limit }
        return needs
    }

    /// The devices whose operations wait beside the loaded rows.
    var waitingDevices: Set<Identifier> { Set(loaded.waiting.values.joined().map(\.sender.device)) }

    package var history: History { changes.history ?? stored }
    package mutating func setHistory(_ history: History) { changes.history = history }

    package func device(_ id: Identifier) throws -> DeviceRecord? {
        if let record = changes.devices[id] ?? loaded.devices[id] { return record }
        if covered.devices.contains(id) { return nil }
        throw SpaceMiss { $0.devices = [id] }
    }
    package mutating func setDevice(_ id: Identifier, _ record: DeviceRecord) { changes.devices[id] = record }

    package func verdict(on transaction: Identifier) throws -> Verdict? {
        if let verdict = changes.verdicts[transaction] ?? loaded.verdicts[transaction] { return verdict }
        if covered.transactions.contains(transaction) { return nil }
        throw SpaceMiss { $0.transactions = [transaction] }
    }
    package mutating func setVerdict(on transaction: Identifier, _ verdict: Verdict) {
        changes.verdicts[transaction] = verdict
    }

    package func row(_ key: RowKey) throws -> Row {
        if let row = changes.rows[key] ?? loaded.rows[key] { return row }
        if covered.rows.contains(key) { return .absent }
        throw SpaceMiss { $0.rows = [key] }
    }
    package mutating func setRow(_ key: RowKey, _ row: Row) { changes.rows[key] = row }

    package func keys(matching batch: BatchUpdate, limit: Int) throws -> [RowKey] {
        func matching(_ rows: [RowKey: Row]) -> [RowKey] {
            rows.filter { batch.matches($0.key, $0.value) }.map(\.key)
        }
        let keys = matching(loaded.rows).filter { changes.rows[$0] == nil } + matching(changes.rows)
        let limitOfLoad = matches[batch] ?? 0
        if keys.count < limit, limitOfLoad < .max {
            throw SpaceMiss { $0.batches = [.init(batch: batch, limit: limitOfLoad + limit)] }
        }
        return Array(keys.sorted().prefix(limit))
    }

    package func rows(after key: RowKey?, limit: Int) throws -> [KeyedRow] {
        let page = SpaceNeeds.Page(after: key, limit: limit)
        if covered.page == page { return loaded.page }
        throw SpaceMiss { $0.page = page }
    }

    package func entry(_ number: Int64) throws -> LogEntry? {
        if let entry = entries[number] ?? changes.entries.first(where: { $0.number == number }) { return entry }
        if number <= history.horizon.number || number > history.head.number { return nil }
        throw SpaceMiss { $0.entries = .init(first: number, limit: 1_000) }
    }
    package mutating func append(_ entry: LogEntry) { changes.entries.append(entry) }

    package func waiting(beside key: RowKey) throws -> [WaitingOperation] {
        if let operations = changes.waiting[key] ?? loaded.waiting[key] { return operations }
        if covered.rows.contains(key) { return [] }
        throw SpaceMiss { $0.rows = [key] }
    }
    package mutating func setWaiting(beside key: RowKey, _ operations: [WaitingOperation]) {
        changes.waiting[key] = operations
    }
}

/// The error of a read in a ``SpaceWork`` of something that was not loaded.
struct SpaceMiss: Error {
    var needs = SpaceNeeds()

    init(_ fill: (inout SpaceNeeds) -> Void) { fill(&needs) }
}
