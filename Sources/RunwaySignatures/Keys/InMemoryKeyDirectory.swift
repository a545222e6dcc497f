import Synchronization

/// A key directory in memory. Identifiers are compared byte by byte.
public final class InMemoryKeyDirectory: KeyDirectory {
    /// Guards the records, by key identifier.
    private let records: Mutex<[ExactText: KeyRecord]>

    /// - Parameter records: The records. If two have the same identifier, the later one counts.
    public init(_ records: [KeyRecord] = []) {
        self.records = Mutex(Self.indexed(records))
    }

    /// Returns the record of a key, or `nil` if the identifier is unknown.
    ///
    /// For an unknown identifier, the function reads another record and compares another identifier, so that the work
    /// is the same.
    public func record(forKeyID id: String) -> KeyRecord? {
        let id = ExactText(id)
        return records.withLock { records in
            let index = records.index(forKey: id)
            guard index != nil || !records.isEmpty else { return nil }
            let read = records[index ?? records.startIndex]
            // If an index was found, the search has already compared the identifier. Otherwise, another identifier is
            // compared, so that the work is the same.
            let isKnown = index != nil || read.key == id
            return isKnown ? read.value : nil
        }
    }

    /// All records, sorted by the bytes of their identifiers.
    public var all: [KeyRecord] { records.withLock { $0.sorted { $0.key < $1.key } }.map(\.value) }

    /// One key of each kind in the directory. The algorithm determines the kind, and for RSA also the length of the
    /// key.
    public var exampleKeys: [VerificationKey] {
        records.withLock { Dictionary($0.values.map { ($0.key.kind, $0.key) }) { first, _ in first } }.map(\.value)
    }

    /// Adds a record, or replaces the record with the same identifier.
    public func insert(_ record: KeyRecord) { records.withLock { $0[ExactText(record.id)] = record } }

    /// Revokes a key: all its signatures are refused from now on. Returns `false` if the identifier is unknown.
    @discardableResult
    public func revoke(_ id: String) -> Bool { records.withLock { $0[ExactText(id)]?.isRevoked = true } != nil }

    /// Adds the successor of a key. Both are valid during the overlap.
    ///
    /// Returns `false` without a change if the old key is unknown or revoked, or if the successor's identifier is
    /// already stored: a revoked key must never become valid again.
    public func rotate(_ id: String, to successor: KeyRecord, at now: UnixTime, overlap: Duration) -> Bool {
        precondition(!successor.id.isExactly(id), "A new key has an identifier of its own")
        return records.withLock { records in
            guard let old = records[ExactText(id)], !old.isRevoked, records[ExactText(successor.id)] == nil else {
                return false
            }
            records[ExactText(id)]?.notAfter = min(old.notAfter ?? now + overlap, now + overlap)
            records[ExactText(successor.id)] = successor
            return true
        }
    }

    /// Removes the record of a key. The key is unknown from now on.
    public func remove(_ id: String) { records.withLock { $0[ExactText(id)] = nil } }

    /// Changes the records atomically.
    func change<Value: Sendable>(_ change: (inout [ExactText: KeyRecord]) -> Value) -> Value {
        records.withLock { change(&$0) }
    }

    func replaceAll(_ records: [KeyRecord]) { self.records.withLock { $0 = Self.indexed(records) } }

    private static func indexed(_ records: [KeyRecord]) -> [ExactText: KeyRecord] {
        Dictionary(records.map { (ExactText($0.id), $0) }) { $1 }
    }
}
