import Foundation
import GRDB
import RunwayTesting
import Testing

@testable import RunwayTables

private struct Place: Codable, Hashable, ColumnValue { var street: String }

private enum Hostiles: RunwayTables.TableDefinition {
    static let name = "every thing'; --"
    static let id = Column<Int>("id"), key = Column<String>("ke\u{301}y"), text = Column<String>("te'xt; --")
    static let bytes = Column<Data>("bytes")
    static let number = Column<Double>("number"), date = Column<Date?>("date"), place = Column<Place>("place")
    static let columns = TableColumns<Self>(id, key, text, bytes, number, date, place, keyColumnCount: 2)
    static let indexes = [Index("by text'; --", on: text)]
}

/// Values that would be SQL, or would change, if they were not bound.
private struct Hostile: Sendable {
    let text: String
    let number: Double
    let date: Date

    init(using generator: inout SeededGenerator) {
        let pieces = [
            "'", "\"", ";", "--", "\0", "%", "\\", "?", ":a", "\u{FEFF}", "é", "e\u{301}", "\u{10FFFF}", " ", "NULL",
            "'); DROP TABLE \"every thing'; --\"; --", "/*", "x'00'", "\u{1}", "\u{FFFE}", "{}", "\r\n", "1e999", "?1",
        ]
        // One in a thousand is long.
        let count = Int.random(in: 0..<1000, using: &generator) == 0 ? 20_000 : Int.random(in: 0...6, using: &generator)
        text = (0..<count).map { _ in pieces.randomElement(using: &generator) ?? "" }.joined()
        number = Double(bitPattern: UInt64.random(in: 0...UInt64.max, using: &generator))
        date = Date(timeIntervalSince1970: Double.random(in: -1e11...3e11, using: &generator))
    }

    var isStorable: Bool { !text.utf8.contains(0) && !number.isNaN && UTCText(date) != nil }

    func values(_ id: Int) -> Values<Hostiles> {
        var values = Values<Hostiles>()
        values[Hostiles.id] = id
        values[Hostiles.key] = text
        values[Hostiles.text] = text
        values[Hostiles.bytes] = Data(text.utf8)
        values[Hostiles.number] = number
        values[Hostiles.date] = date
        values[Hostiles.place] = Place(street: text)
        return values
    }

    /// Whether a row has these values, byte by byte, with the date rounded to milliseconds.
    func isEqual(to row: Values<Hostiles>) -> Bool {
        func isText(_ found: String?) -> Bool { found?.utf8.elementsEqual(text.utf8) == true }
        guard let found = row[Hostiles.date], abs(found.timeIntervalSince(date)) < 0.000_6 else { return false }
        return isText(row[Hostiles.text]) && row[Hostiles.bytes] == Data(text.utf8) && row[Hostiles.number] == number
            && UTCText(found)?.text == UTCText(date)?.text && isText(row[Hostiles.place]?.street)
    }
}

struct HostileValueTests {
    private let folder = ScratchFolder()
    private static let groupSize = 1000

