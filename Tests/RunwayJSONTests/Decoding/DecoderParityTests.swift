import Foundation
import RunwayJSON
import Testing

/// `JSONDocumentDecoder` against Foundation's `JSONDecoder`: the same values, or the same error at the same path.
@Suite struct DecoderParityTests {
    /// What decoding came to, in a form that can be compared.
    private func outcome(_ decode: () throws -> Any) -> String {
        do {
            return "value \(String(reflecting: try decode()))"
        } catch let error as DecodingError {
            switch error {
            case .typeMismatch(let type, let context): return "typeMismatch \(type) \(path(context))"
            case .valueNotFound(let type, let context): return "valueNotFound \(type) \(path(context))"
            case .keyNotFound(let key, let context): return "keyNotFound \(key.stringValue) \(path(context))"
            case .dataCorrupted(let context): return "dataCorrupted \(path(context))"
            @unknown default: return "other"
            }
        } catch {
            return "error \(error)"
        }
    }

    private func path(_ context: DecodingError.Context) -> String {
        context.codingPath.map { "\($0.stringValue)/\($0.intValue.map(String.init) ?? "-")" }.joined(separator: " ")
    }

    private func expectParity<T: Decodable>(
        _ type: T.Type, _ text: String, ours: JSONDocumentDecoder = JSONDocumentDecoder(),
        theirs: JSONDecoder = JSONDecoder(), sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let expected = outcome { try theirs.decode(type, from: Data(text.utf8)) }
        let actual = outcome { try ours.decode(type, from: Array(text.utf8)) }
        // For numbers that don't fit and dates that can't be read Foundation leaves the path out, or ends it early.
        if expected == "dataCorrupted ", actual.hasPrefix(expected) { return }
        #expect(actual == expected, "\(T.self) from \(text)", sourceLocation: sourceLocation)
    }

    struct Everything: Codable {
        struct Inner: Codable {
            var x: Int
            var y: [String: Bool]?
        }
        var text: String
        var int: Int
        var int8: Int8?
        var uint: UInt64?
        var double: Double?
        var float: Float?
        var flag: Bool?
        var inner: Inner?
        var list: [Inner]?
        var matrix: [[Int?]]?
        var names: [String: Inner]?
        var url: URL?
        var date: Date?
        var data: Data?
        var amount: Decimal?
    }

    static let texts: [String] = [
        #"{"text":"é\n😀","int":-5,"int8":127,"uint":18446744073709551615,"double":0.1,"float":1.5,"flag":true}"#,
        #"{"text":"a","int":1.0,"inner":{"x":1e2,"y":{"a":true}},"list":[{"x":1},{"x":2,"y":null}]}"#,
        #"{"text":"a","int":1,"matrix":[[1,null],[],[3]],"names":{"k k":{"x":1}},"url":"https://a.b/c?d"}"#,
        #"{"text":"a","int":1,"date":12.5,"data":"aGVsbG8=","amount":12.345678901234567890123}"#,
        #"{"text":"a","int":1,"int":2,"text":"b"}"#, #"{"int":1}"#, #"{"text":null,"int":1}"#, #"{"text":1,"int":1}"#,
        #"{"text":"a","int":"1"}"#, #"{"text":"a","int":true}"#, #"{"text":"a","int":null}"#, #"{"text":[],"int":1}"#,
        #"{"text":"a","int":1,"inner":[]}"#, #"{"text":"a","int":1,"inner":{}}"#,
        #"{"text":"a","int":1,"inner":{"x":null}}"#,
        #"{"text":"a","int":1,"inner":{"x":1,"y":{"a":1}}}"#, #"{"text":"a","int":1,"list":[{"x":1},{"x":"2"}]}"#,
        #"{"text":"a","int":1,"list":[{"x":1},{}]}"#, #"{"text":"a","int":1,"list":[null]}"#,
        #"{"text":"a","int":1,"list":{}}"#,
        #"{"text":"a","int":1,"list":7}"#, #"{"text":"a","int":1,"matrix":[[1],[2,"x"]]}"#,
        #"{"text":"a","int":1,"matrix":[[1],null]}"#,
        #"{"text":"a","int":1,"names":{"a":{"x":1},"b":{"x":false}}}"#, #"{"text":"a","int":1,"names":{"b":null}}"#,
        #"{"text":"a","int":1,"url":1}"#, #"{"text":"a","int":1,"url":""}"#, #"{"text":"a","int":1,"date":"x"}"#,
        #"{"text":"a","int":1,"data":"?"}"#, #"{"text":"a","int":1,"data":5}"#, #"{"text":"a","int":1,"amount":"1"}"#,
        #"{"text":"a","int":1,"flag":0}"#, #"{"text":"a","int":1,"flag":"true"}"#,
        #"{"text":"a","int":1,"double":"1"}"#,
        "[]", "null", "1", "\"a\"", "", "{", "nul", #"{"text":"a","int":1}x"#,
    ]

