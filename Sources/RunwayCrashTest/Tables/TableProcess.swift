import ArgumentParser
import Foundation
import GRDB
import RunwayTables

/// A bug that the test adds to the use of a store, to prove that its check finds the bug.
enum TableBug: String, CaseIterable, ExpressibleByArgument {
    /// A write is reported as durable before it was awaited.
    case earlyAcknowledgement
    /// The rows of one transaction are written in two transactions.
    case halves
    /// The version of the file advances before the last batch of a migration step has run.
    case earlyVersion
    /// Rows that were passed to `RecordStore.stage` move from the temporary file to the table before the last of them
    /// is in the temporary file.
    case earlyCompletion
}

/// The table `item` in the first version of the app.
enum OldItems: RunwayTables.TableDefinition {
    static let name = "item"
    static let id = Column<Int>("id"), title = Column<String>("title")
    static let columns = TableColumns<Self>(id, title)
}

/// The table `item` in the later version of the app.
enum NewItems: RunwayTables.TableDefinition {
    static let name = "item"
    static let id = Column<Int>("id"), title = Column<String>("title"), length = Column<Int?>("length")
    static let columns = TableColumns<Self>(id, title, length)
    static let indexes = [Index("itemByLength", on: length)]
}

/// One row for each item that was written without `RecordStore.stage`.
enum Pairs: RunwayTables.TableDefinition {
    static let name = "pair"
    static let id = Column<Int>("id")
    static let columns = TableColumns<Self>(id)
}

/// The files in which a process records its writes, and the database that it writes.
struct TableFiles {
    /// The number of rows in one call of `RecordStore.stage`.
    static let groupCount = 400

    let folder: URL

    var database: URL { folder.appending(path: "database/records.sqlite") }
    /// The numbers of rows that are written one by one, appended before each write.
    var offered: URL { folder.appending(path: "offered") }
    /// The first row number of each call of `RecordStore.stage`, appended before the call.
    var staged: URL { folder.appending(path: "staged") }
    /// The numbers of rows for which the write, or the call of `RecordStore.stage`, has been awaited.
    var durable: URL { folder.appending(path: "durable") }
    /// The numbers of rows that were changed before the other rows of the same call of `RecordStore.stage` were moved
    /// to the table.
    var changed: URL { folder.appending(path: "changed") }

    func numbers(in file: URL) throws -> [Int] { try ClientFiles.lines(of: file).compactMap { Int($0) } }

    /// Opens the database with the tables of the first or the later version of the app.
    func open(isNew: Bool, bug: TableBug? = nil) async throws -> RecordStore {
        var options = RecordStore.Options()
        // A killed process loses nothing that it has passed to the system, so commits need not wait for the drive.
        options.survivesPowerLoss = false
        let filling =
            bug == .earlyVersion
            ? Step("lengths of all", sql: "", back: "UPDATE item SET length = NULL")
            : Step("lengths of all", back: "UPDATE item SET length = NULL", inBatches: Self.fill)
        return try await RecordStore.open(
            at: database, tables: isNew ? [NewItems.self, Pairs.self] : [OldItems.self, Pairs.self],
            migrations: isNew
                ? Migrations(
                    Step(
                        "lengths", sql: "ALTER TABLE item ADD COLUMN length INTEGER",
                        back: "ALTER TABLE item DROP COLUMN length"), filling,
                    Step("index", sql: "CREATE INDEX itemByLength ON item (length)", back: "DROP INDEX itemByLength"))
                : Migrations(), options: options)
    }

    @Sendable static func fill(_ database: Database) throws -> Int {
        try database.execute(
            sql: """
                UPDATE item SET length = length(title)
                WHERE id IN (SELECT id FROM item WHERE length IS NULL LIMIT 5)
                """)
        return try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM item WHERE length IS NULL") ?? 0
    }
}

/// Opens a file and migrates it to one of the two versions. Then writes rows, also with `RecordStore.stage`, until it
/// is killed.
struct TableProcess: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "table-writer", shouldDisplay: false)

    @Option var files: String
    @Flag var new = false
    @Option var bug: TableBug?

    func run() async throws {
        let files = TableFiles(folder: URL(fileURLWithPath: files))
        let store = try await files.open(isNew: new, bug: bug)
        if bug == .earlyVersion, new { while try await store.write({ try TableFiles.fill($0.connection) }) > 0 {} }
        let (offered, staged) = (try AppendedFile(files.offered), try AppendedFile(files.staged))
        let (durable, changed) = (try AppendedFile(files.durable), try AppendedFile(files.changed))
        let group = try files.numbers(in: files.staged).last
        if let group, try await isChanged(group, store) {
            try changed.append(group..<group + 1)
        }
        try await store.finishStaging()
        var number =
            max(try files.numbers(in: files.offered).last ?? 0, (group ?? 0) + TableFiles.groupCount) + 1
        while true {
            let end = number + Int.random(in: 1...200)
            while number < end {
                try await write(number, store, offered, durable)
                number += 1
            }
            try staged.append(number..<number + 1)
            let rows = (number..<number + TableFiles.groupCount).map { item($0) }
            if bug == .earlyCompletion {
                try await store.stage(Array(rows.prefix(TableFiles.groupCount / 2)))
                try await store.stage(Array(rows.dropFirst(TableFiles.groupCount / 2)))
            } else {
                try await store.stage(rows)
            }
            try durable.append(number..<number + TableFiles.groupCount)
            number += TableFiles.groupCount
        }
    }

    /// Changes a row of a call of `RecordStore.stage` if the row is in the table already. Other rows of this call may
    /// still be in the temporary file. Returns whether the row was changed.
    private func isChanged(_ number: Int, _ store: RecordStore) async throws -> Bool {
        try await store.write { file in
            try file.connection.execute(
                sql: "UPDATE item SET title = 'changed' WHERE id = ?", arguments: [number])
            return file.connection.changesCount > 0
        }
    }

    private func item(_ number: Int) -> Draft {
        let title = "item \(number)"
        var draft = Draft()
        if new {
            (draft[NewItems.id], draft[NewItems.title], draft[NewItems.length]) = (number, title, title.count)
        } else {
            (draft[OldItems.id], draft[OldItems.title]) = (number, title)
        }
        return draft
    }

    private func write(
        _ number: Int, _ store: RecordStore, _ offered: AppendedFile, _ durable: AppendedFile
    ) async throws {
        let item = item(number)
        var pair = Draft()
        pair[Pairs.id] = number
        let both = pair
        try offered.append(number..<number + 1)
        if bug == .earlyAcknowledgement { try durable.append(number..<number + 1) }
        try await store.write { file in
            try file.save(item)
            if bug != .halves { try file.save(both) }
        }
        if bug == .halves { try await store.write { _ = try $0.save(both) } }
        if bug != .earlyAcknowledgement { try durable.append(number..<number + 1) }
    }
}