    /// 100,000 values, five in a row, each through insert, condition, update, save, order, `isAny` and delete, and one in fifty
    /// through the conditions that scan the table.
    @Test func hostileValuesAreEqualOrRefused() async throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        let store = try await folder.open([Hostiles.self])
        let schema = try await Self.schema(of: store)
        var storableCount = 0
        for group in 0..<20 {
            let hostiles = (0..<Self.groupSize).map { _ in Hostile(using: &generator) }
            let (count, problem) = try await store.write { file -> (Int, String?) in
                var storable: [(id: Int, value: Hostile)] = []
                for (index, hostile) in hostiles.enumerated() {
                    let isStored = (try? file.insert(hostile.values(index))) != nil
                    if isStored != hostile.isStorable { return (0, "insert: \(hostile)") }
                    if isStored { storable.append((index, hostile)) }
                }
                return (storable.count, try Self.problem(file, storable))
            }
            storableCount += count
            try #require(problem == nil, "seed \(seed), group \(group)")
        }
        #expect(storableCount > 10_000)
        #expect(try await Self.schema(of: store) == schema)
        #expect(try await store.read { try $0.count(Hostiles.self) } == 0)
    }

    @Test func hostileRowsAreStagedOrRefused() async throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        let hostiles = (0..<3000).map { _ in Hostile(using: &generator) }
        let store = try await folder.open([Hostiles.self])
        let schema = try await Self.schema(of: store)
        let (storable, refused) = (hostiles.filter(\.isStorable), hostiles.filter { !$0.isStorable })
        for hostile in refused.prefix(20) {
            #expect(await kind { try await store.stage([hostile.values(0)]) } == .rejected, "seed \(seed): \(hostile)")
            #expect(!store.hasStagedRows)
        }
        try await store.stage(storable.enumerated().map { $1.values($0) })
        let found = try await store.read { try $0.fetch(Hostiles.self, orderedBy: [.ascending(Hostiles.id)]) }
        #expect(found.count == storable.count && storable.count > 1000 && refused.count > 20, "seed \(seed)")
        #expect(zip(storable, found).allSatisfy { $0.isEqual(to: $1) }, "seed \(seed)")
        #expect(try await Self.schema(of: store) == schema)
    }

    @Test func hostileRowsLandOrAreRefused() async throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        let hostiles = (0..<1000).map { _ in Hostile(using: &generator) }
        let (store, order) = (try await folder.open([Hostiles.self]), LandingOrder())
        let url = store.url
        func land(_ hostile: Hostile, _ id: Int, as flight: UInt64) async throws {
            // The list of each response is all rows with its text, which is its one row.
            let condition = Hostiles.text == hostile.text
            let list = LandedList(
                layout: Hostiles.columns.layout, condition: condition.sql, arguments: condition.arguments)
            let rows = LandedRows(
                flight: flight, rows: Draft(hostile.values(id)).rows, list: list, addsOnly: false, isWholeList: true)
            try await store.write { try $0.land(rows, in: url, order) }
        }
        for (id, hostile) in hostiles.enumerated() {
            let problem = await kind { try await land(hostile, id, as: UInt64(id + 1)) }
            #expect(problem == (hostile.isStorable ? nil : .rejected), "seed \(seed): \(hostile)")
        }
        // Of rows with the same text only the last is left.
        var last: [[UInt8]: Int] = [:]
        for (id, hostile) in hostiles.enumerated() where hostile.isStorable { last[Array(hostile.text.utf8)] = id }
        let found = try await store.read { try $0.fetch(Hostiles.self, orderedBy: [.ascending(Hostiles.id)]) }
        #expect(found.compactMap { $0[Hostiles.id] } == last.values.sorted(), "seed \(seed)")
        #expect(found.allSatisfy { row in row[Hostiles.id].map { hostiles[$0].isEqual(to: row) } == true })
    }

    @Test func textKeysDifferByTheirBytes() async throws {
        let store = try await folder.open([Notes.self]) { $0.sealing = KeyedSealing() }
        let long = String(repeating: "'", count: 1 << 20)
        let keys = ["", " ", "a", "A", "\u{E9}", "e\u{301}", "\u{FEFF}a", "\u{10FFFF}", "1", "1.0", "NULL", long]
        let notes = (keys + ["a\0", "\0"]).map { key in
            var note = Values<Notes>()
            note[Notes.id] = key
            note[Notes.text] = Secret("of \(key)")
            return note
        }
        for note in notes.suffix(2) {
            #expect(await kind { try await store.write { _ = try $0.save(note) } } == .rejected)
        }
        // Some are saved twice.
        let saved = notes.prefix(keys.count) + notes.prefix(3)
        try await store.write { file in for note in saved { try file.save(note) } }
        for key in keys {
            let found = try await store.read { try $0.fetch(Notes.self, where: Notes.id == key) }
            #expect(found.count == 1 && found.first?[Notes.id]?.utf8.elementsEqual(key.utf8) == true)
            #expect(found.first?[Notes.text]?.value.utf8.elementsEqual("of \(key)".utf8) == true)
        }
        #expect(try await store.read { try $0.count(Notes.self) } == keys.count)
    }

    private static func schema(of store: RecordStore) async throws -> [String] {
        // Without the tables of the library, of which a staging makes one.
        let sql = "SELECT name || coalesce(sql, '') FROM sqlite_master WHERE name NOT GLOB '*runway_*'"
        return try await store.read { try String.fetchAll($0.connection, sql: sql) }
    }

    /// Takes the rows of a group through all operations; returns the first that went wrong.
    private static func problem(_ file: TableWriter, _ rows: [(id: Int, value: Hostile)]) throws -> String? {
        func differing(from expected: [Hostile]) throws -> Hostile? {
            let found = try file.fetch(Hostiles.self, orderedBy: [.ascending(Hostiles.id)])
            return zip(expected, found).first { !$0.isEqual(to: $1) }?.0
        }
        let (values, all) = (rows.map(\.value), rows.map { $0.value.values($0.id) })
        for (id, value) in rows {
            let found = try file.fetch(
                Hostiles.id,
                where: Hostiles.text == value.text && Hostiles.number == value.number
                    && Hostiles.bytes == Data(value.text.utf8) && Hostiles.date == value.date && Hostiles.id == id)
            guard found.count == 1 else { return "where: \(value)" }
        }
        if let value = try differing(from: values) { return "insert: \(value)" }
        for (id, value) in rows.prefix(20) {
            let text = Array(value.text.utf8)
            let smaller = values.count { Array($0.text.utf8).lexicographicallyPrecedes(text) }
            let equal = values.count { $0.text.utf8.elementsEqual(text) }
            let counts = try [
                Hostiles.text < value.text, Hostiles.text <= value.text, Hostiles.text > value.text,
                Hostiles.text >= value.text, Hostiles.text != value.text, !(Hostiles.text == value.text),
                Hostiles.text < value.text || Hostiles.text == value.text || Hostiles.id == id,
            ].map { try file.count(Hostiles.self, where: $0) }
            let larger = rows.count - smaller - equal
            let expected = [
                smaller, smaller + equal, larger, larger + equal, rows.count - equal, rows.count - equal,
                smaller + equal,
            ]
            guard counts == expected else { return "comparison: \(value)" }
        }
        for (index, (var row, (id, value))) in zip(all.reversed(), rows).enumerated() {
            let key = Hostiles.id == id && Hostiles.key == value.text
            if index % 2 == 0 {
                (row[Hostiles.id], row[Hostiles.key]) = (id, value.text)
                guard try file.update(row) else { return "update: \(value)" }
            } else {
                row.remove(Hostiles.id)
                row.remove(Hostiles.key)
                guard try file.updateAll(row, where: key) == 1 else { return "updateAll: \(value)" }
            }
        }
        if let value = try differing(from: values.reversed()) { return "update: \(value)" }
        for row in all { try file.save(row) }
        if let value = try differing(from: values) { return "save: \(value)" }
        let order = try file.fetch(
            Hostiles.id, orderedBy: [.ascending(Hostiles.text), .descending(Hostiles.id)]
        ).map { $0[Hostiles.id] }
        let sorted = rows.sorted { first, second in
            let (text, other) = (Array(first.value.text.utf8), Array(second.value.text.utf8))
            return text == other ? first.id > second.id : text.lexicographicallyPrecedes(other)
        }
        guard order == sorted.map(\.id) else { return "order" }
        let texts = rows.map(\.value.text)
        guard try file.count(Hostiles.self, where: Hostiles.text.isAny(of: texts)) == rows.count else { return "isAny" }
        for (id, value) in rows {
            let condition = Hostiles.id == id && Hostiles.text.isAny(of: [value.text, "another"])
            guard try file.delete(Hostiles.self, where: condition) == 1 else { return "delete: \(value)" }
        }
        return nil
    }
}
