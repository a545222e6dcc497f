import Foundation
import RunwayJSON
import Testing

@Suite struct JSONValueTests {
    private func document(_ text: String) throws -> JSONValue { try JSONDocument(text).root }

    @Test func aPathIsReadInOneGo() throws {
        let raw = try document(#"{"data":{"list":[0,1,2,{"title":"标题 \u0041\ud83d\ude00"}]}}"#)
        #expect(raw["data"]["list"][3]["title"].string == "标题 A😀")
        #expect(raw["data"]["list"][3]["title"].path == "data.list[3].title")
        #expect(raw["data"]["list"][3]["title"].isString("标题 A😀"))
        #expect(raw["data"]["list"].count == 4)
        #expect(raw["data"]["list"].elements.compactMap(\.int) == [0, 1, 2])
    }

    @Test func absentValuesAreMissingAndNeverFail() throws {
        let raw = try document(#"{"data":{"list":[1,2]}}"#)
        #expect(raw["data"]["list"][3]["title"].string == nil)
        #expect(raw["data"]["list"][-1].kind == .missing)
        #expect(raw["no"][0]["deeper"].exists == false)
        #expect(raw["data"]["list"][3]["title"].path == "data.list[3].title")
    }

    @Test func aMissingValueSaysWhereItBrokeOff() throws {
        let raw = try document(#"{"data":{"list":[1,2]},"access_token":"s3cr3t"}"#)
        let error = try #require(throws: JSONError.self) { try raw["data"]["list"][3]["title"].require(String.self) }
        #expect(error.kind == .missing)
        #expect(error.path == "data.list[3].title")
        #expect(error.found == "nothing: data.list exists but has 2 elements; [3] was requested")
        #expect(error.bodyStart == #"{"data":{"list":[1,2]},"access_token":"[redacted]"}"#)
        #expect(!error.description.contains("s3cr3t"))
    }

    @Test func aMismatchNamesTheFoundValue() throws {
        let raw = try document(#"{"price":"12","id":300}"#)
        let mismatch = try #require(throws: JSONError.self) { try raw["price"].require(Int.self) }
        #expect(mismatch.kind == .typeMismatch)
        #expect(mismatch.expected == "an integer")
        #expect(mismatch.found == #"a string, "12""#)
        let range = try #require(throws: JSONError.self) { try raw["id"].require(Int8.self) }
        #expect(range.kind == .outOfRange)
    }

    @Test func aValueKnowsItsPosition() throws {
        let raw = try document("{\n  \"名\": [1,\n\"a\"]}")
        #expect(raw["名"].position == (2, 8))
        #expect(raw["名"].byteRange == 11..<19)
        #expect(raw["名"][1].position == (3, 1))
        #expect(raw["no"].position == (1, 1))
        #expect(raw["no"].byteRange.isEmpty && raw["no"].rawBytes.isEmpty)
    }

    @Test func noSentenceOfAnErrorIsLong() throws {
        let long = String(repeating: "name", count: 10_000)
        let raw = try document(#"{"\#(long)":{"x":1}}"#)
        for value in [raw[long]["x"]["y"], raw["no\(long)"], raw[long][long], raw[long]["x"]] {
            let error = try #require(throws: JSONError.self) { try value.require(String.self) }
            #expect(error.description.utf8.count < 1200)
        }
    }

    @Test func invalidDocumentThrowsItsErrorFromEveryRequire() throws {
        let cause = JSONError(kind: .syntax, offset: 3)
        let raw = JSONValue(invalid: cause)
        #expect(raw["a"][1].string == nil)
        #expect(throws: cause) { try raw["a"][1].require(String.self) }
        #expect(throws: cause) { try raw["a"].require(String?.self) }
    }

    @Test func membersStandInDocumentOrderWithEveryName() throws {
        let raw = try document(#"{"b":1,"a":{"x":[1,{}]},"b":2}"#)
        #expect(raw.members.map(\.key) == ["b", "a", "b"])
        #expect(raw["b"].int == 1)
        #expect(raw["a"]["x"][1].path == "a.x[1]")
        #expect(String(decoding: raw["a"].rawBytes, as: UTF8.self) == #"{"x":[1,{}]}"#)
        #expect(String(decoding: raw.canonicalBytes(), as: UTF8.self) == #"{"a":{"x":[1,{}]},"b":1,"b":2}"#)
    }

    @Test func numbersPreserveTheirKind() throws {
        let raw = try document("[9223372036854775807,18446744073709551615,1.0,1e2,-0,0.1,1e400,9223372036854775808]")
        #expect(raw[0].int64 == .max)
        #expect(raw[1].uint64 == .max)
        #expect(raw[1].int64 == nil)
        #expect(raw[2].int == 1 && !raw[2].isInteger)
        #expect(raw[3].int == 100)
        #expect(raw[4].int == 0 && raw[4].double?.sign == .minus)
        #expect(raw[5].double == 0.1)
        #expect(raw[5].decimal?.description == "0.1")
        #expect(raw[6].double == nil)
        #expect(raw[7].int64 == nil)
    }

    @Test func descriptionsAreIndentedAndRedacted() throws {
        let raw = try document(#"{"user":{"name":"Li","Access-Token":{"v":[1]}},"tags":[],"n":[1,2]}"#)
        #expect(
            raw.description == """
                {
                  "user": {
                    "name": "Li",
                    "Access-Token": "[redacted]"
                  },
                  "tags": [],
                  "n": [
                    1,
                    2
                  ]
                }
                """)
        #expect(raw["user"]["Access-Token"]["v"].description == #""[redacted]""#)
    }

    @Test(arguments: [
        "", " ", "{", "[1,]", "{\"a\":1,}", "01", "1 2", "tru", "\"\u{1}\"", "\"\\x\"", "[1}", "{\"a\" 1}", "nulll",
        "1\"a\"", "\"a\"b", "\\\"a\"", "\"a\\\"", "[\"a\",\"b]", "-", "1.", ".5", "1e", "+1", "{1:2}", ":", ",", "]",
    ])
    func isRefused(_ text: String) throws {
        let error = try #require(throws: JSONError.self) { try JSONDocument(text) }
        #expect(error.offset != nil)
        #expect(error.expected != nil)
    }
}
