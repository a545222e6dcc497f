import Foundation
import RunwayJSON
import Testing

/// `JSONDocumentEncoder` against Foundation's `JSONEncoder`, whose documents must say the same.
@Suite struct EncoderTests {
    struct Everything: Codable, Equatable {
        struct Inner: Codable, Equatable {
            var x = 1
            var y: String? = nil
        }
        var text = "é\n\"/😀"
        var int = Int.min
        var int8 = Int8(-8)
        var unsigned = UInt64.max
        var double = 0.1
        var whole = 3.0
        var float = Float(0.3)
        var flag = true
        var nothing: Int? = nil
        var inner = Inner()
        var list = [Inner(), Inner(x: 2, y: "z")]
        var matrix: [[Int?]] = [[1, nil], []]
        var names = ["b": Inner(), "a b": Inner(x: 5)]
        var url = URL(filePath: "/c d")
        var date = Date(timeIntervalSince1970: 1_700_000_000.5)
        var data = Data([1, 2, 255])
        var amount = Decimal(string: "12.50")
        var myURLProperty = 1
    }

    private func expectParity<T: Encodable>(
        _ value: T, _ ours: JSONDocumentEncoder, _ theirs: JSONEncoder,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        var ours = ours
        ours.sortsKeys = true
        theirs.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let actual = String(decoding: try ours.encode(value), as: UTF8.self)
        let expected = String(decoding: try theirs.encode(value), as: UTF8.self)
        #expect(actual == expected, sourceLocation: sourceLocation)
    }

    @Test func everyTypeEncodesAsInFoundation() throws {
        try expectParity(Everything(), JSONDocumentEncoder(), JSONEncoder())
        try expectParity([1, 2, 3], JSONDocumentEncoder(), JSONEncoder())
        try expectParity(["a": [1.5]], JSONDocumentEncoder(), JSONEncoder())
        try expectParity("text", JSONDocumentEncoder(), JSONEncoder())
        try expectParity(Optional<Int>.none, JSONDocumentEncoder(), JSONEncoder())
        try expectParity([Int: String](uniqueKeysWithValues: [(1, "a")]), JSONDocumentEncoder(), JSONEncoder())
    }

    @Test func datesAndDataEncodeByTheirStrategies() throws {
        let pairs: [(JSONDocumentEncoder.DateEncodingStrategy, JSONEncoder.DateEncodingStrategy)] = [
            (.deferredToDate, .deferredToDate), (.secondsSince1970, .secondsSince1970),
            (.millisecondsSince1970, .millisecondsSince1970), (.iso8601, .iso8601),
            (
                .custom { try "\($0.timeIntervalSince1970)".encode(to: $1) },
                .custom { try "\($0.timeIntervalSince1970)".encode(to: $1) }
            ),
        ]
        for (our, their) in pairs {
            var ours = JSONDocumentEncoder()
            ours.dateEncodingStrategy = our
            ours.dataEncodingStrategy = .deferredToData
            let theirs = JSONEncoder()
            theirs.dateEncodingStrategy = their
            theirs.dataEncodingStrategy = .deferredToData
            try expectParity(Everything(), ours, theirs)
        }
        var ours = JSONDocumentEncoder()
        ours.dateEncodingStrategy = .formatted { "\(Int($0.timeIntervalSince1970))" }
        #expect(try ours.encode([Date(timeIntervalSince1970: 5)]) == Array(#"["5"]"#.utf8))
    }

    struct Camel: Encodable {
        var firstName = 1
        var myURLProperty = 2
        var aBC = 3
        var URLString = 4
        var x = 5
        var endsWithID = 6
        var already_snake = 7
        var HTTP2Go = 8
        var deep = ["camelKey": 9]
    }

    @Test func snakeCaseEncodesAsInFoundation() throws {
        var ours = JSONDocumentEncoder()
        ours.keyEncodingStrategy = .convertToSnakeCase
        let theirs = JSONEncoder()
        theirs.keyEncodingStrategy = .convertToSnakeCase
        try expectParity(Camel(), ours, theirs)
        try expectParity(Everything(), ours, theirs)
    }

    @Test func membersAreInTypeOrderAndDictionariesSorted() throws {
        struct Pair: Encodable {
            var z = 1
            var a = ["c": 1, "b": 2, "a": 3]
        }
        #expect(try JSONDocumentEncoder().encode(Pair()) == Array(#"{"z":1,"a":{"a":3,"b":2,"c":1}}"#.utf8))
    }

