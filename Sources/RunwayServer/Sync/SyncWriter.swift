public import Foundation
public import RunwaySyncCore

/// Reads and writes rows of a space as a device of the server's own, inside one transaction of the store (rule 21).
///
/// The changes become one entry of the log. Devices merge them as they merge the changes of each other. Hooks see the
/// entry, with no subject.
public struct SyncWriter {
    private let tables: any SyncTables
    private(set) var rows: [(key: RowKey, values: Columns<SyncValue>?)] = []

    init(_ tables: any SyncTables) { self.tables = tables }

    /// Returns the values of a row before this transaction; `nil` if the row does not exist.
    ///
    /// - Throws: The error of the store.
    public func values(of row: UUID, in table: String) throws -> [String: SyncValue]? {
        let key = RowKey(table, Identifier(row))
        var needs = SpaceNeeds()
        needs.rows = [key]
        let values = try tables.content(for: needs).rows[key]?.values
        return values.map { Dictionary($0.map { ($0.name, $0.value) }) { $1 } }
    }

    /// Sets columns of a row, which is inserted if it does not exist. NaN is invalid.
    public mutating func set(_ values: [String: SyncValue], of row: UUID, in table: String) {
        rows.append((RowKey(table, Identifier(row)), Columns(values.map { ($0.key, $0.value) })))
    }

    /// Deletes a row. Does nothing if the row does not exist.
    public mutating func delete(_ row: UUID, in table: String) { rows.append((RowKey(table, Identifier(row)), nil)) }
}

extension SyncService {
    /// Writes rows as a device of the server's own, and wakes the devices of the space.
    ///
    /// ```swift
    /// try await sync.write(in: space) { $0.set(["state": .text("paid")], of: order, in: "order") }
    /// ```
    ///
    /// - Parameters:
    ///   - space: The id of the space, which is created if it does not exist.
    ///   - body: Sets and deletes rows inside the transaction. It must return quickly, must not use the store, and may
    ///     be called again.
    /// - Returns: The number of the log entry; `nil` if nothing changed.
    /// - Throws: ``SyncRefusal`` of a hook, the error of `body` or of the store, and ``SyncWriteError`` for more than
    ///   5,000 rows or 4 MiB, and for NaN. Nothing is changed then.
    @discardableResult
    public func write(
        in space: UUID, _ body: @escaping @Sendable (inout SyncWriter) throws -> Void
    ) async throws -> Int64? {
        let (id, device, policies) = (Identifier(space), Self.device(of: Identifier(space)), self.policies)
        let number = try await database.transaction(.writing, in: id, byteCount: 0) { tables -> Int64? in
            var writer = SyncWriter(tables)
            try body(&writer)
            guard writer.rows.allSatisfy({ $0.values?.allSatisfy(\.value.isValid) ?? true }) else {
                throw SyncWriteError()
            }
            var random = ReplayedRandom(state: .random(in: 0 ... .max))
            let changes: SpaceContent
            do {
                changes = try SpaceServer(policies).write(
                    writer.rows, as: device, at: tables.now, over: &tables, using: &random
                ).changes
            } catch is TransactionTooLarge {
                throw SyncWriteError()
            }
            for entry in changes.entries {
                try tables.notifyHook(of: SyncCommit(entry, in: id, by: nil, over: tables))
            }
            return changes.entries.last?.number
        }
        guard let number, let number else { return nil }
        pokes?.publish(number, of: id)
        return number
    }

    /// The id of the server's own device in a space. No other device may use it.
    static func device(of space: Identifier) -> Identifier { .version5(of: Array("runway.server".utf8), in: space) }
}

/// The error of a write of the server that changes more than 5,000 rows or 4 MiB, or that contains NaN.
public struct SyncWriteError: Error, Hashable, Sendable {}

/// A generator of random numbers (SplitMix64) whose copies produce the same numbers. A write that the server decides
/// again, with a copy, so makes the same ids.
private struct ReplayedRandom: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ word >> 30) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ word >> 27) &* 0x94D0_49BB_1331_11EB
        return word ^ word >> 31
    }
}
