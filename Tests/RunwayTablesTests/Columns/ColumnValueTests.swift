import Foundation
import GRDB
import RunwayTesting
import Testing

@testable import RunwayTables

private enum Weight: Int, Codable, ColumnValue { case low = 1, high = 7 }
private enum Colour: String, ColumnValue { case red, green }
private struct Place: Codable, Hashable, ColumnValue {
    var street: String
    var number: Double
}

private enum Everything: RunwayTables.TableDefinition {
    static let name = "every thing; --"
    static let id = Column<Int64>("id"), small = Column<Int8?>("small"), large = Column<UInt64?>("large")
    static let number = Column<Double?>("number"), float = Column<Float?>("float"), text = Column<String?>("text")
    static let bytes = Column<Data?>("by'tes"), flag = Column<Bool?>("flag"), date = Column<Date?>("date")
    static let uuid = Column<UUID?>("uuid"), url = Column<URL?>("url"), weight = Column<Weight?>("weight")
    static let colour = Column<Colour?>("colour"), place = Column<Place?>("place")
    static let columns = TableColumns<Self>(
        id, small, large, number, float, text, bytes, flag, date, uuid, url, weight, colour, place)
}

struct ColumnValueTests {
    private let folder = ScratchFolder()

    @Test func eachTypeIsReadBackEqual() async throws {
        let store = try await folder.open([Everything.self])
        var values = Values<Everything>()
        values[Everything.id] = .min
        values[Everything.small] = -128
        values[Everything.large] = UInt64(Int64.max)
        values[Everything.number] = -.infinity
        values[Everything.float] = .leastNonzeroMagnitude
        values[Everything.text] = "O'Brien; DROP TABLE \"task\" -- 你好 \u{1F469}\u{200D}\u{1F467}"
        values[Everything.bytes] = Data([0, 255, 39])
        values[Everything.flag] = true
        values[Everything.date] = Date(timeIntervalSince1970: -62_135_596_800.001)
        values[Everything.uuid] = UUID()
        values[Everything.url] = URL(string: "https://example.com/a%20b?c='d'")
        values[Everything.weight] = .high
        values[Everything.colour] = .green
        values[Everything.place] = Place(street: "it's", number: 1.5)
        let written = values
        let read = try await store.write { file in
            try file.insert(written)
            return try #require(try file.fetchFirst(Everything.self))
        }
        #expect(read == written)
        #expect(read[Everything.large] == UInt64(Int64.max) && read[Everything.number] == -.infinity)
        #expect(read[Everything.place] == Place(street: "it's", number: 1.5) && read[Everything.colour] == .green)
        #expect(read[Everything.date] == written[Everything.date] && read[Everything.date] != nil)
        // Other readers see ordinary SQL types.
        let types = try await store.read { file in
            try String.fetchAll(
                file.connection,
                sql: """
                    SELECT typeof(weight) || typeof(colour) || typeof(place) || typeof(date) || typeof(uuid)
                    FROM "every thing; --"
                    """)
        }
        #expect(types == ["integertexttexttextblob"])
    }

    @Test func valuesThatWouldChangeAreRefused() async throws {
        let store = try await folder.open([Everything.self])
        let changes: [@Sendable (inout Values<Everything>) -> Void] = [
            { $0[Everything.large] = .max }, { $0[Everything.number] = .nan }, { $0[Everything.float] = .signalingNaN },
            { $0[Everything.text] = "a\0b" }, { $0[Everything.date] = .distantFuture.addingTimeInterval(1e12) },
            { $0[Everything.date] = Date(timeIntervalSince1970: .nan) },
            { $0[Everything.place] = Place(street: "", number: .nan) },
        ]
        for change in changes {
            let refusal = await kind {
                try await store.write { file in
                    var values = Values<Everything>()
                    values[Everything.id] = 1
                    change(&values)
                    try file.save(values)
                }
            }
            #expect(refusal == .rejected)
        }
        #expect(try await store.read { try $0.count(Everything.self) } == 0)
    }

    @Test func datesAreRoundedOnce() throws {
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<5000 {
            let date = Date(timeIntervalSince1970: Double.random(in: -6e10...2.5e11, using: &generator))
            let text = try #require(UTCText(date))
            #expect(abs(text.date.timeIntervalSince(date)) <= 0.000_6)
            #expect(UTCText(text.text)?.date == text.date && UTCText(text.date)?.text == text.text)
        }
    }

    @Test func datesAreThoseOfSQLite() throws {
        let texts = [
            "0001-01-01 00:00:00.000", "1582-10-10 12:00:00.001", "2024-02-29 23:59:59.999", "9999-12-31 00:00:00.500",
        ]
        try DatabaseQueue().read { database in
            for text in texts {
                let seconds = try #require(
                    try Double.fetchOne(database, sql: "SELECT (julianday(?) - 2440587.5) * 86400", arguments: [text]))
                let date = try #require(UTCText(text)).date
                #expect(abs(date.timeIntervalSince1970 - seconds) < 0.01 && UTCText(date)?.text == text)
            }
        }
        let modern = Date(timeIntervalSince1970: 1_764_379_387.25)
        #expect(UTCText(modern)?.text.databaseValue == modern.databaseValue)
    }
}
