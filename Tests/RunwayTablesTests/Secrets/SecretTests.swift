import Foundation
import GRDB
import Testing

@testable import RunwayTables

private enum Hints: RunwayTables.TableDefinition {
    static let name = "hint"
    static let id = Column<String>("id"), text = Column<Secret<String>?>("text")
    static let columns = TableColumns<Self>(id, text)
}

private enum Measurements: RunwayTables.TableDefinition {
    static let name = "measurement"
    static let id = Column<Double>("id"), text = Column<Secret<String>>("text")
    static let columns = TableColumns<Self>(id, text)
}

struct SecretTests {
    private let folder = ScratchFolder()

    private func note(_ id: String, _ text: String, _ rank: Int?) -> Values<Notes> {
        var note = Values<Notes>()
        note[Notes.id] = id
        note[Notes.text] = Secret(text)
        note[Notes.rank] = rank.map { Secret($0) }
        return note
    }

    @Test func secretsAreSealedInTheFile() async throws {
        let sealing = KeyedSealing()
        let store = try await folder.open([Notes.self]) { $0.sealing = sealing }
        let note = note("1", "the treasure is under the tree", 42)
        try await store.write { try $0.save(note) }
        let read = try await store.read { try $0.fetchFirst(Notes.self) }
        #expect(read == note && read?[Notes.text]?.value == "the treasure is under the tree")
        #expect(read?[Notes.rank]?.value == 42)
        for file in try FileManager.default.contentsOfDirectory(at: folder.url, includingPropertiesForKeys: nil) {
            #expect(try Data(contentsOf: file).range(of: Data("treasure".utf8)) == nil)
        }
        #expect(try await store.read { try $0.fetch(Notes.id).first?.contains(Notes.text) } == false)
    }

    @Test func sealedValuesOpenOnlyInTheirPlace() async throws {
        let sealing = KeyedSealing()
        let store = try await folder.open([Notes.self]) { $0.sealing = sealing }
        let notes = [note("1", "a", nil), note("2", "b", nil)]
        try await store.write { file in for note in notes { try file.save(note) } }
        try await store.write {
            try $0.connection.execute(sql: "UPDATE note SET text = (SELECT text FROM note WHERE id = '2')")
        }
        #expect(await kind { _ = try await store.read { try $0.fetch(Notes.self) } } == .keyUnavailable)
    }

    @Test func sealedValuesOpenOnlyInTheirAccount() async throws {
        let (accounts, note) = (AccountFiles(in: folder.url), note("1", "ada's", nil))
        var options = RecordStore.Options()
        options.sealing = KeyedSealing()
        let ada = try await accounts.open("ada", tables: [Notes.self], options: options)
        try await ada.write { try $0.save(note) }
        #expect(try await ada.read { try $0.fetchFirst(Notes.self) } == note)
        try await accounts.open("bob", tables: [Notes.self], options: options).close()
        try await ada.close()
        try FileManager.default.removeItem(at: accounts.url(of: "bob"))
        try FileManager.default.copyItem(at: accounts.url(of: "ada"), to: accounts.url(of: "bob"))
        let bob = try await accounts.open("bob", tables: [Notes.self], options: options)
        #expect(await kind { _ = try await bob.read { try $0.fetch(Notes.self) } } == .keyUnavailable)
    }

    @Test func equalKeysOpenTheSameSecret() async throws {
        let store = try await folder.open([Measurements.self]) { $0.sealing = KeyedSealing() }
        var row = Values<Measurements>()
        row[Measurements.id] = -0.0
        for text in ["inserted", "updated"] {
            row[Measurements.text] = Secret(text)
            let values = row
            try await store.write { try $0.save(values) }
            #expect(try await store.read { try $0.fetch(Measurements.self) } == [values])
            row[Measurements.id] = text == "inserted" ? 0 : -0.0
        }
    }

    @Test func aKeyInAnotherCaseOpensItsSecret() async throws {
        try folder.sql("CREATE TABLE note (id TEXT COLLATE NOCASE PRIMARY KEY, text BLOB, rank BLOB)")
        let store = try await folder.open([Notes.self]) { ($0.sealing, $0.adopting) = (KeyedSealing(), .init()) }
        let notes = [note("a", "inserted", 1), note("A", "updated", 2)]
        try await store.write { file in for note in notes { try file.save(note) } }
        let row = try #require(try await store.read { try $0.fetchFirst(Notes.self) })
        #expect(row[Notes.id] == "a" && row[Notes.text]?.value == "updated" && row[Notes.rank]?.value == 2)
    }

    @Test func aRotatedKeyReadsBothAndReseals() async throws {
        let (old, new) = (KeyedSealing(), KeyedSealing())
        let notes = (0..<1201).map { (number: Int) in note("\(number)", "text \(number)", number) }
        var store = try await folder.open([Notes.self]) { $0.sealing = old }
        try await store.write { file in for note in notes { try file.insert(note) } }
        try await store.close()
        store = try await folder.open([Notes.self]) { ($0.sealing, $0.formerSealings) = (new, [old]) }
        #expect(try await store.read { try $0.fetch(Notes.self).count } == 1201)
        #expect(try await store.resealSecrets() == 1201)
        #expect(try await store.resealSecrets() == 0)
        try await store.close()
        store = try await folder.open([Notes.self]) { $0.sealing = new }
        #expect(Set(try await store.read { try $0.fetch(Notes.self) }) == Set(notes))
        try await store.close()
        store = try await folder.open([Notes.self]) { $0.sealing = old }
        #expect(await kind { _ = try await store.read { try $0.fetch(Notes.self) } } == .keyUnavailable)
    }

    @Test(.timeLimit(.minutes(5)), arguments: [1, 500])
    func resealingEndsAtMalformedKeys(count: Int) async throws {
        let store = try await folder.open([Hints.self]) { $0.sealing = KeyedSealing() }
        // The keys of all these rows are read as the same text.
        try folder.sql(
            """
            WITH number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < \(count))
            INSERT INTO hint (id) SELECT 'a' || char(0) || n FROM number
            """)
        #expect(await kind { _ = try await store.resealSecrets() } == (count < 500 ? nil : .corrupted))
    }

    @Test func aStoreWithoutSealingIsRefused() async {
        #expect(await kind { _ = try await folder.open([Notes.self]) } == .keyUnavailable)
    }
}
