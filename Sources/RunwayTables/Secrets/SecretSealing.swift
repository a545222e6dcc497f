import Foundation
import GRDB
import RunwayStorage

/// Seals and opens the values of secret columns, with the keys of the app.
///
/// A value is sealed for its account, its table, its column and the primary key of its row, so that it can't be opened
/// in another place.
struct SecretSealing: Sendable {
    /// Seals new values, and opens values; `nil` if the store has no sealing.
    let current: (any PayloadSealing)?
    /// The sealings that open values from before a rotation.
    let former: [any PayloadSealing]
    /// The folder's name of the account in ``AccountFiles``; empty without one.
    let account: String

    init(current: (any PayloadSealing)?, former: [any PayloadSealing], account: String = "") {
        (self.current, self.former, self.account) = (current, former, account)
    }

    /// Seals the secrets of a row.
    ///
    /// - Throws: ``TableError/Kind/keyUnavailable`` if the key can't be read, or ``TableError/Kind/rejected`` if the
    ///   row has no key yet.
    func sealed(_ row: RowValues) throws -> RowValues {
        try changed(row) { bytes, context, name in
            do {
                guard let current else { throw Self.unavailable(name) }
                return try current.seal(bytes.storedBytes, for: context).databaseBlob
            } catch { throw Self.unavailable(name) }
        }
    }

    /// Opens the secrets of a row.
    ///
    /// - Throws: ``TableError/Kind/keyUnavailable`` if none of the keys opens a value.
    func open(_ row: inout RowValues) throws {
        row = try changed(row) { sealed, context, name in
            guard case .blob(let bytes) = sealed.storage else { throw Self.unavailable(name) }
            for sealing in [current].compactMap({ $0 }) + former {
                if let opened = try? sealing.open(Array(bytes), for: context), let value = DatabaseValue(opened) {
                    return value
                }
            }
            throw Self.unavailable(name)
        }
    }

    /// Whether the current key opens all secrets of a sealed row.
    func isCurrent(_ row: RowValues) -> Bool {
        (try? changed(row) { sealed, context, name in
            guard case .blob(let bytes) = sealed.storage, let current else { throw Self.unavailable(name) }
            _ = try current.open(Array(bytes), for: context)
            return sealed
        }) != nil
    }

    private func changed(
        _ row: RowValues, _ change: (DatabaseValue, [UInt8], String) throws -> DatabaseValue
    ) throws -> RowValues {
        let layout = row.layout
        var changed = row
        for (position, column) in layout.columns.enumerated() where column.isSecret {
            guard let value = row.slots[position].stored, !value.isNull else { continue }
            var context = Array("\(account)\0\(layout.name)\0\(column.name)\0".utf8)
            for part in try row.key() {
                let bytes = part.storedBytes
                withUnsafeBytes(of: UInt32(bytes.count).littleEndian) { context += $0 }
                context += bytes
            }
            changed.slots[position] = .stored(try change(value, context, "\(layout.name).\(column.name)"))
        }
        return changed
    }

    // No text of the app's error is used: it may contain anything.
    private static func unavailable(_ name: String) -> TableError {
        TableError(.keyUnavailable, "The key of the secret column \(name) can't be read now, or is another one.")
    }
}

extension DatabaseValue {
    /// The type and the bytes, as they are sealed.
    var storedBytes: [UInt8] {
        switch storage {
        case .null: [0]
        case .int64(let number): [1] + withUnsafeBytes(of: number.littleEndian) { Array($0) }
        case .double(let number): [2] + withUnsafeBytes(of: number.bitPattern.littleEndian) { Array($0) }
        case .string(let text): [3] + Array(text.utf8)
        case .blob(let data): [4] + Array(data)
        }
    }

    /// Reads ``storedBytes``; `nil` if they are malformed.
    init?(_ stored: [UInt8]) {
        let bytes = stored.dropFirst()
        func number() -> UInt64? {
            bytes.count == 8 ? bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) } : nil
        }
        switch stored.first {
        case 0: self = .null
        case 1:
            guard let number = number() else { return nil }
            self = Int64(bitPattern: number).databaseValue
        case 2:
            guard let number = number() else { return nil }
            self = Double(bitPattern: number).databaseValue
        case 3:
            guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
            self = text.databaseValue
        case 4: self = Data(bytes).databaseValue
        default: return nil
        }
    }
}

extension [UInt8] {
    fileprivate var databaseBlob: DatabaseValue { Data(self).databaseValue }
}
