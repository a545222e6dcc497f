import Foundation
import RunwaySyncCore
import Synchronization

extension SyncStore {
    /// Creates an empty store in memory, for tests and for servers whose data may be lost when the process ends.
    ///
    /// - Parameter hook: Called with each transaction before it is committed. If it throws, the transaction is not
    ///   committed; ``SyncRefusal`` refuses it, and any other error fails the request. It must not use the store. The
    ///   default does nothing.
    public static func memory(hook: @escaping @Sendable (SyncCommit) throws -> Void = { _ in }) -> SyncStore {
        SyncStore(MemorySyncDatabase(hook: hook))
    }
}

/// Spaces in memory.
private final class MemorySyncDatabase: SyncDatabase {
    /// Guards the spaces.
    private let spaces = Mutex<[Identifier: MemorySyncContent]>([:])
    private let hook: @Sendable (SyncCommit) throws -> Void

    init(hook: @escaping @Sendable (SyncCommit) throws -> Void) { self.hook = hook }

    func transaction<Value: Sendable>(
        _ access: SyncTransactionAccess, in space: Identifier, byteCount: Int,
        _ body: @escaping @Sendable (inout any SyncTables) throws -> Value
    ) async throws -> Value? {
        try spaces.withLock { spaces in
            let existed = spaces[space] != nil
            if access == .reading, !existed { return nil }
            // Removed, so that the transaction has the only reference, and its changes copy nothing.
            let transaction = MemorySyncTables(spaces.removeValue(forKey: space) ?? MemorySyncContent(), hook: hook)
            var tables: any SyncTables = transaction
            do {
                let value = try body(&tables)
                spaces[space] = transaction.content
                return value
            } catch {
                transaction.undo()
                if existed { spaces[space] = transaction.content }
                throw error
            }
        }
    }

    func spaces(after space: Identifier?, limit: Int) async throws -> [Identifier] {
        spaces.withLock { spaces in
            Array(spaces.keys.filter { key in space.map { key > $0 } ?? true }.sorted().prefix(limit))
        }
    }

    func close() {}
}

/// One space in memory, with what the server stores beside the protocol.
private struct MemorySyncContent {
    var space = MemorySpace(epoch: Identifier(UUID()))
    var subjects: [Identifier: String] = [:]
    var marks: [Int64: LogMark] = [:]
    var logByteCount: Int64 = 0
}

/// The tables of one space inside a transaction.
private final class MemorySyncTables: SyncTables {
    private(set) var content: MemorySyncContent
    /// Undo the changes of this transaction, in their order.
    private var undoing: [(inout MemorySyncContent) -> Void] = []
    private let hook: @Sendable (SyncCommit) throws -> Void

    init(_ content: MemorySyncContent, hook: @escaping @Sendable (SyncCommit) throws -> Void) {
        (self.content, self.hook) = (content, hook)
    }

    var history: History { content.space.history }
    var now: Int64 { Int64(Date().timeIntervalSince1970 * 1000) }

    func content(for needs: SpaceNeeds) -> SpaceContent { content.space.content(for: needs) }

    /// Undoes all changes.
    func undo() {
        for change in undoing.reversed() { change(&content) }
    }

    func save(_ changes: SpaceContent) {
        let (history, byteCount) = (content.space.history, content.logByteCount)
        let devices = changes.devices.keys.map { ($0, content.space.devices[$0]) }
        let verdicts = changes.verdicts.keys.map { ($0, content.space.verdicts[$0]) }
        let rows = changes.rows.keys.map { ($0, content.space.rows[$0]) }
        let waiting = changes.waiting.keys.map { ($0, content.space.waiting[$0]) }
        let numbers = changes.entries.map(\.number)
        undoing.append { content in
            (content.space.history, content.logByteCount) = (history, byteCount)
            for (id, record) in devices { content.space.devices[id] = record }
            for (id, verdict) in verdicts { content.space.verdicts[id] = verdict }
            for (key, row) in rows { content.space.rows[key] = row }
            for (key, operations) in waiting { content.space.waiting[key] = operations }
            for number in numbers { (content.space.entries[number], content.marks[number]) = (nil, nil) }
        }
        content.space.save(changes)
        for entry in changes.entries {
            content.logByteCount += Int64(entry.byteCount)
            content.marks[entry.number] = LogMark(milliseconds: now, byteCount: content.logByteCount)
        }
    }

    func subject(of device: Identifier) -> String? { content.subjects[device] }
    func setSubject(_ subject: String, of device: Identifier) {
        let former = content.subjects.updateValue(subject, forKey: device)
        undoing.append { $0.subjects[device] = former }
    }
    func deviceCount(of subject: String, upTo limit: Int) -> Int {
        min(content.subjects.values.count { $0 == subject }, limit)
    }
    func waitingRowCount(of subject: String, upTo limit: Int) -> Int {
        min(content.space.waiting.values.count { $0.subject?.isSame(as: subject) ?? false }, limit)
    }
    func devices(after device: Identifier?, limit: Int) -> [Identifier] {
        Array(content.space.devices.keys.filter { key in device.map { key > $0 } ?? true }.sorted().prefix(limit))
    }
    func mark(of number: Int64) -> LogMark? { content.marks[number] }
    func removeEntries(through number: Int64) {
        let (entries, marks) = (content.space.entries, content.marks)
        undoing.append { ($0.space.entries, $0.marks) = (entries, marks) }
        content.space.removeEntries(through: number)
        content.marks = content.marks.filter { $0.key > number }
    }
    func notifyHook(of commit: SyncCommit) throws { try hook(commit) }
}
