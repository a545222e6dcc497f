import Foundation
import GRDB
import RunwaySQLite
import Synchronization
import Testing

@testable import RunwayTables

private enum People: RunwayTables.TableDefinition {
    static let name = "person"
    static let id = Column<Int>("id"), name_ = Column<String>("name"), initial = Column<String?>("initial")
    static let columns = TableColumns<Self>(id, name_, initial)
    static let indexes = [Index("personByInitial", on: initial)]
}

/// The first release's table, as its build declares it.
private enum FirstPeople: RunwayTables.TableDefinition {
    static let name = "person"
    static let id = Column<Int>("id"), name_ = Column<String>("name")
    static let columns = TableColumns<Self>(id, name_)
}

private struct PlannedFailure: Error {}

struct MigrationTests {
    private let folder = ScratchFolder()

    private let addingSQL = "ALTER TABLE person ADD COLUMN initial TEXT"
    private var adding: Step {
        Step("initials", sql: addingSQL, back: "ALTER TABLE person DROP COLUMN initial")
    }
    private var filling: Step {
        Step("fill initials", back: "UPDATE person SET initial = NULL") { database in
            try database.execute(
                sql: """
                    UPDATE person SET initial = substr(name, 1, 1)
                    WHERE id IN (SELECT id FROM person WHERE initial IS NULL LIMIT 10)
                    """)
            return try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM person WHERE initial IS NULL") ?? 0
        }
    }
    private var indexing: Step {
        Step(
            "index initials", sql: "CREATE INDEX personByInitial ON person (initial)",
            back: "DROP INDEX personByInitial")
    }
    private var all: Migrations { Migrations(adding, filling, indexing) }

    private func firstRelease(_ count: Int) async throws {
        let store = try await folder.open([FirstPeople.self])
        try await store.write { file in
            for number in 0..<count {
                var row = Values<FirstPeople>()
                row[FirstPeople.name_] = "\(number) name"
                try file.insert(row)
            }
        }
        try await store.close()
    }

    private func steps() throws -> [String] {
        let queue = try DatabaseQueue(path: folder.file.path)
        defer { try? queue.close() }
        return try queue.read { try StepLog.entries(in: $0).map(\.name) }
    }

    @Test func stepsGoUpDownAndUp() async throws {
        try await firstRelease(35)
        for _ in 0..<2 {
            let new = try await folder.open([People.self], all)
            #expect(try await new.read { try $0.fetch(People.self, where: People.initial == "3").count } == 6)
            try await new.close()
            #expect(try steps() == ["initials", "fill initials", "index initials"])
            // A build that has never seen the steps goes back over them, by the SQL in the file.
            let old = try await folder.open([FirstPeople.self])
            #expect(try await old.read { try $0.count(FirstPeople.self) } == 35)
            try await old.close()
            #expect(try steps().isEmpty)
        }
        let middle = try await folder.open(
            [FirstPeople.self], Migrations(adding)
        ) { $0.recover = { _ in .stayAtLastStep } }
        try await middle.close()
        #expect(try steps() == ["initials"])
    }

    @Test func aNewFileHasEveryStep() async throws {
        try await folder.open([People.self], all).close()
        #expect(try steps().count == 3)
        let old = try await folder.open([FirstPeople.self])
        try await old.write { file in
            var row = Values<FirstPeople>()
            row[FirstPeople.name_] = "Ada"
            try file.insert(row)
        }
        try await old.close()
        let new = try await folder.open([People.self], all)
        #expect(try await new.read { try $0.fetchFirst(People.self) }?[People.initial] == "A")
    }

