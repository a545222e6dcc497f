import Foundation
package import RunwaySyncCore
import Synchronization

/// Stores spaces in memory, for tests and for servers whose data may be lost when the process ends.
public final class MemorySyncStore: SyncStore {
    /// Guards the spaces.
    private let spaces = Mutex<[Identifier: MemorySyncTables]>([:])
    private let hook: @Sendable (SyncCommit) throws -> Void

    /// Creates an empty store.
    ///
    /// - Parameter hook: Called with each transaction before it is committed. If it throws, the transaction is not
    ///   committed; ``SyncRefusal`` refuses it, and any other error fails the request. It must not use the store. The
    ///   default does nothing.
    public init(hook: @escaping @Sendable (SyncCommit) throws -> Void = { _ in }) { self.hook = hook }
}

extension MemorySyncStore: SyncDatabase {
    package func transaction<Value: Sendable>(
        _ access: SyncTransactionAccess, in space: Identifier, byteCount: Int,
        _ body: @escaping @Sendable (inout any SyncTables) throws -> Value
    ) async throws -> Value? {
        try spaces.withLock { spaces in
            if access == .reading, spaces[space] == nil { return nil }
            var tables: any SyncTables = spaces[space] ?? MemorySyncTables(hook: hook)
            let value = try body(&tables)
            spaces[space] = tables as? MemorySyncTables
            return value
        }
    }

    package func spaces(after space: Identifier?, limit: Int) async throws -> [Identifier] {
        spaces.withLock { spaces in
            Array(spaces.keys.filter { key in space.map { key > $0 } ?? true }.sorted().prefix(limit))
        }
    }
}

/// The tables of one space in memory.
private struct MemorySyncTables: SyncTables {
    let hook: @Sendable (SyncCommit) throws -> Void
    private(set) var history: History
    private var devices: [Identifier: DeviceRecord] = [:]
    private var subjects: [Identifier: String] = [:]
    private var verdicts: [Identifier: Verdict] = [:]
    private var rows: [RowKey: Row] = [:]
    private var waiting: [RowKey: [WaitingOperation]] = [:]
    private var log: [Int64: (entry: LogEntry, mark: LogMark)] = [:]
    private var logByteCount: Int64 = 0

    init(hook: @escaping @Sendable (SyncCommit) throws -> Void) {
        self.hook = hook
        history = History(epoch: Identifier(UUID()))
    }

    var now: Int64 { Int64(Date().timeIntervalSince1970 * 1000) }

    func content(for needs: SpaceNeeds) throws -> SpaceContent {
        var content = SpaceContent()
        for id in needs.devices { content.devices[id] = devices[id] }
        for id in needs.transactions { content.verdicts[id] = verdicts[id] }
        var keys = needs.rows
        for need in needs.batches {
            let matching = rows.lazy.filter { $0.key.table == need.batch.table && need.batch.matches($0.value) }
            keys.formUnion(matching.map(\.key).prefix(need.limit))
        }
        for key in keys { (content.rows[key], content.waiting[key]) = (rows[key], waiting[key]) }
        if let need = needs.entries {
            for number in need.first..<need.first + Int64(need.limit) {
                guard let entry = log[number]?.entry else { break }
                content.entries.append(entry)
            }
        }
        if let need = needs.page {
            let keys = rows.keys.filter { key in need.after.map { key > $0 } ?? true }.sorted()
            content.page = keys.lazy.map { KeyedRow($0, rows[$0] ?? .absent) }.loaded(limit: need.limit)
        }
        return content
    }

    mutating func save(_ changes: SpaceContent) {
        history = changes.history ?? history
        devices.merge(changes.devices) { $1 }
        verdicts.merge(changes.verdicts) { $1 }
        rows.merge(changes.rows) { $1 }
        for (key, operations) in changes.waiting { waiting[key] = operations.isEmpty ? nil : operations }
        for entry in changes.entries {
            logByteCount += Int64(entry.byteCount)
            log[entry.number] = (entry, LogMark(milliseconds: now, byteCount: logByteCount))
        }
    }

    func subject(of device: Identifier) -> String? { subjects[device] }
    mutating func setSubject(_ subject: String, of device: Identifier) { subjects[device] = subject }
    func deviceCount(of subject: String, upTo limit: Int) -> Int {
        min(subjects.values.count { $0 == subject }, limit)
    }
    func devices(after device: Identifier?, limit: Int) -> [Identifier] {
        Array(devices.keys.filter { key in device.map { key > $0 } ?? true }.sorted().prefix(limit))
    }
    func mark(of number: Int64) -> LogMark? { log[number]?.mark }
    mutating func removeEntries(through number: Int64) { log = log.filter { $0.key > number } }
    func notifyHook(of commit: SyncCommit) throws { try hook(commit) }
}
