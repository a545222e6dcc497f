import Foundation
import GRDB
import RunwaySQLite
import RunwayStorage

extension Migrations {
    /// Compares the schema that results from the steps with the declarations, and executes the ways back. For tests.
    ///
    /// ```swift
    /// #expect(try migrations.differences(from: firstRelease, to: [Tasks.self]).isEmpty)
    /// ```
    ///
    /// - Parameters:
    ///   - sql: The statements that create the tables of the first release; see ``TableDefinition/creatingSQL``.
    ///   - tables: The tables as they are declared now.
    /// - Returns: A sentence for each difference; empty if there is none.
    /// - Throws: ``TableError`` if a step or a way back fails.
    public func differences(from sql: String, to tables: [any TableDefinition.Type]) throws -> [String] {
        try Self.withCopy(of: FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)) { queue in
            try queue.write { database in
                try database.execute(sql: sql)
                try StepLog.create(in: database)
            }
            return try rehearse(on: queue) { database in
                try tables.flatMap { try $0.layout.differences(in: database, isLenient: false) }
            }
        }
    }

    /// Takes the steps that a file has not taken, and then their ways back, on a copy of the file. The file does not
    /// change.
    ///
    /// - Throws: ``TableError/Kind/migration`` if a step or a way back fails, if a way back leaves another schema, or
    ///   if rows are lost on the way back and forth.
    func rehearse(for original: DatabaseQueue) throws {
        try Self.withCopy(of: URL(fileURLWithPath: original.path)) { copy in
            try original.backup(to: copy)
            if let sentence = try rehearse(on: copy).first { throw TableError(.migration, sentence) }
        }
    }

    /// Takes the steps up to the last, goes back until a step has no way back, and takes the steps again. Rows that a
    /// step deletes are no difference; the numbers of rows are compared from the last step to the last step.
    ///
    /// - Parameter compare: Returns differences at the last step. The default is none.
    private func rehearse(
        on queue: DatabaseQueue, comparing compare: (Database) throws -> [String] = { _ in [] }
    ) throws -> [String] {
        let migrator = Migrator(queue: queue, migrations: self)
        let first = try queue.read { try StepLog.entries(in: $0).count }
        guard first < steps.count else { return try queue.read(compare) }
        var shapes = [first: try queue.read { try SchemaShape(of: $0) }]
        for number in first + 1...steps.count {
            try migrator.migrate(to: number)
            shapes[number] = try queue.read { try SchemaShape(of: $0) }
        }
        let differences = try queue.read(compare)
        let counts = try queue.read { try SchemaShape.rowCounts(in: $0) }
        for number in (first..<steps.count).reversed() {
            if steps[number].back == nil { break }
            try migrator.migrate(to: number)
            let shape = try queue.read { try SchemaShape(of: $0) }
            if let table = shapes[number].map({ shape.differences(from: $0) })?.first {
                return differences + [
                    "The way back over \"\(steps[number].name)\" leaves \(table) otherwise than it was."
                ]
            }
        }
        try migrator.migrate(to: steps.count)
        let newCounts = try queue.read { try SchemaShape.rowCounts(in: $0) }
        return differences
            + counts.sorted { $0.key < $1.key }.filter { newCounts[$0.key] != $0.value }.map { table, count in
                "After the ways back and the steps again, \(table) has \(newCounts[table] ?? 0) rows instead of \(count)."
            }
    }

    /// Runs an operation on a temporary database, which is removed afterwards. Also removes those that a kill has left.
    private static func withCopy<Value>(of url: URL, _ operation: (DatabaseQueue) throws -> Value) throws -> Value {
        for left in StoreFiles.rehearsals(of: url) {
            do {
                try open(left).close()
            } catch let error as DatabaseError where error.failure(of: left) == .locked {
                // Its rehearsal has not ended.
                continue
            } catch {}
            StoreFiles.remove(left)
        }
        while true {
            let copy = StoreFiles.newRehearsal(of: url)
            defer { StoreFiles.remove(copy) }
            let queue = try open(copy, busyTimeout: 5)
            defer { try? queue.close() }
            // Another process may have removed it as one that was left, before it was locked.
            guard FileManager.default.fileExists(atPath: copy.path) else { continue }
            try StorageFolder.protect(StorageFolder.files(of: copy))
            return try operation(queue)
        }
    }

    /// Opens a copy, and locks it until it is closed.
    private static func open(_ url: URL, busyTimeout: TimeInterval? = nil) throws -> DatabaseQueue {
        let queue = try SQLiteFile.open(at: url, waitsForDrive: false, busyTimeout: busyTimeout) {
            try $0.execute(sql: "PRAGMA locking_mode = EXCLUSIVE")
        }
        // The first transaction takes the lock, and the connection has it from then on.
        try queue.write { try $0.execute(sql: "PRAGMA user_version = 0") }
        return queue
    }
}

extension TableDefinition {
    /// The table without its type.
    static var layout: TableLayout { columns.layout }
}
