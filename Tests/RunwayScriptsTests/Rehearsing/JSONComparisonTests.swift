import RunwayJSON
import Testing

@testable import RunwayScripts

struct JSONComparisonTests {
    private func differences(_ expected: String, _ actual: String) throws -> [String] {
        let expected = try JSONDocument(expected).root
        return JSONComparison(expected, try JSONDocument(actual).root).differences.map {
            "\($0.path): \($0.expected), \($0.actual)"
        }
    }

    @Test(arguments: [
        ("1", "1.0"), ("1e2", "100"), ("0.1", "0.10"), ("-0", "0"), ("1e400", "1e400"),
        ("18446744073709551615", "18446744073709551615.0"), ("\"a\\u00e9\"", "\"aé\""), ("[]", "[ ]"),
        (#"{"a":1,"b":[2,{"c":null}]}"#, #"{"b":[2.0,{}],"a":1.0}"#), (#"{"a":1}"#, #"{"a":1,"b":null}"#),
        (#"{"token":"[redacted]"}"#, #"{"token":"abc"}"#),
        (#"{"url":"/a?token=[redacted]&b=1"}"#, #"{"url":"/a?token=abc&b=1"}"#), ("null", "null"),
    ])
    func equalValuesHaveNoDifference(_ expected: String, _ actual: String) throws {
        #expect(try differences(expected, actual) == [])
    }

    @Test(arguments: [
        ("1", "2", "$: 1, 2"), ("1", "1.5", "$: 1, 1.5"), ("1", "\"1\"", "$: 1, \"1\""),
        ("true", "false", "$: true, false"),
        ("9007199254740993", "9007199254740992", "$: 9007199254740993, 9007199254740992"),
        ("0.3", "0.30000000000000004", "$: 0.3, 0.30000000000000004"), ("1e400", "2e400", "$: 1e400, 2e400"),
        ("\"\\u00e9\"", "\"e\\u0301\"", "$: \"\\u00e9\", \"e\\u0301\""), ("[]", "{}", "$: [], {}"),
        ("null", "0", "$: null, 0"), ("[1,2]", "[1]", "[1]: 2, nothing"), ("[1]", "[1,null]", "[1]: nothing, null"),
        (#"[{"t":"Loft"},{"t":"Barn"}]"#, #"[{"t":"Loft"},{"t":"Bar"}]"#, #"[1].t: "Barn", "Bar""#),
        (#"{"a":{"b c":1}}"#, #"{"a":{}}"#, #"a["b c"]: 1, nothing"#),
        (#"{"a":1}"#, #"{"a":1,"b":2}"#, "b: nothing, 2"),
        (#"{"a":0}"#, #"{"a":null}"#, "a: 0, null"),
    ])
    func differenceHasItsPathAndBothValues(_ expected: String, _ actual: String, _ difference: String) throws {
        #expect(try differences(expected, actual) == [difference])
    }

    @Test func differencesAreBounded() throws {
        let long = String(repeating: "é", count: 10_000)
        let expected = #"["\#(long)",\#((1...100).map { "\($0)" }.joined(separator: ","))]"#
        let found = try differences(expected, "[\(Array(repeating: "0", count: 101).joined(separator: ","))]")
        #expect(found.count == JSONComparison.maximumDifferences)
        #expect(found[0].utf8.count < 200 && found[0].hasSuffix("é…, 0") && found[1] == "[1]: 1, 0")
    }

    @Test func deepValuesAreCompared() throws {
        let (open, end) = (String(repeating: "[", count: 500), String(repeating: "]", count: 500))
        #expect(try differences("\(open)1\(end)", "\(open)2\(end)").count == 1)
    }

    @Test func manyMembersTakeLinearTime() throws {
        let members = (0..<100_000).map { #""n\#($0)":\#($0)"# }
        let expected = "{\(members.joined(separator: ","))}"
        let actual = "{\(members.reversed().joined(separator: ","))}"
        #expect(try differences(expected, actual) == [])
    }
}