    /// What stands in a `Dictionary` or `Set` has another order in every process; seven of them are hardly sorted by chance.
    @Test func collectionsWithoutAnOrderAreSorted() throws {
        struct Everything: Encodable {
            enum Word: String, Codable, CodingKeyRepresentable { case a, b, c, d, e, f, g }
            var names = Dictionary(uniqueKeysWithValues: (1...7).map { ("\($0)", $0) })
            var integers = Dictionary(uniqueKeysWithValues: (1...7).map { ($0, "\($0)") })
            var words = Dictionary(uniqueKeysWithValues: [Word.a, .b, .c, .d, .e, .f, .g].map { ($0, true) })
            var doubles = Dictionary(uniqueKeysWithValues: (1...7).map { (Double($0) + 0.5, [Set([$0, 9])]) })
            var set: Set<String> = ["a", "b", "c", "d", "e", "f", "g"]
            var sets: Set<Set<Int>> = [[1, 2, 3], [4, 5, 6], [7, 8, 9], [1, 5, 9]]
            var list = [[1: 1, 2: 2, 3: 3, 4: 4, 5: 5, 6: 6, 7: 7]]
        }
        let expected = #"""
            {"names":{"1":1,"2":2,"3":3,"4":4,"5":5,"6":6,"7":7},\#
            "integers":{"1":"1","2":"2","3":"3","4":"4","5":"5","6":"6","7":"7"},\#
            "words":{"a":true,"b":true,"c":true,"d":true,"e":true,"f":true,"g":true},\#
            "doubles":[1.5,[[1,9]],2.5,[[2,9]],3.5,[[3,9]],4.5,[[4,9]],5.5,[[5,9]],6.5,[[6,9]],7.5,[[7,9]]],\#
            "set":["a","b","c","d","e","f","g"],"sets":[[1,2,3],[1,5,9],[4,5,6],[7,8,9]],\#
            "list":[{"1":1,"2":2,"3":3,"4":4,"5":5,"6":6,"7":7}]}
            """#
        #expect(String(decoding: try JSONDocumentEncoder().encode(Everything()), as: UTF8.self) == expected)
        #expect(try JSONDocumentEncoder().encode(Set(1...7)) == Array("[1,2,3,4,5,6,7]".utf8))
    }

    @Test func numbersOutsideJSONAreErrorsOrStrings() throws {
        #expect(throws: EncodingError.self) { try JSONDocumentEncoder().encode([Double.nan]) }
        #expect(throws: EncodingError.self) { try JSONDocumentEncoder().encode(Decimal.nan) }
        var encoder = JSONDocumentEncoder()
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "+", negativeInfinity: "-", nan: "n")
        #expect(try encoder.encode([Double.nan, .infinity, -.infinity]) == Array(#"["n","+","-"]"#.utf8))
    }

    /// Fills containers in turns, asks for one twice, and leaves one empty.
    struct ByHand: Encodable {
        enum Keys: String, CodingKey { case a, b, c, d }
        func encode(to encoder: any Encoder) throws {
            var keyed = encoder.container(keyedBy: Keys.self)
            var list = keyed.nestedUnkeyedContainer(forKey: .a)
            var object = keyed.nestedContainer(keyedBy: Keys.self, forKey: .b)
            try list.encode(1)
            try object.encode(2, forKey: .a)
            try list.encodeNil()
            var again = keyed.nestedContainer(keyedBy: Keys.self, forKey: .b)
            try again.encode(3, forKey: .b)
            try object.encode(4, forKey: .a)
            try keyed.encode("late", forKey: .d)
            var inner = list.nestedContainer(keyedBy: Keys.self)
            try inner.encodeNil(forKey: .c)
            var deeper = list.nestedUnkeyedContainer()
            try deeper.encode(contentsOf: [true, false])
            var alone = keyed.superEncoder(forKey: .c).singleValueContainer()
            try alone.encode(9)
        }
    }

    struct Empty: Encodable { func encode(to encoder: any Encoder) throws {} }

    @Test func containersFillAsInFoundation() throws {
        try expectParity(ByHand(), JSONDocumentEncoder(), JSONEncoder())
        #expect(throws: EncodingError.self) { try JSONDocumentEncoder().encode(Empty()) }
        try expectParity([Empty()], JSONDocumentEncoder(), JSONEncoder())
    }

    @Test func integersOf128BitsEncodeAsInFoundation() throws {
        struct Wide: Encodable {
            var a = Int128.min
            var b = UInt128.max
        }
        try expectParity(Wide(), JSONDocumentEncoder(), JSONEncoder())
        try expectParity([UInt128.max], JSONDocumentEncoder(), JSONEncoder())
        #expect(String(decoding: try JSONDocumentEncoder().encode(Int128.min), as: UTF8.self) == "\(Int128.min)")
    }

    @Test func encodedValuesDecodeAgain() throws {
        let value = Everything()
        let bytes = try JSONDocumentEncoder().encode(value)
        #expect(try JSONDocumentDecoder().decode(Everything.self, from: bytes) == value)
    }
}
