import Testing

@testable import RunwayTUF

struct CanonicalValueTests {
    private func canonical(_ text: String) throws -> String {
        let value = try CanonicalValue(reading: Array(text.utf8), maximumByteCount: 10_000)
        return String(decoding: value.canonicalBytes, as: UTF8.self)
    }

    @Test func formEqualsThatOfPython() throws {
        // The result of securesystemslib's `encode_canonical`.
        let text = #"{ "b" : [1, true, null, "a\"\\\n\u00e9\/"], "a":{"😀":1, "￮":2, "":-3} }"#
        #expect(try canonical(text) == "{\"a\":{\"\":-3,\"￮\":2,\"😀\":1},\"b\":[1,true,null,\"a\\\"\\\\\né/\"]}")
    }

    @Test func canonicalFormIsStable() throws {
        let text = try canonical(#"{"z":[{}],"a":[],"é":"\\"}"#)
        #expect(try canonical(text) == text)
    }

    @Test(arguments: [
        "1.0", "1e2", "-0", "9223372036854775808", #"{"a":1,"a":1}"#, #"{"a":1,"\u0061":2}"#, #""\ud800""#,
        #"{"\udfff":1}"#, "[1", "", String(repeating: "[", count: 33) + String(repeating: "]", count: 33),
    ])
    func ambiguousDocumentsAreRefused(_ text: String) {
        #expect(throws: MalformedMetadata.self) { try canonical(text) }
    }

    @Test func equivalentNamesDiffer() throws {
        #expect(try canonical("{\"e\u{301}\":1,\"\u{E9}\":2}") == "{\"e\u{301}\":1,\"\u{E9}\":2}")
    }

    @Test func longDocumentsAreRefused() {
        #expect(throws: MalformedMetadata.self) {
            try CanonicalValue(reading: Array("[1,2,3]".utf8), maximumByteCount: 6)
        }
    }

    @Test func membersAreEdited() {
        var object: CanonicalObject = ["b": "1"]
        object["a"] = "2"
        object["b"] = "3"
        #expect(object.members.map(\.name) == ["a", "b"])
        object["a"] = nil
        #expect(CanonicalValue.object(object).canonicalBytes.elementsEqual(#"{"b":"3"}"#.utf8))
    }
}
