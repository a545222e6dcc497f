import Foundation
import Testing

@testable import Runway

struct EncodableParametersTests {
    private enum Sort: String, Encodable { case newest = "new", cheapest }
    private enum Level: Int, Encodable { case low = 1, high }
    private struct Range: Encodable {
        var low: Int
        var high: Int?
    }

    @Test func storedPropertiesBecomeParametersInTheirOrder() throws {
        struct Search: Encodable {
            var word = "loft"
            var isNew = true
            var area = 42.5
            var ratio: Float = 0.5
            var rooms = 3
        }
        #expect(
            try Parameters(encoding: Search())
                == ["word": "loft", "isNew": true, "area": 42.5, "ratio": 0.5, "rooms": 3])
    }

    @Test(arguments: [
        (Float(0.1), "0.1"), (-0.3, "-0.3"), (3.14, "3.14"), (16.4, "16.4"), (1e-7, "1e-07"), (2, "2"),
        (16_777_216, "16777216"), (0.33333334, "0.33333334"),
    ])
    func floatIsWrittenAsItsShortestText(number: Float, text: String) throws {
        struct Search: Encodable {
            var member: Float
            var maybe: Float?
            var elements: [Float]
        }
        let parameters = try Parameters(encoding: Search(member: number, maybe: number, elements: [number]))
        #expect(try QueryStyle.default.text(parameters) == "elements=\(text)&maybe=\(text)&member=\(text)")
        let fields = try QueryStyle.default.fields(parameters)
        #expect(fields.map(\.value) == [text, text, text], "as a form with files has it")
        let json = String(decoding: try parameters.json(dates: .iso8601), as: UTF8.self)
        #expect(json == #"{"elements":[\#(text)],"maybe":\#(text),"member":\#(text)}"#)
    }

    @Test func everyWidthOfIntegerPreservesItsValue() throws {
        struct Numbers: Encodable {
            var a = Int8.min
            var b = Int16.min
            var c = Int32.min
            var d = Int64.min
            var e = UInt8.max
            var f = UInt16.max
            var g = UInt32.max
            var h = UInt64.max
            var i = UInt(7)
        }
        let expected: [ParameterValue] = [
            .integer(-128), .integer(-32768), .integer(-2_147_483_648), .integer(.min), .integer(255), .integer(65535),
            .integer(4_294_967_295), .unsigned(.max), .integer(7),
        ]
        #expect(try Parameters(encoding: Numbers()).entries.map(\.value) == expected)
    }

    @Test func nilIsOmittedAndNestedValuesStayNested() throws {
        struct Search: Encodable {
            var price = Range(low: 1, high: nil)
            var area: Range?
            var city: String?
        }
        #expect(try Parameters(encoding: Search()) == ["price": ["low": 1]])
    }

    @Test func arraysPreserveElementsAndNils() throws {
        struct Search: Encodable {
            var tags = ["a", "b"]
            var ranges = [Range(low: 1, high: 2), Range(low: 3, high: nil)]
            var grid = [[1, 2], []]
            var holes: [Int?] = [1, nil]
            var none: [Int] = []
        }
        #expect(
            try Parameters(encoding: Search()) == [
                "tags": ["a", "b"], "ranges": [["low": 1, "high": 2], ["low": 3]], "grid": [[1, 2], []],
                "holes": [1, nil], "none": [],
            ])
    }

    @Test func datesDecimalsBytesAndURLsPreserveMeaning() throws {
        struct Search: Encodable {
            var since = Date(timeIntervalSince1970: 86_400)
            var price = Decimal(string: "12345678901234567890.12")
            var mark = Data([0, 255])
            var link = URL(string: "https://h.test/a?b=c")
            var days = [Date(timeIntervalSince1970: 0)]
        }
        let price = try #require(Decimal(string: "12345678901234567890.12"))
        #expect(
            try Parameters(encoding: Search()) == [
                "since": .date(Date(timeIntervalSince1970: 86_400)), "price": .decimal(price),
                "mark": .bytes([0, 255]),
                "link": "https://h.test/a?b=c", "days": [.date(Date(timeIntervalSince1970: 0))],
            ])
    }

    @Test func enumsAreTheirRawValues() throws {
        struct Search: Encodable {
            var sort = Sort.newest
            var levels: [Level] = [.low, .high]
        }
        #expect(try Parameters(encoding: Search()) == ["sort": "new", "levels": [1, 2]])
    }

    @Test func codingKeysRenameAndLeaveOut() throws {
        struct Search: Encodable {
            var city = "上海"
            var cache = 1
            enum CodingKeys: String, CodingKey { case city = "esf_city" }
        }
        #expect(try Parameters(encoding: Search()) == ["esf_city": "上海"])
    }

    @Test func unencodedPropertiesAreNoParameters() throws {
        struct Detail: Encodable {
            @Unencoded var id = 7
            @Unencoded var note: String? = nil
            var full = true
        }
        #expect(try Parameters(encoding: Detail()) == ["full": true])
    }

    @Test func endpointWithoutPropertiesHasNoParameters() throws {
        struct Ping: Encodable {}
        struct OnlyPath: Encodable { @Unencoded var id = 1 }
        #expect(try Parameters(encoding: Ping()).isEmpty)
        #expect(try Parameters(encoding: OnlyPath()).isEmpty)
    }

    @Test func dictionariesBecomeNamedValues() throws {
        struct Search: Encodable { var filters = ["floor": 3] }
        #expect(try Parameters(encoding: Search()) == ["filters": ["floor": 3]])
        #expect(try Parameters(encoding: ["a": 1]) == ["a": 1])
    }

    /// What stands in a `Dictionary` or `Set` has another order in every process; seven of them are hardly sorted by chance.
    @Test func collectionsWithoutAnOrderAreSorted() throws {
        struct Search: Encodable {
            var names = Dictionary(uniqueKeysWithValues: (1...7).map { ("\($0)", $0) })
            var integers = Dictionary(uniqueKeysWithValues: (1...7).map { ($0, "\($0)") })
            var doubles = Dictionary(uniqueKeysWithValues: (1...7).map { (Double($0) + 0.5, Set([$0, 9])) })
            var set: Set<String> = ["a", "b", "c", "d", "e", "f", "g"]
            var sets: Set<Set<Int>>? = [[1, 2, 3], [4, 5, 6], [7, 8, 9], [1, 5, 9]]
            var dates = Set((1...7).map { Date(timeIntervalSince1970: Double($0) / 8) })
        }
        let dates = (1...7).map { ParameterValue.date(Date(timeIntervalSince1970: Double($0) / 8)) }
        let names: Parameters = ["1": 1, "2": 2, "3": 3, "4": 4, "5": 5, "6": 6, "7": 7]
        let expected: Parameters = [
            "names": .object(names),
            "integers": ["1": "1", "2": "2", "3": "3", "4": "4", "5": "5", "6": "6", "7": "7"],
            "doubles": [
                1.5, [1, 9], 2.5, [2, 9], 3.5, [3, 9], 4.5, [4, 9], 5.5, [5, 9], 6.5, [6, 9], 7.5, [7, 9],
            ],
            "set": ["a", "b", "c", "d", "e", "f", "g"],
            "sets": [[1, 2, 3], [1, 5, 9], [4, 5, 6], [7, 8, 9]],
            "dates": .array(dates),
        ]
        #expect(try Parameters(encoding: Search()) == expected)
        #expect(try Parameters(encoding: Search().names) == names)
    }

    @Test func equalCollectionsMakeEqualText() throws {
        struct Search: Encodable, Equatable {
            var tags: Set<Int>
            var prices: [Double: [String: Int]]
        }
        var grown = Search(tags: Set(minimumCapacity: 4096), prices: Dictionary(minimumCapacity: 4096))
        for number in 0..<50 {
            grown.tags.insert(number)
            grown.prices[Double(number) + 0.5] = ["low": number, "high": number + 1]
        }
        let prices = grown.prices.sorted { $0.key > $1.key }.map { ($0.key, $0.value) }
        let given = Search(tags: Set(0..<50), prices: Dictionary(uniqueKeysWithValues: prices))
        #expect(grown == given)
        let (one, other) = (try Parameters(encoding: grown), try Parameters(encoding: given))
        #expect(try QueryStyle.default.text(one) == QueryStyle.default.text(other))
        #expect(try one.json(dates: .iso8601) == other.json(dates: .iso8601))
    }

    @Test func manualEncodingSeesNestedContainersSuperclassesAndNulls() throws {
        struct Hand: Encodable {
            enum Key: String, CodingKey { case inner, list, nothing, base }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: Key.self)
                var inner = container.nestedContainer(keyedBy: Key.self, forKey: .inner)
                try inner.encode(1, forKey: .base)
                var list = container.nestedUnkeyedContainer(forKey: .list)
                try list.encode("x")
                try list.encodeNil()
                var row = list.nestedContainer(keyedBy: Key.self)
                try row.encode(true, forKey: .base)
                var rest = list.nestedUnkeyedContainer()
                try rest.encode(2.5)
                #expect(list.count == 4)
                try container.encodeNil(forKey: .nothing)
                try Range(low: 5, high: nil).encode(to: container.superEncoder(forKey: .base))
                try Range(low: 6, high: nil).encode(to: container.superEncoder())
            }
        }
        #expect(
            try Parameters(encoding: Hand()) == [
                "inner": ["base": 1], "list": ["x", nil, ["base": true], [2.5]], "nothing": nil, "base": ["low": 5],
                "super": ["low": 6],
            ])
    }

    @Test func valuesWithoutNamesAreRefused() {
        #expect(throws: UnencodableParameter.withoutNames) { try Parameters(encoding: [1, 2]) }
        #expect(throws: UnencodableParameter.withoutNames) { try Parameters(encoding: "text") }
    }

    @Test func endlessChainIsRefusedBeforeStackExhaustion() {
        final class Link: Encodable {
            var next: Link?
            var deeds: [Link]?
        }
        let ring = Link()
        ring.next = ring
        #expect(throws: UnencodableParameter.self) { try Parameters(encoding: ring) }
        let tree = Link()
        tree.deeds = [tree]
        #expect(throws: UnencodableParameter.self) { try Parameters(encoding: tree) }
        ring.next = nil
        tree.deeds = nil
    }
}
