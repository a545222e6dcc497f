import Foundation
import GRDB
import RunwaySQLite
import Testing

@testable import RunwayStorage

/// What an append costs must not depend on how much waits.
struct JournalPlanTests {
    private let folder = ScratchFolder()

    private func plan(_ statement: String, _ journal: Journal) throws -> [String] {
        try journal.write { database in
            let prepared = try database.makeStatement(sql: "EXPLAIN QUERY PLAN " + statement)
            let arguments = StatementArguments(
                Array(repeating: 1, count: statement.filter { $0 == "?" }.count))
            // Whether the index has all columns that a statement reads depends on the version of SQLite.
            return try Row.fetchAll(prepared, arguments: arguments).map {
                ($0["detail"] as String).replacing("COVERING ", with: "")
            }
        }
    }

    @Test func appendSortsAndScansNothing() throws {
        let journal = try Journal(in: folder)
        #expect(try plan(Journal.oldestMoment, journal) == ["SCAN entry USING INDEX entry_by_moment"])
        #expect(
            try plan(Journal.removalByAge, journal) == ["SEARCH entry USING INDEX entry_by_moment (moment<?)"])
        #expect(try plan(Journal.evictionOrder, journal) == ["SCAN entry USING INDEX entry_by_priority"])
    }

    @Test func fileOfTheFirstVersionIsMigrated() throws {
        var journal = try Journal(in: folder)
        try journal.append(["a", "b"])
        let claimed = try #require(try journal.claim(upTo: 1))
        // What the first version had.
        try journal.write { database in
            try database.execute(
                sql: """
                    DROP INDEX entry_by_moment; DROP TABLE setting; DROP INDEX entry_by_priority;
                    CREATE INDEX entry_by_priority ON entry (priority) WHERE state = 0; PRAGMA user_version = 1
                    """)
            try database.execute(
                sql: "UPDATE file SET checksum = ?", arguments: [RowChecksum.of(journal.installation, 0, "")])
            for found in claimed.entries {
                try database.execute(
                    sql: "UPDATE entry SET checksum = ? WHERE sequence = ?",
                    arguments: [RowChecksum.of(found), found.sequence])
            }
        }
        try journal.close()
        journal = try Journal(in: folder)
        #expect(try journal.claim() == claimed)
        try journal.acknowledge(claimed, claimed.ids)
        #expect(try journal.claim()?.texts == ["b"])
        #expect(try journal.setting("x") == nil)
        try journal.set("x", "1")
        #expect(try journal.settings(beginning: "x") == ["": "1"])
        #expect(try journal.write { try Int.fetchOne($0, sql: "PRAGMA user_version") } == 5)
    }
}
