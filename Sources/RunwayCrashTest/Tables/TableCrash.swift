import ArgumentParser
import Foundation
import GRDB
import RunwayDemo
import RunwayTables
import RunwayTesting

/// Kills programs of two versions of an app. The programs write one file with single writes and with
/// `RecordStore.stage`, and migrate it to the later version and back. Checks the file after kills.
struct TableCrash: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tables",
        abstract: "Kill programs that write tables, migrate them and stage rows, and check the files.",
        discussion: """
            EXIT CODES
              0  Every awaited write is in its file, none is there by half, the
                 version of each file and its schema agree, and each staging is
                 there as a whole or not at all.
              1  Something was not so; the output says what.
              2  The test itself failed.
            """)

    @Option(help: "How many files there are, each with one program at a time.")
    var programs = 3

    @OptionGroup var killing: KillingOptions<TableBug>

    func run() async throws { try await killing.run(play) }

    private func play(in folder: URL, _ random: inout SeededGenerator) async throws -> [String] {
        let all = (0..<programs).map { TableFiles(folder: folder.appending(path: "\($0)")) }
        for files in all {
            try FileManager.default.createDirectory(at: files.folder, withIntermediateDirectories: true)
        }
        func begin(_ files: TableFiles, _ random: inout SeededGenerator) throws -> ChildProcess {
            try ChildProcess(
                ["table-writer", "--files", files.folder.path] + (Bool.random(using: &random) ? ["--new"] : [])
                    + killing.bugArguments)
        }
        var processes = try all.map { try begin($0, &random) }
        var (kills, findings) = try await killing.kill(every: 1...150, &random) { random in
            let index = Int.random(in: 0..<programs, using: &random)
            var findings: [String] = []
            do { try await processes[index].kill() } catch {
                findings.append("file \(index): \(error)")
            }
            // After half of the kills, the test is the first to open the file. After the others, the next program is.
            if Bool.random(using: &random) { findings += try self.findings(of: all[index], index) }
            processes[index] = try begin(all[index], &random)
            return findings
        }
        for process in processes { try? await process.kill() }
        var (rows, durable, groups, changed) = (0, 0, 0, 0)
        for (index, files) in all.enumerated() where findings.isEmpty {
            findings += try self.findings(of: files, index)
            let store = try await files.open(isNew: true)
            try await store.finishStaging()
            try await store.close()
            findings += try self.findings(of: files, index, isComplete: true)
            rows += try Self.read(files) { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM item") ?? 0 }
            durable += try files.numbers(in: files.durable).count
            groups += try files.numbers(in: files.staged).count
            changed += try files.numbers(in: files.changed).count
        }
        print(
            "seed \(killing.start): \(kills) kills, \(durable) rows awaited, \(rows) in the files, \(groups) stagings, "
                + "\(changed) changes between their transactions")
        if findings.isEmpty, durable == 0 || groups == 0 { findings.append("Nothing was written, or nothing staged.") }
        return findings
    }

    private static func read<Value>(_ files: TableFiles, _ read: (Database) throws -> Value) throws -> Value {
        let queue = try DatabaseQueue(path: files.database.path)
        defer { try? queue.close() }
        return try queue.read(read)
    }

    /// Returns the differences in a file that no process has open, one sentence each.
    ///
    /// - Parameter isComplete: Whether every call of `RecordStore.stage` that a kill interrupted has been finished
    ///   since.
    private func findings(of files: TableFiles, _ index: Int, isComplete: Bool = false) throws -> [String] {
        guard FileManager.default.fileExists(atPath: files.database.path) else { return [] }
        return try Self.read(files) { database in
            guard try database.tableExists("runway_step") else { return [] }
            var findings: [String] = []
            let steps = try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM runway_step") ?? 0
            let hasMigrations = try database.tableExists("grdb_migrations")
            let migrations =
                hasMigrations ? try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM grdb_migrations") ?? 0 : 0
            let hasLength = try database.columns(in: "item").contains { $0.name == "length" }
            let hasIndex = try database.indexes(on: "item").contains { $0.name == "itemByLength" }
            if migrations != steps || hasLength != (steps >= 1) || hasIndex != (steps >= 3) {
                findings.append("It is at step \(steps), which its schema is not.")
            }
            if steps >= 2,
                let missing = try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM item WHERE length IS NULL"),
                missing > 0
            {
                findings.append("It is at step \(steps), and \(missing) rows were not filled.")
            }
            let items = Set(try Int.fetchAll(database, sql: "SELECT id FROM item"))
            let offered = Set(try files.numbers(in: files.offered))
            let singles = items.intersection(offered)
            let pairs = Set(try Int.fetchAll(database, sql: "SELECT id FROM pair"))
            if singles != pairs {
                findings.append("\(singles.symmetricDifference(pairs).count) writes are there by half.")
            }
            let groups = try files.numbers(in: files.staged).map { $0..<$0 + TableFiles.groupCount }
            let invented = items.subtracting(offered).filter { number in !groups.contains { $0.contains(number) } }
            if !invented.isEmpty { findings.append("\(invented.count) rows were never written.") }
            let missing = Set(try files.numbers(in: files.durable)).subtracting(items)
            if let first = missing.min() {
                findings.append("\(missing.count) awaited rows are missing, from \(first).")
            }
            for group in groups where isComplete {
                let count = group.count { items.contains($0) }
                if count != 0, count != group.count { findings.append("\(count) of a staging's rows are there.") }
            }
            let changed = try files.numbers(in: files.changed).filter { number in
                try String.fetchOne(database, sql: "SELECT title FROM item WHERE id = ?", arguments: [number])
                    != "changed"
            }
            if !changed.isEmpty { findings.append("\(changed.count) changes of staged rows were undone.") }
            return findings.map { "file \(index): \($0)" }
        }
    }
}
