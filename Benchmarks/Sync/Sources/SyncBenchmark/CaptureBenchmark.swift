import Foundation
import GRDB

@testable import RunwaySync
@testable import RunwayTables

/// Measures writes to a synchronised table beside those of GRDB's records to a table that is not synchronised: 20
/// transactions of 1,000 rows. Both wait for the drive at each commit.
enum CaptureBenchmark {
    private static let (transactionCount, size) = (20, 1_000)

    /// The record that an app writes by hand.
    private struct Record: PersistableRecord {
        static let databaseTableName = "note"
        let note: Note
        let list: UUID

        func encode(to container: inout PersistenceContainer) {
            container["id"] = note.id
            container["listId"] = list
            container["title"] = note.title
            container["text"] = note.text
            container["rating"] = note.rating
            container["weight"] = note.weight
        }
    }

    static func run(in folder: URL) async throws {
        var (inserts, updates, sealed): ([Double], [Double], [Double]) = ([], [], [])
        for round in 0..<Figures.rounds {
            let list = UUID()
            let notes = (0..<transactionCount * size).map { Note($0) }
            let changed = notes.map { Note($0.rating + 1, id: $0.id) }
            let theirs = try hand(notes, changed, list, folder.appending(path: "hand-\(round)/notes.sqlite"))
            let ours = try await captured(notes, changed, list, folder.appending(path: "store-\(round)/notes.sqlite"))
            inserts.append(theirs.inserts / ours.inserts)
            updates.append(theirs.updates / ours.updates)
            sealed.append(theirs.inserts / (ours.inserts + ours.sealing))
        }
        Figures.report("captured inserts, of the speed of GRDB's records", inserts, "times", .atLeast(0.5))
        Figures.report("captured updates, of the speed of GRDB's records", updates, "times", .atLeast(0.45))
        Figures.report("captured and sealed inserts, of the speed of GRDB's records", sealed, "times", .none)
    }

    private static func hand(
        _ notes: [Note], _ changed: [Note], _ list: UUID, _ file: URL
    ) throws -> (inserts: Duration, updates: Duration) {
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        let queue = try DatabaseQueue(path: file.path, configuration: .durable)
        try queue.write { try $0.execute(sql: Notes.creatingSQL) }
        let clock = ContinuousClock()
        let inserts = try clock.measure {
            for part in parts(of: notes) {
                try queue.write { database in
                    for note in part { try Record(note: note, list: list).insert(database) }
                }
            }
        }
        let updates = try clock.measure {
            for part in parts(of: changed) {
                try queue.write { database in
                    for note in part {
                        try Record(note: note, list: list).update(database, columns: ["title", "weight"])
                    }
                }
            }
        }
        try queue.close()
        return (inserts, updates)
    }

    private static func captured(
        _ notes: [Note], _ changed: [Note], _ list: UUID, _ file: URL
    ) async throws -> (inserts: Duration, updates: Duration, sealing: Duration) {
        let store = try await RecordStore.open(at: file, tables: [Notes.self])
        let clock = ContinuousClock()
        let inserts = try await clock.measure {
            for part in parts(of: notes) {
                try await store.write { file in for note in part { try file.insert(note.values(in: list)) } }
            }
        }
        let sealing = try await clock.measure { try await seal(store) }
        let updates = try await clock.measure {
            for part in parts(of: changed) {
                try await store.write { file in
                    for note in part {
                        var values = Values<Notes>()
                        values[Notes.id] = note.id
                        values[Notes.title] = note.title
                        values[Notes.weight] = note.weight
                        try file.update(values)
                    }
                }
            }
        }
        try await store.close()
        return (inserts, updates, sealing)
    }

    /// Seals the captured changes, as a cycle does before it sends them.
    private static func seal(_ store: RecordStore) async throws {
        guard let capture = store.follower as? ChangeCapture else { preconditionFailure("the table is synchronised") }
        try await store.writeAsFollower { try capture.sealAll(in: $0) }
    }

    private static func parts(of notes: [Note]) -> [ArraySlice<Note>] {
        stride(from: 0, to: notes.count, by: size).map { notes[$0..<$0 + size] }
    }
}