    @Test(arguments: texts)
    func everyTypeDecodesAsInFoundation(_ text: String) { expectParity(Everything.self, text) }

    @Test func fragmentsDecodeAsInFoundation() {
        for text in ["1", "\"a\"", "null", "true", "1.5", "[1]", "{\"a\":1}"] {
            expectParity(Int.self, text)
            expectParity(String.self, text)
            expectParity(Int?.self, text)
            expectParity(Bool.self, text)
            expectParity([Int].self, text)
            expectParity([Bool].self, "[\(text)]")
            expectParity([String].self, "[\(text)]")
            expectParity([String: Bool].self, #"{"a":\#(text)}"#)
            expectParity([Data].self, "[\(text)]")
            expectParity([URL].self, "[\(text)]")
            expectParity([Decimal].self, "[\(text)]")
            expectParity([Date].self, "[\(text)]")
            expectParity([String: Date].self, #"{"a":\#(text)}"#)
            expectParity([String: Int].self, text)
            expectParity(Double.self, text)
        }
    }

    struct Snake: Codable {
        var firstName: String
        var lastName: String?
        var url2Path: String?
        var deep: [String: Int]?
        var innerList: [Inner]?
        struct Inner: Codable {
            var aBC: Int?
            var aBc: Int
        }
        enum CodingKeys: String, CodingKey {
            case firstName, url2Path, deep, innerList
            case lastName = "_lastName_"
        }
    }

    @Test func snakeCaseDecodesAsInFoundation() {
        var ours = JSONDocumentDecoder()
        ours.keyDecodingStrategy = .convertFromSnakeCase
        let theirs = JSONDecoder()
        theirs.keyDecodingStrategy = .convertFromSnakeCase
        for text in [
            #"{"first_name":"a","_last_name_":"b","url2_path":"c","deep":{"snake_key":1}}"#,
            #"{"firstName":"a"}"#, #"{"FIRST_NAME":"a"}"#, #"{"first__name":"a"}"#, #"{"__first_name":"a"}"#,
            #"{"first_name_":"a"}"#,
            #"{"first_name":"a","inner_list":[{"a_bc":1},{"a_bc":"x"}]}"#,
            #"{"first_name":"a","inner_list":[{"a_BC":1}]}"#,
            #"{"first_name":"a","first_name":"b"}"#, #"{"first_name":"a","deep":{"snake_key":"x"}}"#, "{\"_\":1}",
            "{\"\":1}",
        ] { expectParity(Snake.self, text, ours: ours, theirs: theirs) }
    }

    /// Every name as the strategy converts it.
    @Test func wordsOfSnakeCaseBeginAsInFoundation() throws {
        struct Names: Decodable {
            let names: [String]
            init(from decoder: any Decoder) throws {
                names = try decoder.container(keyedBy: Name.self).allKeys.map(\.stringValue)
            }
        }
        var ours = JSONDocumentDecoder()
        ours.keyDecodingStrategy = .convertFromSnakeCase
        let theirs = JSONDecoder()
        theirs.keyDecodingStrategy = .convertFromSnakeCase
        for name in [
            "has_3d_tour", "line_2nd", "a_1A2B", "a_b-c", "a_b c", "a_'tis", "é_élan_ÉLAN", "a_ǆ", "a_ß", "a_b.c",
            "a_上b",
            "_a_b_", "a__b", "a_B1c_D", "url_2_path", "a_e\u{301}b", "a_İ", "_", "",
        ] { expectParity(Names.self, #"{"\#(name)":1}"#, ours: ours, theirs: theirs) }
    }

    @Test func integersOf128BitsDecodeAsInFoundation() {
        struct Wide: Codable {
            var a: Int128
            var b: UInt128?
        }
        for text in [
            "170141183460469231731687303715884105727", "-170141183460469231731687303715884105728", "1", "\"1\"", "null",
        ] {
            expectParity(Wide.self, #"{"a":\#(text),"b":1}"#)
            expectParity(Wide.self, #"{"a":1,"b":\#(text)}"#)
            expectParity([Int128].self, "[\(text)]")
            expectParity([String: UInt128].self, #"{"a":\#(text)}"#)
        }
    }

    /// The rest of what the documentation names as different.
    @Test func onlyDocumentedDifferencesFromFoundationExist() throws {
        let decoder = JSONDocumentDecoder()
        #expect(throws: DecodingError.self) {
            try decoder.decode([Int].self, from: Data("[1]".utf16.flatMap { [UInt8($0), 0] }))
        }
        #expect(throws: DecodingError.self) { try decoder.decode(Int.self, from: Data("1.0000000000000000001".utf8)) }
        #expect(try decoder.decode(Double.self, from: Data("1e-310".utf8)) == strtod("1e-310", nil))
        struct Accent: Decodable { var é: Int? }
        #expect(try decoder.decode(Accent.self, from: Data("{\"e\u{301}\":1}".utf8)).é == nil)
        #expect(try JSONDocument(Data("[1]".utf8)[...]).root[0].int == 1)
    }

    struct Name: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    @Test func customKeysDecodeAsInFoundation() {
        let convert: @Sendable ([any CodingKey]) -> any CodingKey = { path in
            Name(stringValue: path.last!.stringValue.lowercased() + (path.count > 1 ? "\(path.count)" : ""))
        }
        var ours = JSONDocumentDecoder()
        ours.keyDecodingStrategy = .custom(convert)
        let theirs = JSONDecoder()
        theirs.keyDecodingStrategy = .custom(convert)
        struct Outer: Decodable {
            struct Inner: Decodable { var b2: Int }
            var a: Inner
        }
        for text in [#"{"A":{"B":1}}"#, #"{"A":{"C":1}}"#, #"{"A":{"B":"x"}}"#] {
            expectParity(Outer.self, text, ours: ours, theirs: theirs)
        }
    }

    @Test func datesDecodeAsInFoundation() {
        let pairs: [(JSONDocumentDecoder.DateDecodingStrategy, JSONDecoder.DateDecodingStrategy)] = [
            (.deferredToDate, .deferredToDate), (.secondsSince1970, .secondsSince1970),
            (.millisecondsSince1970, .millisecondsSince1970), (.iso8601, .iso8601),
            (
                .custom { Date(timeIntervalSince1970: Double(try String(from: $0)) ?? 0) },
                .custom { Date(timeIntervalSince1970: Double(try String(from: $0)) ?? 0) }
            ),
        ]
        for (our, their) in pairs {
            var ours = JSONDocumentDecoder()
            ours.dateDecodingStrategy = our
            let theirs = JSONDecoder()
            theirs.dateDecodingStrategy = their
            for text in [
                "[1.25]", "[1700000000]", #"["2026-11-21T11:20:00Z"]"#, #"["2026-11-21T11:20:00+08:00"]"#, #"["12"]"#,
                #"["x"]"#, "[null]", "[true]", "[[]]",
            ] {
                expectParity([Date].self, text, ours: ours, theirs: theirs)
                expectParity([Date?].self, text, ours: ours, theirs: theirs)
            }
        }
    }

    @Test func formattedDatesDecodeByTheFormatter() throws {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "yyyy/MM/dd"
        let pattern = formatter
        var ours = JSONDocumentDecoder()
        ours.dateDecodingStrategy = .formatted { pattern.date(from: $0) }
        let theirs = JSONDecoder()
        theirs.dateDecodingStrategy = .formatted(formatter)
        for text in [#"["2026/11/21"]"#, #"["2026-11"]"#, "[1]"] {
            expectParity([Date].self, text, ours: ours, theirs: theirs)
        }
    }

    @Test func dataAndFloatsDecodeByTheirStrategies() {
        var ours = JSONDocumentDecoder()
        ours.dataDecodingStrategy = .deferredToData
        ours.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "+", negativeInfinity: "-", nan: "n")
        let theirs = JSONDecoder()
        theirs.dataDecodingStrategy = .deferredToData
        theirs.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "+", negativeInfinity: "-", nan: "n")
        for text in ["[1,2,255]", "[256]", "\"aGk=\""] {
            if text != "[256]" { expectParity(Data.self, text, ours: ours, theirs: theirs) }
        }
        for text in [#"["+","-","n",1]"#, #"["x"]"#] {
            expectParity([Double].self, text, ours: ours, theirs: theirs)
            expectParity([Float].self, text, ours: ours, theirs: theirs)
        }
    }

    /// Asks containers for everything that a synthesised `init(from:)` does not.
    struct ByHand: Decodable {
        var log: [String] = []
        init(from decoder: any Decoder) throws {
            let keyed = try decoder.container(keyedBy: Name.self)
            log.append(keyed.allKeys.map(\.stringValue).sorted().joined(separator: ","))
            log.append("\(keyed.contains(Name(stringValue: "a"))) \(keyed.contains(Name(stringValue: "z")))")
            log.append("\(try keyed.decodeNil(forKey: Name(stringValue: "n")))")
            var list = try keyed.nestedUnkeyedContainer(forKey: Name(stringValue: "list"))
            log.append("\(list.count ?? -1)")
            while !list.isAtEnd {
                if try list.decodeNil() {
                    log.append("nil \(list.currentIndex)")
                } else if let int = try? list.decode(Int.self) {
                    log.append("\(int) \(list.currentIndex)")
                } else if var inner = try? list.nestedUnkeyedContainer() {
                    log.append("inner \(inner.codingPath.count) \(try inner.decode(String.self))")
                } else {
                    log.append(
                        "keyed \(try list.nestedContainer(keyedBy: Name.self).decode(Int.self, forKey: Name(stringValue: "q")))"
                    )
                }
            }
            let inner = try keyed.nestedContainer(keyedBy: Name.self, forKey: Name(stringValue: "o"))
            log.append(inner.codingPath.map(\.stringValue).joined(separator: "."))
            log.append(
                "\(try inner.superDecoder(forKey: Name(stringValue: "s")).singleValueContainer().decode(Int.self))")
            log.append("\(try keyed.superDecoder().singleValueContainer().decodeNil())")
            _ = try list.decode(Int.self)
        }
    }

    @Test func containersBehaveAsInFoundation() {
        for text in [
            #"{"a":1,"n":null,"list":[1,null,["x"],{"q":2}],"o":{"s":3}}"#, #"{"a":1,"list":[]}"#,
            #"{"n":1,"list":{}}"#,
            #"{"n":1,"list":[["x",1],{}]}"#, #"{"n":1,"list":[true]}"#, #"{"n":1,"list":[],"o":{}}"#,
            #"{"n":1,"list":[],"o":{"s":"x"}}"#,
            #"{"n":1,"list":[],"o":{"s":1},"super":1}"#,
        ] { expectParity(ByHand.self, text) }
    }

    @Test func bytesThatAreNotJSONCarryTheReason() throws {
        let error = try #require(throws: DecodingError.self) {
            try JSONDocumentDecoder().decode(Int.self, from: [0x5B])
        }
        guard case .dataCorrupted(let context) = error else { throw error }
        #expect((context.underlyingError as? JSONError)?.offset == 1)
    }

    @Test func valueInsideADocumentDecodesOnItsOwn() throws {
        let raw = try JSONDocument(#"{"data":{"list":[{"x":1},{"x":2}]}}"#).root
        let list = try JSONDocumentDecoder().decode([Everything.Inner].self, from: raw["data"]["list"])
        #expect(list.map(\.x) == [1, 2])
        #expect(throws: DecodingError.self) { try JSONDocumentDecoder().decode([Int].self, from: raw["no"]) }
    }

    @Test func userInfoReachesTheTypes() throws {
        struct Reader: Decodable {
            let note: String?
            init(from decoder: any Decoder) throws {
                note = decoder.userInfo[CodingUserInfoKey(rawValue: "note")!] as? String
            }
        }
        var decoder = JSONDocumentDecoder()
        decoder.userInfo[CodingUserInfoKey(rawValue: "note")!] = "hello"
        #expect(try decoder.decode(Reader.self, from: [0x31]).note == "hello")
    }
}
