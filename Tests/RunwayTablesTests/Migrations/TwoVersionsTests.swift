import Foundation
import GRDB
import RunwayTesting
import Testing

@testable import RunwayTables

#if os(Linux) || os(macOS)
    /// Two programs, of which each knows its own version of one file.
    struct TwoVersionsTests {
        private enum OldItems: RunwayTables.TableDefinition {
            static let name = "item"
            static let id = Column<Int>("id"), title = Column<String>("title")
            static let columns = TableColumns<Self>(id, title)

            static func insert(_ title: String, _ file: TableWriter) throws {
                var row = Values<Self>()
                row[Self.title] = title
                try file.insert(row)
            }
        }

        private enum NewItems: RunwayTables.TableDefinition {
            static let name = "item"
            static let id = Column<Int>("id"), title = Column<String>("title")
            static let length = Column<Int?>("length")
            static let columns = TableColumns<Self>(id, title, length)
            static let indexes = [Index("itemByLength", on: length)]
        }

        private static var steps: Migrations {
            Migrations(
                Step(
                    "lengths", sql: "ALTER TABLE item ADD COLUMN length INTEGER",
                    back: "ALTER TABLE item DROP COLUMN length"),
                Step("fill lengths", back: "UPDATE item SET length = NULL") { database in
                    try database.execute(
                        sql: """
                            UPDATE item SET length = length(title)
                            WHERE id IN (SELECT id FROM item WHERE length IS NULL LIMIT 7)
                            """)
                    return try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM item WHERE length IS NULL") ?? 0
                },
                Step("index", sql: "CREATE INDEX itemByLength ON item (length)", back: "DROP INDEX itemByLength"))
        }

        @Test func oneFileGoesUpDownAndUp() async throws {
            let folder = ScratchFolder()
            for round in 0..<3 {
                await #expect(processExitsWith: .success) {
                    [path = folder.file.path as String, round = round as Int] in
                    // It knows no step.
                    let store = try await RecordStore.open(at: URL(fileURLWithPath: path), tables: [OldItems.self])
                    try await store.write { file in
                        #expect(try file.count(OldItems.self) == 25 * round)
                        #expect(try file.connection.columns(in: "item").count == 2)
                        for number in 0..<20 { try OldItems.insert("old \(number)", file) }
                    }
                    try await store.close()
                }
                await #expect(processExitsWith: .success) {
                    [path = folder.file.path as String, round = round as Int] in
                    let store = try await RecordStore.open(
                        at: URL(fileURLWithPath: path), tables: [NewItems.self], migrations: Self.steps)
                    try await store.write { file in
                        let rows = try file.fetch(NewItems.self)
                        #expect(rows.count == 25 * round + 20)
                        #expect(rows.allSatisfy { $0[NewItems.length] == $0[NewItems.title]?.count })
                        for number in 0..<5 {
                            var row = Values<NewItems>()
                            row[NewItems.title] = "new \(number)"
                            try file.insert(row)
                        }
                    }
                    try await store.close()
                }
            }
        }
    }
#endif
