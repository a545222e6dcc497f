import ArgumentParser
import Foundation
import GRDB
import RunwayTables

/// Stores, shares, replaces and removes pictures until it is killed.
struct PictureProcess: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "picture-writer", shouldDisplay: false)

    @Option var files: String
    @Option var number: Int
    @Option var bug: FileBug?

    func run() async throws {
        let folder = URL(fileURLWithPath: files)
        let files = PictureFiles(folder: folder, program: number)
        let store = try await PictureFiles.open(in: folder)
        // The check runs before any change, since a later change could hide the damage of a kill.
        let findings = try AppendedFile(folder.appending(path: "findings"))
        for finding in try await files.findings(in: store) { try findings.append(line: finding) }
        if bug == .miscount {
            try await store.write {
                try $0.connection.execute(sql: "DROP TRIGGER IF EXISTS \"runway_file_delete picture.file\"")
            }
        }
        let (begun, done) = (try AppendedFile(files.begun), try AppendedFile(files.done))
        // A change that was in progress at a kill counts as done if its row has the change.
        for row in try await store.read({ try $0.fetch(Pictures.self) }) {
            if let id = row[Pictures.id], files.ids.contains(id) {
                try done.append(line: "\(id) \(row[Pictures.number] ?? 0)")
            }
        }
        for id in files.ids where try await store.read({ try $0.count(Pictures.self, where: Pictures.id == id) }) == 0 {
            try done.append(line: "\(id) 0")
        }
        while true {
            let id = Int.random(in: files.ids)
            let value = Int.random(in: 0..<3) == 0 ? 0 : Int.random(in: 1...1_000_000)
            if value > 0, Int.random(in: 0..<4) == 0 {
                try await share(with: id, of: files, in: store, begun, done)
                continue
            }
            try begun.append(line: "\(id) \(value)")
            if value == 0 {
                try await remove(id, from: store)
            } else {
                try await save(id, value, to: store)
            }
            try done.append(line: "\(id) \(value)")
        }
    }

    private func row(_ id: Int, _ number: Int, _ file: StoredFile) -> Values<Pictures> {
        var row = Values<Pictures>()
        row[Pictures.id] = id
        row[Pictures.number] = number
        row[Pictures.file] = file
        return row
    }

    private func save(_ id: Int, _ number: Int, to store: RecordStore) async throws {
        try await store.withFile(Data(PictureFiles.bytes(number))) { file in
            let row = row(id, number, file)
            if bug == .earlyRemoval { try await removeFile(of: id, in: store) }
            let url = try await store.url(of: file)
            let path = url.path
            if bug == .lateFile { try FileHandle(forUpdating: url).truncate(atOffset: 0) }
            // The store checks the size of a file, and would refuse the truncated one. So this bug writes the row with
            // SQL.
            let isLate = bug == .lateFile
            try await store.write { writer in
                if isLate {
                    try writer.connection.execute(
                        sql: "REPLACE INTO picture SELECT ?, ?, ?",
                        arguments: [id, number, file.storedValue ?? .null])
                } else {
                    try writer.save(row)
                }
            }
            if isLate {
                try await pause()
                try Data(PictureFiles.bytes(number)).write(to: URL(fileURLWithPath: path))
            }
        }
    }

    private func remove(_ id: Int, from store: RecordStore) async throws {
        if bug == .earlyRemoval { try await removeFile(of: id, in: store) }
        try await store.write { _ = try $0.delete(Pictures.self, where: Pictures.id == id) }
    }

    /// Stores a second row that refers to the same file as another row.
    private func share(
        with id: Int, of files: PictureFiles, in store: RecordStore, _ begun: AppendedFile, _ done: AppendedFile
    ) async throws {
        let other = Int.random(in: files.ids)
        let found = try await store.read { try $0.fetchFirst(Pictures.self, where: Pictures.id == other) }
        guard let found, let number = found[Pictures.number], let file = found[Pictures.file] else { return }
        let row = row(id, number, file)
        try begun.append(line: "\(id) \(number)")
        try await store.write { try $0.save(row) }
        try done.append(line: "\(id) \(number)")
    }

    private func removeFile(of id: Int, in store: RecordStore) async throws {
        let row = try await store.read { try $0.fetchFirst(Pictures.self, where: Pictures.id == id) }
        guard let file = row?[Pictures.file], let url = try? await store.url(of: file) else { return }
        unlink(url.path)
        try await pause()
    }

    /// Waits up to 20 ms, so that kills often happen between the two steps of a planted bug.
    private func pause() async throws { try await Task.sleep(for: .milliseconds(Int.random(in: 0...20))) }
}
