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

    @Test func noDepthOverflowsTheStack() throws {
        let depth = 300_000
        let document = try JSONDocument(nested(depth), limits: JSONLimits(maximumDepth: depth))
        var value = document.root
        while value.count > 0 { value = value[0] }
        #expect(value.byteRange.lowerBound == depth - 1)
        #expect(document.description.utf8.count < 10_000)
        #expect(document.root.canonicalBytes().count == 2 * depth)
        let open = try #require(throws: JSONError.self) {
            try JSONDocument(String(repeating: "{\"a\":", count: depth), limits: JSONLimits(maximumDepth: depth))
        }
        #expect(open.kind == .syntax)
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

    @Test func theSizeIsLimited() throws {
        let ten = JSONLimits(maximumByteCount: 10)
        _ = try JSONDocument("[1,2,3,4] ", limits: ten)
        let error = try #require(throws: JSONError.self) { try JSONDocument("[1,2,3,4]  ", limits: ten) }
        #expect(error.kind == .limitExceeded)
        #expect(error.found == "11 bytes")
    }
}
