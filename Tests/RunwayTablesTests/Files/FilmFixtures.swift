import Foundation
import GRDB
import Runway

@testable import RunwayTables

enum Films: RunwayTables.TableDefinition {
    static let name = "film"
    static let id = Column<Int>("id"), poster = Column<StoredFile?>("poster"), still = Column<StoredFile?>("still")
    static let columns = TableColumns<Self>(id, poster, still)
}

func film(_ id: Int, _ poster: StoredFile? = nil, still: StoredFile? = nil) -> Values<Films> {
    var values = Values<Films>()
    values[Films.id] = id
    values[Films.poster] = poster
    values[Films.still] = still
    return values
}

extension ScratchFolder {
    var files: URL { StoreFiles.filesFolder(of: file) }
    func path(_ file: StoredFile) -> URL { files.appending(path: file.name) }

    /// The names in the folder of files without the lock, sorted.
    var fileNames: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: files.path).filter { $0 != "lock" }.sorted() }
    }
}

extension RecordStore {
    /// The posters in the order of their films.
    func posters() async throws -> [StoredFile] {
        try await read { try $0.fetch(Films.self, orderedBy: [.ascending(Films.id)]).compactMap { $0[Films.poster] } }
    }

    /// Saves a film with a poster of these bytes.
    @discardableResult
    func saveFilm(_ id: Int, _ bytes: String) async throws -> StoredFile {
        try await withFile(Data(bytes.utf8)) { poster in
            try await write { _ = try $0.save(film(id, poster)) }
            return poster
        }
    }

    func text(of file: StoredFile) async throws -> String {
        String(decoding: try await bytes(of: file).collect(upTo: 1 << 20), as: UTF8.self)
    }
}
