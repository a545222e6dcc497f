import ArgumentParser
import Foundation
import Runway
import RunwayDemo
import RunwayTables
import RunwayTesting

/// Kills programs that share one file of records. The records have pictures, which are stored in files beside the
/// database. Checks that no picture is lost, and that no picture stays without a record.
struct FileCrash: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "files",
        abstract: "Kill programs that store files beside rows, and check the rows and the files.",
        discussion: """
            EXIT CODES
              0  Every awaited change is in its row, the file of each row is whole,
                 and there is no file that no row names.
              1  Something was not so; the output says what.
              2  The test itself failed.
            """)

    @Option(help: "How many programs write, each its own rows.")
    var programs = 2

    @OptionGroup var killing: KillingOptions<FileBug>

    func run() async throws { try await killing.run(play) }

    private func play(in folder: URL, _ random: inout SeededGenerator) async throws -> [String] {
        let all = (0..<programs).map { PictureFiles(folder: folder, program: $0) }
        func begin(_ files: PictureFiles) throws -> ChildProcess {
            try ChildProcess(
                ["picture-writer", "--files", folder.path, "--number", "\(files.program)"] + killing.bugArguments)
        }
        var processes = try all.map { try begin($0) }
        let (kills, _) = try await killing.kill(every: 1...300, &random) { random in
            let index = Int.random(in: 0..<programs, using: &random)
            try await processes[index].kill()
            processes[index] = try begin(all[index])
            return []
        }
        for process in processes { try await process.kill() }
        // Opening the store removes unused files, since no other program has the store open.
        let store = try await PictureFiles.open(in: folder)
        var findings = try ClientFiles.lines(of: folder.appending(path: "findings")).map(String.init)
        var (changes, names) = (0, Set<String>())
        for files in all {
            changes += try ClientFiles.lines(of: files.done).count
            findings += try await files.findings(in: store)
        }
        for picture in try await store.read({ try $0.fetch(Pictures.self) }).compactMap({ $0[Pictures.file] }) {
            // A picture that can't be opened is already among the findings.
            if let url = try? await store.url(of: picture) { names.insert(url.lastPathComponent) }
        }
        try await store.close()
        let folder = PictureFiles.database(in: folder).path + "-files"
        let onDisk = try FileManager.default.contentsOfDirectory(atPath: folder)
        let left = Set(onDisk).subtracting(names).subtracting(["lock"])
        if !left.isEmpty { findings.append("\(left.count) files are left that no row names.") }
        print("seed \(killing.start): \(kills) kills, \(changes) changes awaited, \(names.count) files")
        return changes == 0 ? ["nothing was written"] + findings : findings
    }
}

/// A bug that the test adds to the use of stored files, to prove that its check finds the bug.
enum FileBug: String, CaseIterable, ExpressibleByArgument {
    /// The bytes of a file are written after the commit of the row that names it.
    case lateFile
    /// A file is removed before the commit that removes the file's name from its row.
    case earlyRemoval
    /// The count of the rows that name a file is wrong.
    case miscount
}

/// Rows with a number and a file. The number determines the bytes of the file.
enum Pictures: TableDefinition {
    static let name = "picture"
    static let id = Column<Int>("id"), number = Column<Int>("number"), file = Column<StoredFile?>("file")
    static let columns = TableColumns<Self>(id, number, file)
}

/// The files of one program. The program appends the line `id number` to `begun` before it changes a row, and to `done`
/// when the change was awaited. The number 0 stands for an absent row.
struct PictureFiles {
    static let rowCount = 8

    let folder: URL
    let program: Int

    var begun: URL { folder.appending(path: "begun-\(program)") }
    var done: URL { folder.appending(path: "done-\(program)") }
    var ids: Range<Int> { program * Self.rowCount..<(program + 1) * Self.rowCount }

    static func database(in folder: URL) -> URL { folder.appending(path: "database/records.sqlite") }

    static func open(in folder: URL) async throws -> RecordStore {
        var options = RecordStore.Options()
        options.isShared = true
        options.lockTimeout = .seconds(60)
        return try await RecordStore.open(at: database(in: folder), tables: [Pictures.self], options: options)
    }

    static func bytes(_ number: Int) -> [UInt8] {
        (0..<number * 7919 % 100_000).map { UInt8(truncatingIfNeeded: $0 &* number) }
    }

    /// Compares rows and files with the lines that the program appended. The program must not run meanwhile.
    func findings(in store: RecordStore) async throws -> [String] {
        func last(_ file: URL) throws -> [Int: Int] {
            let pairs = try ClientFiles.lines(of: file).map { $0.split(separator: " ").compactMap { Int($0) } }
            return Dictionary(pairs.map { ($0[0], $0[1]) }, uniquingKeysWith: { $1 })
        }
        let (begun, done, ids) = (try last(begun), try last(done), ids)
        let rows = try await store.read { file in
            try file.fetch(Pictures.self, where: Pictures.id >= ids.lowerBound && Pictures.id < ids.upperBound)
        }
        let found = Dictionary(uniqueKeysWithValues: rows.map { ($0[Pictures.id] ?? -1, $0) })
        var findings: [String] = []
        for id in ids {
            let number = found[id]?[Pictures.number] ?? 0
            if number != done[id] ?? 0, number != begun[id] ?? 0 {
                findings.append("row \(id) has \(number), and \(done[id] ?? 0) was awaited.")
            }
            guard let file = found[id]?[Pictures.file] else {
                if number != 0 { findings.append("row \(id) has no file.") }
                continue
            }
            do {
                if try await store.bytes(of: file).collect(upTo: 1 << 20) != Self.bytes(number) {
                    findings.append("the file of row \(id) has other bytes.")
                }
            } catch {
                findings.append("row \(id): \(error)")
            }
        }
        return findings
    }
}
