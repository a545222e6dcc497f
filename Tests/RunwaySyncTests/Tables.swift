import Foundation
import RunwaySync
import RunwayTables

/// The table of most tests.
enum Notes: SyncedTable {
    static let name = "note"
    static let id = Column<UUID>("id"), list = Column<UUID>("listId")
    static let title = Column<String>("title", default: ""), text = Column<String?>("text")
    static let rating = Column<Int>("rating", default: 0)
    static let columns = TableColumns<Self>(id, list, title, text, rating)
    static let sync = Synced(space: list)
}

/// Notes as they were before they were synchronised.
enum PlainNotes: TableDefinition {
    static let name = "note"
    static let columns = TableColumns<Self>(
        Column<UUID>("id"), Column<UUID>("listId"), Column<String>("title", default: ""), Column<String?>("text"),
        Column<Int>("rating", default: 0))
}

/// Pictures with files.
enum Pictures: SyncedTable {
    static let name = "picture"
    static let id = Column<UUID>("id"), list = Column<UUID>("listId"), file = Column<StoredFile?>("file")
    static let columns = TableColumns<Self>(id, list, file)
    static let sync = Synced(space: list, conflicts: .ask)
}

/// Pictures as they were before they were synchronised.
enum PlainPictures: TableDefinition {
    static let name = "picture"
    static let id = Column<UUID>("id"), list = Column<UUID>("listId"), file = Column<StoredFile?>("file")
    static let columns = TableColumns<Self>(id, list, file)
}

extension Values<Notes> {
    /// A note in a list.
    init(_ id: UUID, in list: UUID, title: String, rating: Int = 0) {
        self.init()
        self[Notes.id] = id
        self[Notes.list] = list
        self[Notes.title] = title
        self[Notes.rating] = rating
    }
}

/// A folder that is removed with this object.
final class TemporaryFolder: Sendable {
    let url = FileManager.default.temporaryDirectory.appending(path: "runway-sync-\(UUID().uuidString)")
    var file: URL { url.appending(path: "records.sqlite") }

    init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }
    deinit { try? FileManager.default.removeItem(at: url) }
}

extension UUID {
    /// An id that is the same in each run.
    init(number: UInt8) { self.init(uuid: (0, 0, 0, 0, 0, 0, 0x40, 0, 0x80, 0, 0, 0, 0, 0, 0, number)) }
}
