import Foundation
import GRDB
import RunwaySQLite

extension Migrations {
    /// Compares the schema that results from the steps with the declarations. Also executes every step's way back. For
    /// tests.
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
        try Self.withCopy(in: FileManager.default.temporaryDirectory) { queue in
            try queue.write { database in
                try database.execute(sql: sql)
                try StepLog.create(in: database)
            }
            return try rehearse(on: queue) { database in
                try tables.flatMap { try $0.layout.differences(in: database, isLenient: false) }
            }
        }
    }

    /// Takes the steps that a file has not taken, on a copy of it, and every way back that there is.
    ///
    /// - Throws: ``TableError/Kind/migration`` if one fails, or leads elsewhere. The file is as it was.
    func rehearse(for original: DatabaseQueue) throws {
        let folder = URL(fileURLWithPath: original.path).deletingLastPathComponent()
        try Self.withCopy(in: folder) { copy in
            try original.backup(to: copy)
            if let sentence = try rehearse(on: copy).first { throw TableError(.migration, sentence) }
        }
    }

    /// Goes to the last step, back as far as there is a way, and to the last step again.
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
        return differences
    }

    /// Runs an operation on a private file that is removed afterwards.
    private static func withCopy<Value>(in folder: URL, _ operation: (DatabaseQueue) throws -> Value) throws -> Value {
        let url = folder.appending(path: "rehearsal-\(UUID().uuidString).sqlite")
        defer { StoreFiles.remove(url) }
        let queue = try SQLiteFile.open(at: url, waitsForDrive: false)
        defer { try? queue.close() }
        return try operation(queue)
    }
}

extension TableDefinition {
    /// The columns without the type of the table.
    static var layout: TableLayout { columns.layout }
}
