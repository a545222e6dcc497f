import Foundation
import GRDB
import RunwaySQLite

/// An entry of a ``Journal``: the content that its owner stores, and the position and state in the file.
struct JournalEntry: Sendable, Equatable {
    /// The state of an entry. The raw values are stored.
    enum State: Int, Sendable {
        /// The entry was never claimed, or its last claim was released.
        case waiting = 0
        /// The entry was claimed, and its claim is not over.
        case claimed = 1
        /// The entry is set aside.
        case setAside = 2
        /// The entry waits for the key with which it was encrypted.
        case sealed = 3
        /// The entry was stored ahead of its owner's attempt, which has not ended. No claim returns it.
        case ahead = 4
    }

    /// Identifies the entry for ever. An entry whose id is stored already is not stored again.
    var id: UUID
    /// The account or resource of the entry. Entries of one scope are sent in order, independently of other scopes.
    var scope: String
    /// Entries of a lower priority are evicted first.
    var priority: Int
    /// The bytes, which the journal does not interpret. The first is not 0.
    var payload: [UInt8]
    /// Whether the stored bytes can't be decrypted with the owner's sealing. The payload is empty then.
    var isSealed = false
    /// The position in the order of all entries of the file; 0 before the entry is stored.
    var sequence: Int64 = 0
    var state = State.waiting
    /// The reason why the entry is set aside; empty otherwise.
    var reason = ""
}

extension JournalEntry {
    static let columns = "sequence, id, scope, priority, payload, checksum, moment, state, reason"

    /// Reads a row that begins with these columns, as it is stored; `nil` if the row is damaged.
    ///
    /// - Parameter state: The state of an entry whose stored state is unknown. By default such an entry is damaged.
    init?(_ row: Row, orIn state: State? = nil) {
        guard let sequence = Int64.fromDatabaseValue(row[0]), let id = UUID.fromDatabaseValue(row[1]),
            let scope = String.fromDatabaseValue(row[2]), let priority = Int.fromDatabaseValue(row[3]),
            let payload = Data.fromDatabaseValue(row[4]), let checksum = Int64.fromDatabaseValue(row[5]),
            let moment = Int64.fromDatabaseValue(row[6]),
            let state = Int.fromDatabaseValue(row[7]).flatMap({ State(rawValue: $0) }) ?? state
        else { return nil }
        self.init(
            id: id, scope: scope, priority: priority, payload: Array(payload), sequence: sequence, state: state,
            reason: String.fromDatabaseValue(row[8]) ?? "")
        // The second sum is that of the first versions of the schema.
        guard checksum == RowChecksum.of(self, at: moment) || checksum == RowChecksum.of(self) else { return nil }
    }
}

extension String {
    /// Whether the text can be the scope of an entry. SQLite cuts a text at the character U+0000, and would store
    /// another scope.
    var isScope: Bool { !utf8.contains(0) }
}

/// Entries of one scope that are sent together.
struct JournalBatch: Sendable, Equatable {
    /// Identifies the numbering. A new stream begins with the file, for each scope, after a refusal and after an
    /// erasure.
    var stream: UUID
    /// Counts up by one in its stream, from 1. A number is never used for other entries.
    var number: Int64
    var scope: String
    /// The entries of the batch, in the order in which they were appended; never empty.
    var entries: [JournalEntry]
}

/// The reason why an entry was removed before it was acknowledged.
///
/// The raw values are stored.
enum JournalLoss: String, Sendable, CaseIterable {
    /// There were more entries than allowed.
    case count
    /// The entries had more bytes than allowed.
    case bytes
    /// The entry was older than allowed.
    case age
    /// The bytes of the entry on the disk were damaged.
    case damaged
    /// There were more entries set aside than allowed.
    case setAside
}

/// The limits of the entries that a ``Journal`` holds.
struct JournalLimits: Sendable, Equatable {
    /// The most entries that wait.
    var maximumCount = 100_000
    /// The most bytes of payloads that wait.
    var maximumByteCount = 64 << 20
    /// The longest time for which an entry may wait.
    var maximumAge = Duration.seconds(30 * 86_400)
    /// The most entries that are set aside.
    var maximumSetAsideCount = 1000
}

/// The numbers of entries that a ``Journal`` holds now.
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
    /// Returns the sum of the row of an entry.
    ///
    /// - Parameter moment: The time at which the entry was stored. The default, `nil`, results in the sum for rows of
    ///   the first three versions of the schema.
    static func of(_ entry: JournalEntry, at moment: Int64? = nil) -> Int64 {
        var sum = RowChecksum()
        sum.add(entry.sequence)
        sum.add(entry.id.bytes)
        sum.add(entry.scope)
        sum.add(Int64(entry.priority))
        sum.add(entry.payload)
        if let moment { sum.add(moment) }
        return sum.value
    }

    /// Returns the sum of a stream's row, and of the file's own in the first three versions of the schema, whose number
    /// is 0.
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
