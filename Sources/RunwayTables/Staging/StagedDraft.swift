import Foundation
import GRDB

/// A draft as bytes of a side file, with its tables and columns by name, and its secrets sealed. It is saved without
/// the declarations, in the tables that the file has at that time.
struct StagedDraft {
    private var parts: [(table: String, values: [(column: String, value: DatabaseValue)])] = []

    /// Takes a draft that could be saved, as far as its own values decide that.
    ///
    /// - Throws: ``TableError/Kind/rejected``, or what a validation throws.
    init(_ draft: Draft, _ secrets: SecretSealing, _ files: FileFolder) throws {
        for var row in draft.rows {
            if !row.layout.assignsKeys || !row.slots[0].isAbsent { _ = try row.key() }
            _ = try row.checked(row.positions)
            // A row that could be inserted may be; any other can only be an update.
            try row.layout.validate(row, row.missingColumn == nil ? .insert : .update)
            try files.check(row)
            if row.layout.hasSecrets { row = try secrets.sealed(row) }
            parts.append(
                (row.layout.name, row.positions.map { (row.layout.columns[$0].name, row.slots[$0].stored ?? .null) }))
        }
    }

    /// Reads ``bytes``; `nil` if they are malformed.
    init?(_ bytes: [UInt8]) {
        var rest = bytes[...]
        func number() -> Int? {
            guard rest.count >= 4 else { return nil }
            defer { rest = rest.dropFirst(4) }
            return rest.prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
        }
        func field() -> [UInt8]? {
            guard let count = number(), rest.count >= count else { return nil }
            defer { rest = rest.dropFirst(count) }
            return Array(rest.prefix(count))
        }
        func text() -> String? { field().flatMap { String(validating: $0, as: UTF8.self) } }
        while !rest.isEmpty {
            guard let table = text(), let count = number() else { return nil }
            var values: [(String, DatabaseValue)] = []
            while values.count < count {
                guard let column = text(), let value = field().flatMap({ DatabaseValue($0) }) else { return nil }
                values.append((column, value))
            }
            parts.append((table, values))
        }
    }

    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        func add(_ number: Int) { withUnsafeBytes(of: UInt32(number).littleEndian) { bytes += $0 } }
        func add(_ field: [UInt8]) {
            add(field.count)
            bytes += field
        }
        for (table, values) in parts {
            add(Array(table.utf8))
            add(values.count)
            for (column, value) in values {
                add(Array(column.utf8))
                add(value.storedBytes)
            }
        }
        return bytes
    }

    /// Saves the rows.
    ///
    /// - Parameter layouts: The tables that were looked up in this transaction.
    func save(with writer: TableWriter, _ layouts: inout [String: TableLayout]) throws {
        for (table, values) in parts {
            let layout = try layouts[table] ?? TableLayout(of: table, in: writer.connection)
            layouts[table] = layout
            var row = RowValues(layout)
            for (column, value) in values {
                guard let position = layout.columns.firstIndex(where: { $0.name == column }) else {
                    throw TableError(.rejected, "There is no column \(table).\(column).")
                }
                row.slots[position] = .stored(value)
            }
            _ = try writer.save(row)
        }
    }
}

extension TableLayout {
    /// Reads the layout of a table from a file. The layout lacks the rules of the table's declaration.
    fileprivate convenience init(of name: String, in database: Database) throws {
        guard try database.tableExists(name) else { throw TableError(.rejected, "There is no table \(name).") }
        let key = try database.primaryKey(name).columns
        let columns = try database.columns(in: name)
        let others = columns.filter { !key.contains($0.name) }
        self.init(
            name: name,
            columns: (key.compactMap { name in columns.first { $0.name == name } } + others).map {
                ColumnFacts(
                    $0.name, type: Database.ColumnType(rawValue: $0.type.uppercased()),
                    isNullable: !key.contains($0.name))
            }, keyCount: key.count, indexes: [], validate: { _, _ in })
    }
}

extension ColumnFacts {
    /// A column whose values were checked before.
    fileprivate init(_ name: String, type: Database.ColumnType, isNullable: Bool) {
        (self.name, self.type, self.isNullable, defaultValue) = (name, type, isNullable, nil)
        (isSecret, isFile) = (false, false)
        (isReadable, isValid) = ({ _ in true }, nil)
    }
}
