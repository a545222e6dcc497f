import RunwayJSON
import Testing

@Suite struct LimitTests {
    private func nested(_ depth: Int) -> String {
        String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    }

    @Test func depthIsLimitedTo512UnlessSetOtherwise() throws {
        _ = try JSONDocument(nested(512))
        let error = try #require(throws: JSONError.self) { try JSONDocument(nested(513)) }
        #expect(error.kind == .limitExceeded)
        #expect(error.offset == 512)
        #expect(error.expected == "at most depth 512")
        _ = try JSONDocument("[[]]", limits: JSONLimits(maximumDepth: 2))
        #expect(throws: JSONError.self) { try JSONDocument("[[]]", limits: JSONLimits(maximumDepth: 1)) }
        #expect(throws: JSONError.self) { try JSONDocument("[]", limits: JSONLimits(maximumDepth: 0)) }
        _ = try JSONDocument("1", limits: JSONLimits(maximumDepth: 0))
    }

    @Test func theNumberOfValuesIsLimited() throws {
        let three = JSONLimits(maximumValueCount: 3)
        _ = try JSONDocument("[1,2]", limits: three)
        _ = try JSONDocument(#"{"a":{"b":1}}"#, limits: three)
        for text in ["[1,2,3]", "[[],[],[]]", #"{"a":{"b":[1]}}"#] {
            let error = try #require(throws: JSONError.self) { try JSONDocument(text, limits: three) }
            #expect(error.kind == .limitExceeded)
            #expect(error.expected == "at most 3 values")
        }
    }

    @Test func documentOfTooManyValuesIsRefused() throws {
        let few = JSONLimits(maximumValueCount: 1000)
        for (element, count) in [("1,", 100_000), ("[],", 100_000), (#"{"a":1},"#, 50_000), (#"[{"a":[]}],"#, 20_000)] {
            let text = "[" + String(repeating: element, count: count) + "1]"
            let error = try #require(throws: JSONError.self) { try JSONDocument(text, limits: few) }
            #expect(error.kind == .limitExceeded)
            #expect(error.expected == "at most 1000 values")
        }
        _ = try JSONDocument("[" + String(repeating: "1,", count: 998) + "1]", limits: few)
        #expect(throws: JSONError.self) {
            try JSONDocument("[" + String(repeating: "1,", count: 999) + "1]", limits: few)
        }
    }

    @Test func theSizeIsLimited() throws {
        let ten = JSONLimits(maximumByteCount: 10)
        _ = try JSONDocument("[1,2,3,4] ", limits: ten)
        let error = try #require(throws: JSONError.self) { try JSONDocument("[1,2,3,4]  ", limits: ten) }
        #expect(error.kind == .limitExceeded)
        #expect(error.found == "11 bytes")
    }
}
