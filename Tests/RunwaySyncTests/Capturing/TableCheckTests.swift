import Foundation
import GRDB
import RunwaySyncCore
import RunwayTables
import Testing

@testable import RunwaySync

struct TableCheckTests {
    private let database = try? DatabaseQueue()

    /// Returns the kind of the error with which a table of SQL is refused.
    private func refusal(of sql: String) throws -> TableError.Kind? {
        let queue = try #require(database)
        let capture = ChangeCapture([CapturedTable(name: "item", synced: Synced(column: "s", conflicts: .ask))])
        do {
            try queue.write { database in
                try database.execute(sql: sql)
                try capture.prepare(database)
            }
            return nil
        } catch let error as TableError {
            return error.kind
        }
    }

    @Test(arguments: [
        "a TEXT UNIQUE", "a TEXT CHECK (a <> '')", "a TEXT NOT NULL", "a BLOB REFERENCES item (id) ON DELETE RESTRICT",
    ])
    func columnsThatOtherDevicesCouldViolateAreRefused(_ column: String) throws {
        #expect(
            try refusal(of: "CREATE TABLE item (id BLOB NOT NULL PRIMARY KEY, s BLOB NOT NULL, \(column)) STRICT")
                == .notSyncable)
    }

    @Test(arguments: [
        "id INTEGER PRIMARY KEY, s BLOB NOT NULL)", "id BLOB NOT NULL PRIMARY KEY, s TEXT)",
        "id BLOB NOT NULL PRIMARY KEY, s BLOB NOT NULL) WITHOUT ROWID", "id BLOB, s BLOB, PRIMARY KEY (id, s))",
    ])
    func tablesWithAnotherKeyOrSpaceAreRefused(_ rest: String) throws {
        #expect(try refusal(of: "CREATE TABLE item (\(rest)") == .notSyncable)
    }

    @Test(arguments: [
        ("INSERT INTO item (id) VALUES (NEW.id)", true), ("UPDATE OR IGNORE \"item\" SET s = NULL", true),
        ("DELETE FROM [Item]", true), ("INSERT INTO log SELECT s FROM item -- into item\n", false),
    ])
    func triggersThatWriteATableAreRefused(_ statement: String, _ isRefused: Bool) throws {
        let tables = """
            CREATE TABLE item (id BLOB NOT NULL PRIMARY KEY, s BLOB NOT NULL, a TEXT NOT NULL DEFAULT '') STRICT;
            CREATE TABLE log (id BLOB);
            CREATE TRIGGER other AFTER UPDATE ON log BEGIN \(statement); END
            """
        #expect(try refusal(of: tables) == (isRefused ? .notSyncable : nil))
    }

    @Test(arguments: [
        (false, ConflictPolicy.newestPerColumn, true), (true, .newestPerColumn, false), (true, .wholeRow, false),
        (true, .keepBoth, true), (true, .ask, false),
    ])
    func secretsNeedKeysOnAllDevices(_ sharesKeys: Bool, _ policy: ConflictPolicy, _ isRefused: Bool) throws {
        let synced = Synced(column: "s", conflicts: policy, devicesShareKeys: sharesKeys)
        let capture = ChangeCapture([CapturedTable(name: "item", synced: synced, hasSecrets: true)])
        let queue = try #require(database)
        let prepare = {
            try queue.write { database in
                try database.execute(sql: "CREATE TABLE item (id BLOB NOT NULL PRIMARY KEY, s BLOB NOT NULL, a BLOB)")
                try capture.prepare(database)
            }
        }
        if isRefused { #expect(throws: TableError.self) { try prepare() } } else { try prepare() }
    }

    @Test(arguments: [
        (Duration.milliseconds(500), Int64(500)), (.milliseconds(1_900), 1_900), (.microseconds(1), 1), (.zero, 1),
        (.seconds(Int64.max), 1_000_000_000_000_000),
    ])
    func deadlinesAreRoundedUpToMilliseconds(_ deadline: Duration, _ milliseconds: Int64) {
        #expect(SentOneWay(space: Notes.list, deadline: deadline).synced.direction == .sending(deadline: milliseconds))
    }
}
