import RunwayJSON
import Testing

@Suite struct StringTests {
    private func string(_ text: String) throws -> String? { try JSONDocument(text).root.string }

    @Test func everyEscapeIsUndone() throws {
        #expect(try string(#""\"\\\/\b\f\n\r\t\u0041\u00e9\u4E2D""#) == "\"\\/\u{8}\u{C}\n\r\tAé中")
        #expect(try string(#""\u0000""#) == "\0")
        #expect(try string(#""a\\u0041""#) == #"a\u0041"#)
    }

    @Test func surrogatePairsBecomeOneScalar() throws {
        #expect(try string(#""\ud83d\ude00""#) == "😀")
        #expect(try string(#""\uD800\uDC00""#) == "\u{10000}")
        #expect(try string(#""\uDBFF\uDFFF""#) == "\u{10FFFF}")
        #expect(try string(#""x\ud83d\ude00y\ud83d\ude01""#) == "x😀y😁")
    }

    @Test func loneSurrogatesAreReplaced() throws {
        #expect(try string(#""\ud83d""#) == "\u{FFFD}")
        #expect(try string(#""\ude00""#) == "\u{FFFD}")
        #expect(try string(#""\ud83dx""#) == "\u{FFFD}x")
        #expect(try string(#""\ud83d\n""#) == "\u{FFFD}\n")
        #expect(try string(#""\ud83d\u0041""#) == "\u{FFFD}A")
        #expect(try string(#""\ud83d\ud83d\ude00""#) == "\u{FFFD}😀")
        #expect(try string(#""\ude00\ud83d""#) == "\u{FFFD}\u{FFFD}")
    }

    @Test func stringsAreReadAtEveryOffset() throws {
        for padding in 0..<140 {
            let text = String(repeating: "é", count: padding / 2) + String(repeating: "a", count: padding % 2)
            let raw = try JSONDocument("[\"\(text)\\n\",\"\(text)\",\"\\\\\"]").root
            #expect(raw[0].string == text + "\n")
            #expect(raw[1].string == text)
            #expect(raw[2].string == "\\")
        }
    }

    @Test func runsOfReverseSolidiPairUpAcrossBlocks() throws {
        for padding in 50..<70 {
            for count in 1..<140 {
                let run = String(repeating: #"\\"#, count: count)
                let raw = try JSONDocument("[\"\(String(repeating: "a", count: padding))\(run)\",1]").root
                #expect(raw[0].string?.utf8.count == padding + count)
                #expect(raw[1].int == 1)
                #expect(throws: JSONError.self) {
                    try JSONDocument("[\"\(String(repeating: "a", count: padding))\(run)\\\",1]")
                }
            }
        }
    }

    @Test func namesAreComparedByTheirScalars() throws {
        let raw = try JSONDocument(#"{"e\u0301":1,"\u00e9":2,"a\u0062":3,"\ud83d\ude00":4,"":5}"#).root
        #expect(raw["e\u{301}"].int == 1)
        #expect(raw["\u{E9}"].int == 2)
        #expect(raw["ab"].int == 3)
        #expect(raw["😀"].int == 4)
        #expect(raw[""].int == 5)
        #expect(raw["a"].exists == false)
        #expect(raw["abc"].exists == false)
    }

    @Test func comparingMakesNoDifferenceToReading() throws {
        let raw = try JSONDocument(#"["ab","a\u0062","","\ud800",1]"#).root
        #expect(raw[0].isString("ab") && raw[1].isString("ab") && raw[2].isString("") && raw[3].isString("\u{FFFD}"))
        #expect(!raw[0].isString("a") && !raw[0].isString("abc") && !raw[1].isString("abc") && !raw[4].isString("1"))
    }
}
