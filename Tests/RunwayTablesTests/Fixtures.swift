import Crypto
import Foundation
import GRDB
import RunwayStorage
import Testing

@testable import RunwayTables

enum Tasks: RunwayTables.TableDefinition {
    static let name = "task"
    static let id = Column<UUID>("id"), list = Column<UUID>("listId")
    static let title = Column<String>("title") { !$0.isEmpty }
    static let done = Column<Bool>("done", default: false), due = Column<Date?>("due")
    static let columns = TableColumns<Self>(id, list, title, done, due)
    static let indexes = [Index("taskByList", on: list, due)]
}

enum Lists: RunwayTables.TableDefinition {
    static let name = "list"
    static let id = Column<Int>("id"), name_ = Column<String>("name", default: "it's new")
    static let columns = TableColumns<Self>(id, name_)

    static func validate(_ values: Values<Self>, for change: TableChange) throws {
        if values[name_] == "refused" { throw Refusal() }
    }
}

struct Refusal: Error {}

enum Notes: RunwayTables.TableDefinition {
    static let name = "note"
    static let id = Column<String>("id"), text = Column<Secret<String>>("text")
    static let rank = Column<Secret<Int>?>("rank")
    static let columns = TableColumns<Self>(id, text, rank)
}

struct KeyedSealing: PayloadSealing {
    var key = SymmetricKey(size: .bits256)

    func seal(_ bytes: [UInt8], for context: [UInt8]) throws -> [UInt8] {
        let box = try AES.GCM.seal(bytes, using: key, authenticating: context)
        return Array(box.combined ?? Data())
    }

    func open(_ sealed: [UInt8], for context: [UInt8]) throws -> [UInt8] {
        Array(try AES.GCM.open(AES.GCM.SealedBox(combined: sealed), using: key, authenticating: context))
    }
}

/// A folder of its own for each test, removed with the value.
final class ScratchFolder: Sendable {
    let url = FileManager.default.temporaryDirectory.appending(path: "runway-tables-\(UUID().uuidString)")
    var file: URL { url.appending(path: "records.sqlite") }

    deinit { try? FileManager.default.removeItem(at: url) }

    func open(
        _ tables: [any RunwayTables.TableDefinition.Type] = [Tasks.self, Lists.self],
        _ migrations: Migrations = Migrations(), _ change: (inout RecordStore.Options) -> Void = { _ in }
    ) async throws -> RecordStore {
        var options = RecordStore.Options()
        change(&options)
        return try await RecordStore.open(at: file, tables: tables, migrations: migrations, options: options)
    }

    /// Runs SQL on the file as another library does.
    func sql(_ sql: String) throws {
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        let queue = try DatabaseQueue(path: file.path)
        try queue.writeWithoutTransaction { try $0.execute(sql: sql) }
        try queue.close()
    }
}

func task(_ title: String, list: UUID = UUID(), due: Date? = nil) -> Values<Tasks> {
    var values = Values<Tasks>()
    values[Tasks.id] = UUID()
    values[Tasks.list] = list
    values[Tasks.title] = title
    values[Tasks.due] = due
    return values
}

/// The kind of the error that an operation throws.
func kind(_ operation: () async throws -> Void) async -> TableError.Kind? {
    do { try await operation() } catch { return (error as? TableError)?.kind }
    return nil
}