    @Test func batchesReportAndContinue() async throws {
        try await firstRelease(35)
        let reports = Mutex<[MigrationProgress]>([])
        let batchCount = Mutex(0)
        let fill = filling
        guard case .batches(let batch) = fill.work else { return }
        let failing = Step(
            fill.name, back: fill.back,
            inBatches: { database in
                if batchCount.withLock({
                    $0 += 1; return $0
                }) == 3 {
                    throw PlannedFailure()
                }
                return try batch(database)
            })
        let error = await #expect(throws: TableError.self) {
            try await folder.open([People.self], Migrations(adding, failing, indexing))
        }
        #expect(error?.kind == .migration && error?.description.contains("the file is at step 1") == true)
        #expect(try steps() == ["initials"])
        let store = try await folder.open([People.self], all) {
            $0.reportProgress = { progress in reports.withLock { $0.append(progress) } }
        }
        #expect(try await store.read { try $0.count(People.self, where: People.initial == nil) } == 0)
        // Two batches were there already.
        #expect(reports.withLock { $0.filter { $0.number == 2 }.map(\.remaining) } == [5, 0])
    }

    @Test(.timeLimit(.minutes(5)), arguments: [1, 2]) func aStepWithoutProgressFails(place: Int) async throws {
        try await firstRelease(3)
        let batchCount = Mutex(0)
        // Among the batches, and in the transaction that ends the step.
        let step = Step("idle", back: "") { (_: Database) -> Int in
            batchCount.withLock {
                $0 += 1
                return $0 < place ? 0 : 3
            }
        }
        let error = await #expect(throws: TableError.self) {
            try await folder.open([FirstPeople.self], Migrations(step))
        }
        #expect(error?.kind == .migration && error?.description.contains("left 3 rows unchanged") == true)
        #expect(try steps().isEmpty)
    }

    @Test func noWayBackEndsDowngrades() async throws {
        try await folder.open(
            [People.self],
            Migrations(
                adding, filling,
                Step(
                    "index initials", sql: "CREATE INDEX personByInitial ON person (initial)", back: nil))
        ).close()
        let error = await #expect(throws: TableError.self) { try await folder.open([FirstPeople.self]) }
        #expect(error?.kind == .newerSchema && error?.description.contains("index initials") == true)
        #expect(try steps().count == 3)
    }

    @Test func aFailedWayBackLeavesItsStep() async throws {
        let broken = Step(
            "broken", sql: "CREATE INDEX broken ON person (name)", back: "DROP INDEX broken; DROP TABLE nothing")
        try await folder.open([People.self], all).close()
        try await folder.open([People.self], Migrations(all.steps + [broken])) { $0.recover = { _ in .stayAtLastStep } }
            .close()
        #expect(await kind { _ = try await folder.open([People.self], all) } == .migration)
        #expect(try steps().last == "broken")
        let queue = try DatabaseQueue(path: folder.file.path)
        let hasIndex = try await queue.read { try $0.indexes(on: "person").contains { $0.name == "broken" } }
        #expect(hasIndex)
    }

    @Test(arguments: ["ATTACH '{other}' AS other", "COMMIT; VACUUM INTO '{other}'"])
    func aWayBackReachesNoOtherFile(back: String) async throws {
        let other = folder.url.appending(path: "other")
        let step = Step("step", sql: "", back: back.replacing("{other}", with: other.path))
        try await folder.open([FirstPeople.self], Migrations(step)).close()
        #expect(await kind { _ = try await folder.open([FirstPeople.self]) } == .migration)
        #expect(!FileManager.default.fileExists(atPath: other.path))
    }

    @Test func anotherHistoryIsRefused() async throws {
        try await folder.open([People.self], all).close()
        let other = Migrations(adding, Step("other", sql: "", back: ""), indexing)
        #expect(await kind { _ = try await folder.open([People.self], other) } == .migration)
    }

    @Test func aChangedWayBackIsNotExecuted() async throws {
        try await folder.open([People.self], all).close()
        try folder.sql("UPDATE runway_step SET back = 'DROP TABLE person' WHERE number = 3")
        #expect(await kind { _ = try await folder.open([FirstPeople.self]) } == .corrupted)
        let queue = try DatabaseQueue(path: folder.file.path)
        let hasTable = try await queue.read { try $0.tableExists("person") }
        #expect(hasTable)
    }

    @Test func aRehearsalFailsWithoutTheFile() async throws {
        try await firstRelease(3)
        let failing = Step("fails", back: "") { (_: Database) throws -> Void in throw PlannedFailure() }
        let crooked = Step("crooked", sql: "CREATE TABLE other (id INTEGER)", back: "SELECT 1")
        // Its way back leaves the schema, and no rows.
        let losing = Step(
            "losing", sql: "DELETE FROM person WHERE id = 1",
            back: "CREATE TABLE other AS SELECT 1; DROP TABLE other; DELETE FROM person")
        for step in [failing, crooked, losing] {
            let error = await #expect(throws: TableError.self) {
                try await folder.open([People.self], Migrations(adding, step)) { $0.rehearsesMigrations = true }
            }
            #expect(error?.kind == .migration)
            #expect(try steps().isEmpty)
            guard step.name == "losing" else { continue }
            #expect(error?.description.contains("person has 0 rows instead of 2.") == true)
        }
        #expect(try rehearsals().isEmpty)
        // A step that deletes rows is none that loses them.
        let deleting = Step("delete", sql: "DELETE FROM person WHERE id = 1", back: "")
        let steps = Migrations(all.steps + [deleting])
        try await folder.open([People.self], steps) { $0.rehearsesMigrations = true }.close()
        #expect(try self.steps().count == 4)
    }

    private func rehearsals() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.url.path).filter { $0.contains("rehearsal") }
    }

    private func leaveRehearsal() throws {
        let path = "\(folder.file.path)-rehearsal-\(UUID().uuidString)"
        for ending in ["", "-wal"] { try Data("left".utf8).write(to: URL(fileURLWithPath: path + ending)) }
    }

    @Test func aRehearsalRemovesWhatKillsLeft() async throws {
        try await firstRelease(3)
        try leaveRehearsal()
        // The copy of another process, which has not ended.
        let other = URL(fileURLWithPath: "\(folder.file.path)-rehearsal-\(UUID().uuidString)")
        let queue = try SQLiteFile.open(at: other, waitsForDrive: false) {
            try $0.execute(sql: "PRAGMA locking_mode = EXCLUSIVE")
        }
        try await queue.write { try $0.execute(sql: "PRAGMA user_version = 0") }
        let names = Mutex<[String]>([])
        let step = Step("looks", back: "") { (_: Database) throws -> Void in
            let found = try rehearsals()
            names.withLock { $0 += found }
        }
        try await folder.open([FirstPeople.self], Migrations(step)) { $0.rehearsesMigrations = true }.close()
        #expect(names.withLock { $0.contains { $0.hasPrefix("records.sqlite-rehearsal-") } })
        #expect(try rehearsals().filter { !$0.hasPrefix(other.lastPathComponent) }.isEmpty)
        #expect(FileManager.default.fileExists(atPath: other.path))
    }

    @Test(arguments: [RecordStore.Recovery.setAside, .beginAnew])
    func aNewFileHasNoRehearsals(recovery: RecordStore.Recovery) async throws {
        try await firstRelease(3)
        try leaveRehearsal()
        let failing = Step("fails", back: "") { (_: Database) throws -> Void in throw PlannedFailure() }
        try await folder.open([FirstPeople.self], Migrations(failing)) { $0.recover = { _ in recovery } }.close()
        #expect(try rehearsals().isEmpty)
    }

    @Test func differencesOfStepsAreFound() throws {
        #expect(try all.differences(from: FirstPeople.creatingSQL, to: [People.self]).isEmpty)
        #expect(
            try Migrations(adding).differences(from: FirstPeople.creatingSQL, to: [People.self])
                == ["There is no index personByInitial on person as declared."])
        let crooked = Step(
            "index", sql: "\(addingSQL); CREATE INDEX personByInitial ON person (initial)",
            back: "DROP INDEX personByInitial")
        #expect(
            try Migrations(crooked).differences(from: FirstPeople.creatingSQL, to: [People.self])
                == ["The way back over \"index\" leaves person otherwise than it was."])
    }

    @Test func theAppChoosesAfterAFailure() async throws {
        try await firstRelease(3)
        let failing = Migrations(
            adding, Step("fails", back: "") { (_: Database) throws -> Void in throw PlannedFailure() })
        let readOnly = try await folder.open([FirstPeople.self], failing) { $0.recover = { _ in .readOnly } }
        #expect(try await readOnly.read { try $0.count(FirstPeople.self) } == 3)
        #expect(await kind { try await readOnly.write { _ = try $0.insert(Values<Lists>()) } } == .readOnly)
        try await readOnly.close()
        let whole = try await folder.open([FirstPeople.self], failing) { $0.recover = { _ in .stayAtLastStep } }
        #expect(try await whole.write { try $0.delete(FirstPeople.self, where: FirstPeople.id == 1) } == 1)
        try await whole.close()
        let anew = try await folder.open([People.self], failing) { $0.recover = { _ in .setAside } }
        let aside = try #require(anew.setAside)
        #expect(try await anew.read { try $0.count(People.self) } == 0)
        let former = try DatabaseQueue(path: aside.path)
        #expect(try await former.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM person") } == 2)
    }
}
