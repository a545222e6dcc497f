import Foundation
import GRDB
import RunwayTesting

@testable import RunwayTables

/// A change that a program makes in one transaction.
enum ModelChange: Codable {
    case save(Int, String), update(Int, String?), rank(Int, Int), delete(Int), deleteAll(String)
    case updateAll(String, String), failing(Int)

    static func random(using generator: inout SeededGenerator) -> ModelChange {
        let (key, texts) = (Int.random(in: 0..<12, using: &generator), ["a", "bb", "'", "c; --"])
        let text = texts.randomElement(using: &generator) ?? ""
        let other = texts.randomElement(using: &generator) ?? ""
        return switch Int.random(in: 0..<11, using: &generator) {
        case 0...3: .save(key, text)
        case 4, 5: .update(key, Bool.random(using: &generator) ? text : nil)
        case 6: .rank(key, Int.random(in: 10..<20, using: &generator))
        case 7: .delete(key)
        case 8: .deleteAll(text)
        case 9: .updateAll(text, other)
        default: .failing(key)
        }
    }
}

extension ModelChange: CustomStringConvertible {
    var description: String { caseDescription(of: self) }
}

/// The case of an enumeration, with its values and without the names of types.
func caseDescription(of value: Any) -> String {
    Mirror(reflecting: value).children.first.map { "\($0.label ?? "")\($0.value)" } ?? ""
}

struct ModelRow: Equatable {
    var title: String
    var rank: Int?
}

/// The file as it should be.
struct ModelFile {
    private(set) var version = ModelVersion.first
    private(set) var rows: [Int: ModelRow] = [:]

    /// Returns how many rows the change has found.
    mutating func perform(_ change: ModelChange) -> Int {
        switch change {
        case .save(let key, let title):
            rows[key] = ModelRow(title: title, rank: rows[key]?.rank)
            return 1
        case .update(let key, let title):
            if let title { rows[key]?.title = title }
            return rows[key] == nil ? 0 : 1
        case .rank(let key, let rank):
            if version == .first { return 0 }
            rows[key]?.rank = rank
            return rows[key] == nil ? 0 : 1
        case .delete(let key): return rows.removeValue(forKey: key) == nil ? 0 : 1
        case .deleteAll(let title):
            let count = rows.count
            rows = rows.filter { $0.value.title != title }
            return count - rows.count
        case .updateAll(let old, let new):
            let keys = rows.keys.filter { rows[$0]?.title == old }
            for key in keys { rows[key]?.title = new }
            return keys.count
        case .failing: return 0
        }
    }

    mutating func migrate(to target: ModelVersion) {
        for key in rows.keys {
            if target < version { rows[key]?.rank = nil }
            if target == .filled, version < .filled, let row = rows[key], row.rank == nil {
                rows[key]?.rank = row.title.utf8.count
            }
        }
        version = target
    }
}

/// The three versions of a program: the second adds a column, the third fills it.
enum ModelVersion: Int, CaseIterable, Comparable {
    case first, ranked, filled

    static func < (first: Self, second: Self) -> Bool { first.rawValue < second.rawValue }

    private static let steps = [
        Step("rank", sql: "ALTER TABLE item ADD COLUMN rank INTEGER", back: "ALTER TABLE item DROP COLUMN rank"),
        Step("filled", back: "UPDATE item SET rank = NULL") { database in
            try database.execute(
                sql: """
                    UPDATE item SET rank = length(title)
                    WHERE id IN (SELECT id FROM item WHERE rank IS NULL LIMIT 3)
                    """)
            return try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM item WHERE rank IS NULL") ?? 0
        },
    ]

    func open(_ file: URL) async throws -> RecordStore {
        let migrations = Migrations(Array(Self.steps.prefix(rawValue)))
        let table: any RunwayTables.TableDefinition.Type = self == .first ? FirstItems.self : Items.self
        return try await RecordStore.open(at: file, tables: [table], migrations: migrations)
    }

    /// Returns how many rows the change has found.
    func perform(_ change: ModelChange, on store: RecordStore) async throws -> Int {
        do {
            return try await store.write { file in
                if case .rank(let key, let rank) = change {
                    var values = row(Items.self, key, nil)
                    values[Items.rank] = rank
                    return self == .first ? 0 : try file.update(values) ? 1 : 0
                }
                return try self == .first ? perform(change, FirstItems.self, file) : perform(change, Items.self, file)
            }
        } catch is Refusal { return 0 }
    }

    private func perform<Table: ItemTable>(
        _ change: ModelChange, _ table: Table.Type, _ file: TableWriter
    ) throws -> Int {
        switch change {
        case .save(let key, let title):
            try file.save(row(table, key, title))
            return 1
        case .update(let key, let title): return try file.update(row(table, key, title)) ? 1 : 0
        case .rank: return 0
        case .delete(let key): return try file.delete(table, where: Table.id == key)
        case .deleteAll(let title): return try file.delete(table, where: Table.title == title)
        case .updateAll(let old, let new):
            var values = Values<Table>()
            values[Table.title] = new
            return try file.updateAll(values, where: Table.title == old)
        case .failing(let key):
            try file.delete(table, where: nil)
            try file.save(row(table, key, "refused"))
            return 0
        }
    }

    func rows(of store: RecordStore) async throws -> [Int: ModelRow] {
        try await store.read { file in
            var rows: [Int: ModelRow] = [:]
            if self == .first {
                for row in try file.fetch(FirstItems.self) {
                    rows[try row.require(FirstItems.id)] = ModelRow(title: try row.require(FirstItems.title))
                }
            } else {
                for row in try file.fetch(Items.self) {
                    rows[try row.require(Items.id)] = ModelRow(
                        title: try row.require(Items.title), rank: row[Items.rank])
                }
            }
            return rows
        }
    }
}

private protocol ItemTable: RunwayTables.TableDefinition {
    static var id: TableColumn<Self, Int> { get }
    static var title: TableColumn<Self, String> { get }
}

extension ItemTable {
    static func validate(_ values: Values<Self>, for change: TableChange) throws {
        if values[title] == "refused" { throw Refusal() }
    }
}

private enum FirstItems: ItemTable {
    static let name = "item"
    static let id = Column<Int>("id"), title = Column<String>("title")
    static let columns = TableColumns<Self>(id, title)
}

private enum Items: ItemTable {
    static let name = "item"
    static let id = Column<Int>("id"), title = Column<String>("title"), rank = Column<Int?>("rank")
    static let columns = TableColumns<Self>(id, title, rank)
}

private func row<Table: ItemTable>(_ table: Table.Type, _ key: Int, _ title: String?) -> Values<Table> {
    var row = Values<Table>()
    row[Table.id] = key
    row[Table.title] = title
    return row
}
