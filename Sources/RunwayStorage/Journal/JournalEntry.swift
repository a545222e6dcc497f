import Foundation
import GRDB
import RunwaySQLite

/// An entry of a ``Journal``: its owner's content, and its position and state in the file.
struct JournalEntry: Sendable, Equatable {
    /// The state of an entry. The raw values are stored.
    enum State: Int, Sendable {
        /// The entry waits to be sent. It was never claimed for a batch, or its last claim was released.
        case waiting = 0
        /// The entry belongs to a batch that has not ended.
        case claimed = 1
        /// The entry is set aside until the app decides about it.
        case setAside = 2
        /// The entry waits for the key with which it was encrypted.
        case sealed = 3
        /// The entry was stored before its owner sent it for the first time, and this attempt has not ended. It can't
        /// be claimed.
        case ahead = 4
    }

    /// The unique id of the entry. An entry whose id is stored already is not stored again.
    var id: UUID
    /// The account or resource of the entry. Entries of one scope are sent in order, and independently of other scopes.
    var scope: String
    /// The priority. Entries with a lower priority are evicted first.
    var priority: Int
    /// The content, which the journal does not interpret. Its first byte is not 0.
    var payload: [UInt8]
    /// Whether the stored bytes can't be decrypted. The payload is empty then.
    var isSealed = false
    /// The position among all entries of the file; 0 before the entry is stored.
    var sequence: Int64 = 0
    var state = State.waiting
    /// The reason why the entry is set aside; empty if it is not.
    var reason = ""
}

extension JournalEntry {
    static let columns = "sequence, id, scope, priority, payload, checksum, moment, state, reason"

    /// Reads a row that begins with the columns of an entry. Returns `nil` if the row is damaged.
    ///
    /// - Parameter state: The state of an entry whose stored state is unknown. By default the entry counts as damaged.
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
        // The first schema versions stored the checksum without the moment.
        guard checksum == RowChecksum.of(self, at: moment) || checksum == RowChecksum.of(self) else { return nil }
    }
}

extension String {
    /// Whether the text can be a scope. SQLite ends a text at U+0000, and would store another scope.
    var isScope: Bool { !utf8.contains(0) }
}

struct JournalBatch: Sendable, Equatable {
    /// The id of the stream in which batches are numbered. A new stream begins with a new file or scope, after a
    /// refusal, and after an erasure.
    var stream: UUID
    /// The number of the batch in its stream: 1, 2, and so on. A number is never used for other entries.
    var number: Int64
    var scope: String
    /// The entries of the batch, never empty, in the order in which they were appended.
    var entries: [JournalEntry]
}

/// The reason why an entry was removed without being acknowledged. The raw values are stored.
enum JournalLoss: String, Sendable, CaseIterable {
    case count
    case bytes
    case age
    /// The stored bytes of the entry were damaged.
    case damaged
    /// The number of set-aside entries exceeded its limit.
    case setAside
}

struct JournalLimits: Sendable, Equatable {
    var maximumCount = 100_000
    var maximumByteCount = 64 << 20
    var maximumAge = Duration.seconds(30 * 86_400)
    var maximumSetAsideCount = 1000
}

/// The number of entries in a ``Journal``, by state.
struct JournalCounts: Sendable, Equatable {
    /// The number of waiting entries by scope (account). Entries of a claimed batch are included.
    var waiting: [String: Int] = [:]
    var waitingByteCount = 0
    var setAside = 0
    /// The number of entries that wait for their encryption key.
    var sealed = 0
    var lost: [JournalLoss: Int] = [:]
}

extension RowChecksum {
    /// Returns the checksum of an entry's row.
    ///
    /// - Parameter moment: The moment at which the entry was stored. The default, `nil`, returns the checksum of the
    ///   first three schema versions.
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

    /// Returns the checksum of a stream's row. With the number 0, returns the checksum of the file's row in the first
    /// three schema versions.
    static func of(_ stream: UUID, _ number: Int64, _ scope: String) -> Int64 {
        var sum = RowChecksum()
        sum.add(stream.bytes)
        sum.add(number)
        sum.add(scope)
        return sum.value
    }
}

extension UUID {
    /// The 16 bytes of the UUID, in the order of its text form.
    var bytes: [UInt8] { withUnsafeBytes(of: uuid) { Array($0) } }

    /// Creates a UUID of version 7 (RFC 9562 §5.7). Ids of later milliseconds sort after earlier ones.
    init(at date: Date, _ generator: inout some RandomNumberGenerator) {
        let milliseconds = UInt64(max(0, min(date.timeIntervalSince1970 * 1000, Double(UInt64(1) << 48 - 1))))
        let high = milliseconds << 16 | 0x7000 | generator.next() & 0x0FFF
        let low = generator.next() & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
        self = withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }
}
