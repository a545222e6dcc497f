import Synchronization

/// A directory of keys in memory.
public final class InMemoryKeyDirectory: KeyDirectory {
    /// The records by the identifiers of their keys.
    private let records: Mutex<[String: KeyRecord]>

    /// - Parameter records: The records; of two with the same identifier, the last.
    public init(_ records: [KeyRecord] = []) {
        self.records = Mutex(Self.indexed(records))
    }

    /// The record of a key.
    public func record(forKeyID id: String) -> KeyRecord? { records.withLock { $0[id] } }

    /// All records, sorted by identifier.
    public var all: [KeyRecord] { records.withLock { Array($0.values) }.sorted { $0.id < $1.id } }

    /// Adds a record, or replaces the one with the same identifier.
    public func insert(_ record: KeyRecord) { records.withLock { $0[record.id] = record } }

    /// Refuses all signatures of a key from now on. Returns `false` if the identifier is unknown.
    @discardableResult
    public func revoke(_ id: String) -> Bool { records.withLock { $0[id]?.isRevoked = true } != nil }

    /// Adds the successor of a key. Both are accepted for the length of the overlap. Returns `false`, and adds nothing, if the old
    /// key is unknown or revoked.
    public func rotate(_ id: String, to successor: KeyRecord, at now: UnixTime, overlap: Duration) -> Bool {
        precondition(successor.id != id, "A new key has an identifier of its own")
        return records.withLock { records in
            guard let old = records[id], !old.isRevoked else { return false }
            records[id]?.notAfter = min(old.notAfter ?? now + overlap, now + overlap)
            records[successor.id] = successor
            return true
        }
    }

    /// Removes a record. Its key is unknown from now on.
    public func remove(_ id: String) { records.withLock { $0[id] = nil } }

    /// Changes the records at once.
    func change<Value: Sendable>(_ change: (inout [String: KeyRecord]) -> Value) -> Value {
        records.withLock { change(&$0) }
    }

    /// Replaces all records at once.
    func replaceAll(_ records: [KeyRecord]) { self.records.withLock { $0 = Self.indexed(records) } }

    private static func indexed(_ records: [KeyRecord]) -> [String: KeyRecord] {
        Dictionary(records.map { ($0.id, $0) }) { $1 }
    }
}
