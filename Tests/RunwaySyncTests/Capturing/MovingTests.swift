import Foundation
import GRDB
import RunwaySyncCore
import RunwayTables
import Testing

@testable import RunwaySync

/// Rule 13: a row moves to another space as a copy.
struct MovingTests {
    private let folder: TemporaryFolder
    private let list = UUID(number: 1), other = UUID(number: 7), note = UUID(number: 2)

    init() throws { folder = try TemporaryFolder() }

    private func actions(
        _ store: RecordStore, in list: UUID
    ) async throws -> [[RunwaySyncCore.Operation.Action]] {
        try await store.writeAsFollower { database in
            let capture = try #require(store.follower as? ChangeCapture)
            try capture.sealAll(in: database)
            return try capture.store(of: Identifier(list), in: database).outgoing().map {
                $0.transaction.operations.map(\.action)
            }
        }
    }

    @Test func moveNamesTheSpaceOfTheCopy() async throws {
        let store = try await RecordStore.open(at: folder.file, tables: [Notes.self])
        let (values, note, other) = (Values(note, in: list, title: "tea", rating: 3), note, other)
        try await store.write { try $0.insert(values) }
        let moved = try await store.write { try $0.move(Notes.self, note, to: other) }
        let copy = try #require(moved)
        let key = { (id: UUID) in RowKey("note", Identifier(id)) }
        #expect(
            try await actions(store, in: list).last
                == [.delete(key(note), life: 2, movedTo: Identifier(other))])
        let all: Columns<SyncValue> = ["title": .text("tea"), "text": .null, "rating": .integer(3)]
        #expect(try await actions(store, in: other) == [[.insert(key(copy), life: 1, all)]])
        #expect(try await store.read { try $0.fetch(Notes.self).map { $0[Notes.list] } } == [other])
    }

    @Test func moveOfAnAbsentRowChangesNothing() async throws {
        let store = try await RecordStore.open(at: folder.file, tables: [Notes.self])
        let (note, other) = (note, other)
        #expect(try await store.write { try $0.move(Notes.self, note, to: other) } == nil)
        let values = Values(note, in: other, title: "tea")
        try await store.write { try $0.insert(values) }
        #expect(try await store.write { try $0.move(Notes.self, note, to: other) } == note)
        #expect(try await actions(store, in: other).count == 1)
    }

    @Test func rowThatComesBackHasNotMoved() async throws {
        let store = try await RecordStore.open(at: folder.file, tables: [Notes.self])
        let (values, note, other) = (Values(note, in: list, title: "tea"), note, other)
        try await store.write { try $0.insert(values) }
        try await store.write { file in
            try file.move(Notes.self, note, to: other)
            try file.insert(values)
            try file.delete(Notes.self, where: Notes.id == note)
        }
        #expect(
            try await actions(store, in: list).last == [.delete(RowKey("note", Identifier(note)), life: 2)])
    }

    @Test func foreignKeysFollowTheCopy() async throws {
        let store = try await RecordStore.open(at: folder.file, tables: [Notes.self])
        let (values, note, other) = (Values(note, in: list, title: "tea"), note, other)
        let (copy, marks) = try await store.write { file in
            // A table of the app's own SQL.
            try file.connection.execute(
                sql: "CREATE TABLE mark (note BLOB REFERENCES note (id) ON DELETE CASCADE)")
            try file.insert(values)
            try file.connection.execute(sql: "INSERT INTO mark VALUES (?)", arguments: [note])
            let copy = try file.move(Notes.self, note, to: other)
            return (copy, try UUID?.fetchAll(file.connection, sql: "SELECT note FROM mark"))
        }
        #expect(copy != nil && marks == [copy])
    }
}
