import Foundation
import RunwaySQLite

/// What an owner of a ``Journal`` asks it to store.
struct JournalEntry: Sendable, Equatable {
    /// Identifies the entry for ever. An entry whose id is stored already is not stored again.
    var id: UUID
    /// What is sent in order, apart from other scopes: an account, or a resource.
    var scope: String
    /// Entries of a lower priority are evicted first.
    var priority: Int
    /// The bytes, which the journal does not interpret. The first is not 0.
    var payload: [UInt8]
    /// Whether what is stored can't be opened with the owner's sealing. The payload is empty then.
    var isSealed = false
}

extension String {
    /// Whether the text can be the scope of an entry. SQLite cuts a text at the character U+0000, and would store
    /// another scope.
    var isScope: Bool { !utf8.contains(0) }
}

/// A stored entry and its place in the order of all entries of the file.
struct SequencedEntry: Sendable, Equatable {
    var sequence: Int64
    var entry: JournalEntry
}

/// Entries of one scope that are sent together.
struct JournalBatch: Sendable, Equatable {
    /// Identifies the numbering. A new stream begins with the file, for each scope, after a refusal and after an
    /// erasure.
    var stream: UUID
    /// Counts up by one in its stream, from 1. A number is never used for other entries.
    var number: Int64
    var scope: String
    /// In the order in which they were appended; never empty.
    var entries: [SequencedEntry]
}

/// Why an entry was removed before it was acknowledged.
///
/// The raw values are stored.
enum JournalLoss: String, Sendable, CaseIterable {
    /// There were more entries than allowed.
    case count
    /// The entries had more bytes than allowed.
    case bytes
    /// It was older than allowed.
    case age
    /// Its bytes on the disk were damaged.
    case damaged
    /// There were more entries set aside than allowed.
    case setAside
}

/// How much a ``Journal`` holds.
struct JournalLimits: Sendable, Equatable {
    /// The most entries that wait.
    var maximumCount = 100_000
    /// The most bytes of payloads that wait.
    var maximumByteCount = 64 << 20
    /// How long an entry may wait.
    var maximumAge = Duration.seconds(30 * 86_400)
    /// The most entries that are set aside.
    var maximumSetAsideCount = 1000
}

/// What a ``Journal`` holds now.
struct JournalCounts: Sendable, Equatable {
    /// Entries that wait, by scope. Entries of a batch that was claimed count as waiting.
    var waiting: [String: Int] = [:]
    var waitingByteCount = 0
    var setAside = 0
    /// Entries that wait for the key with which they were encrypted.
    var sealed = 0
    var lost: [JournalLoss: Int] = [:]
}

extension RowChecksum {
    /// The sum of the row of an entry.
    ///
    /// - Parameter moment: When it was stored. The default, `nil`, is the sum of rows of the first three versions of
    ///   the schema.
    static func of(_ entry: JournalEntry, _ sequence: Int64, at moment: Int64? = nil) -> Int64 {
        var sum = RowChecksum()
        sum.add(sequence)
        sum.add(entry.id.bytes)
        sum.add(entry.scope)
        sum.add(Int64(entry.priority))
        sum.add(entry.payload)
        if let moment { sum.add(moment) }
        return sum.value
    }

    /// The sum of a stream's row, and of the file's own in the first three versions of the schema, whose number is 0.
    static func of(_ stream: UUID, _ number: Int64, _ scope: String) -> Int64 {
        var sum = RowChecksum()
        sum.add(stream.bytes)
        sum.add(number)
        sum.add(scope)
        return sum.value
    }
}

extension UUID {
    /// The 16 bytes, in the order in which they are written.
    var bytes: [UInt8] { withUnsafeBytes(of: uuid) { Array($0) } }

    /// Creates a UUID of version 7 (RFC 9562 §5.7): ids of later milliseconds sort after earlier ones.
    init(at date: Date, _ generator: inout some RandomNumberGenerator) {
        let milliseconds = UInt64(max(0, min(date.timeIntervalSince1970 * 1000, Double(UInt64(1) << 48 - 1))))
        let high = milliseconds << 16 | 0x7000 | generator.next() & 0x0FFF
        let low = generator.next() & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
        self = withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }
}
