import Foundation
import Testing

@testable import RunwayJSON

/// One rule of RFC 8259's grammar, with documents that follow it and documents that break it.
struct GrammarRule: CustomTestStringConvertible, Sendable {
    let name: String
    let accepted: [String]
    let refused: [String]

    var testDescription: String { name }
}

@Suite struct GrammarTests {
    static let rules: [GrammarRule] = [
        GrammarRule(
            name: "JSON-text = ws value ws (§2)",
            accepted: ["1", " 1", "1 ", "\n\t\r 1\n\t\r ", "null", "\"\"", "[]", "{}"],
            refused: ["", " ", "1 2", "1,", "[] []", "{}{}", "\"a\" \"b\"", "1\u{0}", "\u{0}1", "//1", "1//"]),
        GrammarRule(
            name: "begin-array and end-array (§2, §5)",
            accepted: ["[]", "[ ]", " [ 1 ] ", "[[]]", "[[],[]]"],
            refused: ["[", "]", "[[]", "[]]", "[1}", "(1)", "[1", "[\"a\"", "[1,2"]),
        GrammarRule(
            name: "begin-object and end-object (§2, §4)",
            accepted: ["{}", "{ }", " { \"a\" : 1 } ", "{\"a\":{}}"],
            refused: ["{", "}", "{{}}", "{}}", "{\"a\":1]", "{\"a\":1", "{\"a\":{}"]),
        GrammarRule(
            name: "name-separator (§2)",
            accepted: ["{\"a\":1}", "{\"a\" :1}", "{\"a\": 1}", "{\"a\"\n:\n1}"],
            refused: [
                "{\"a\"1}", "{\"a\" 1}", "{\"a\"::1}", "{\"a\",1}", "{\"a\"=1}", "{\"a\":}", "{:1}", "[1:2]", ":",
            ]),
        GrammarRule(
            name: "value-separator (§2)",
            accepted: ["[1,2]", "[1 ,2]", "[1, 2]", "{\"a\":1,\"b\":2}"],
            refused: [
                "[1 2]", "[1,,2]", "[,1]", "[1,]", "[,]", "{\"a\":1,}", "{,}", "{\"a\":1 \"b\":2}",
                "{\"a\":1,,\"b\":2}", ",",
            ]),
        GrammarRule(
            name: "ws = space, tab, line feed, carriage return (§2)",
            accepted: ["[\u{20}\u{9}\u{A}\u{D}1]"],
            refused: [
                "[\u{B}1]", "[\u{C}1]", "[\u{0}1]", "[\u{1C}1]", "[\u{7F}1]", "[\u{85}1]", "[\u{A0}1]", "[\u{2028}1]",
                "[\u{3000}1]", "[\u{FEFF}1]",
            ]),
        GrammarRule(
            name: "value = false / null / true / object / array / number / string (§3)",
            accepted: ["false", "null", "true", "{}", "[]", "0", "\"\""],
            refused: ["undefined", "NaN", "Infinity", "-Infinity", "'a'", "`a`", "a", "\\u0031", "<1>", "é"]),
        GrammarRule(
            name: "literal names are lower case and whole (§3)",
            accepted: ["[true,false,null]", "[true ,false\n,null\t]"],
            refused: [
                "True", "FALSE", "Null", "tru", "fals", "nul", "truee", "nullnull", "true1", "[truefalse]", "null\"a\"",
                "t rue", "n", "f", "t",
            ]),
        GrammarRule(
            name: "object = members with strings as names (§4)",
            accepted: ["{\"\":1}", "{\"a\":1,\"a\":2}", "{\"\\u0061\":1}", "{\"é\":[]}"],
            refused: [
                "{a:1}", "{1:1}", "{null:1}", "{[]:1}", "{{}:1}", "{'a':1}", "{\"a\"}", "{\"a\":1,\"b\"}",
                "{\"a\":1,2}", "{\"a\":1 2}",
            ]),
        GrammarRule(
            name: "array = values (§5)",
            accepted: ["[1,\"a\",null,true,{},[]]", "[[[[1]]]]"],
            refused: ["[1 \"a\"]", "[a]", "[1,a]", "[\"a\":1]", "[{]}", "[[1,2]"]),
        GrammarRule(
            name: "number = [ minus ] int (§6)",
            accepted: ["0", "-0", "1", "-1", "10", "1234567890", "[0]", "[-0,9]"],
            refused: [
                "-", "+1", "--1", "- 1", "01", "-01", "00", "0x1", "1a", "1_000", "1,000", "٣", "[-]", "1-", "1+1",
            ]),
        GrammarRule(
            name: "frac = decimal-point 1*DIGIT (§6)",
            accepted: ["0.0", "1.5", "-1.50", "0.000000000000000000000000000000001"],
            refused: ["1.", ".5", "-.5", "1..5", "1.5.5", "1. 5", "1.a", "[1.]", "[.1]", "0."]),
        GrammarRule(
            name: "exp = e [ minus / plus ] 1*DIGIT (§6)",
            accepted: ["1e1", "1E1", "1e+1", "1e-1", "1.5e10", "0e0", "1e00", "1e400", "-1e-400"],
            refused: ["1e", "1e+", "1e-", "e1", "1e1.5", "1e 1", "1ee1", "1e+-1", "1.e1", "[1e]", "1eA"]),
        GrammarRule(
            name: "string = quotation-mark *char quotation-mark (§7)",
            accepted: ["\"\"", "\"a\"", "\" \"", "\"{}[]:,\"", "\"\u{7F}\"", "\"/\"", "\"'\""],
            refused: ["\"", "\"a", "a\"", "\"a\"b\"", "\"\"\"", "'a'", "\"a\"\""]),
        GrammarRule(
            name: "unescaped = %x20-21 / %x23-5B / %x5D-10FFFF (§7)",
            accepted: [
                "\"\u{20}\u{21}\u{23}\u{5B}\u{5D}\u{7E}\u{7F}\u{80}\u{D7FF}\u{E000}\u{FFFF}\u{10000}\u{10FFFF}\""
            ],
            refused: (0..<0x20).map { "\"\(Character(Unicode.Scalar(UInt8($0))))\"" }),
        GrammarRule(
            name: "escape of two characters (§7)",
            accepted: [
                #""\"""#, #""\\""#, #""\/""#, #""\b""#, #""\f""#, #""\n""#, #""\r""#, #""\t""#, #""\\\"""#, #""\\\\""#,
            ],
            refused: [
                #""\""#, #""\a""#, #""\v""#, #""\0""#, #""\x41""#, #""\'""#, #""\ ""#, #""\B""#, #""\\\""#, #""\é""#,
                "\"\\\n\"", #""\"#,
            ]),
        GrammarRule(
            name: "escape of a code unit = u 4HEXDIG (§7)",
            accepted: [
                #""\u0000""#, #""\uabcd""#, #""\uABCD""#, #""\u00e9""#, #""\ud83d\ude00""#, #""\uD800""#,
                #""\uDC00\uD800""#,
            ],
            refused: [
                #""\u""#, #""\u1""#, #""\u12""#, #""\u123""#, #""\u12g4""#, #""\U0041""#, #""\u+041""#, #""\u 041""#,
                #""\u00"41""#, #""\u004"#,
            ]),
    ]

    @Test(arguments: rules)
    func documentsThatFollowTheRuleAreAccepted(_ rule: GrammarRule) throws {
        for text in rule.accepted {
            for padding in paddings { _ = try JSONDocument(padding + text + padding) }
            #expect(GrammarCheck.error(in: Array(text.utf8), limits: .default) == nil, "\(text)")
        }
    }

    @Test(arguments: rules)
    func malformedDocumentsAreRefusedWithAPlace(_ rule: GrammarRule) throws {
        for text in rule.refused {
            for padding in paddings {
                let error = #expect(throws: JSONError.self, "\(text)") { try JSONDocument(padding + text) }
                #expect(error?.kind == .syntax)
                #expect(error?.expected != nil)
                let offset = try #require(error?.offset)
                #expect((padding.utf8.count...(padding + text).utf8.count).contains(offset), "\(text)")
            }
        }
    }

    /// White space before a document moves it across the blocks in which bytes are scanned.
    private var paddings: [String] {
        [0, 1, 58, 61, 62, 63, 64, 127, 4090, 4095].map { String(repeating: " ", count: $0) }
    }

    @Test func prefixHasItsSyntaxErrorAtTheEnd() throws {
        let text = #"{"a":[1,-2.5e+3,"x\n\u0041",true,false,null,{"b":{}}]}"#
        let bytes = Array(text.utf8)
        for count in 0..<bytes.count {
            let error = #expect(throws: JSONError.self) { try JSONDocument(Array(bytes.prefix(count))) }
            #expect(error?.offset == count, "\(text.prefix(count))")
            #expect(error?.found == "the end of the document")
        }
    }

    @Test func errorsSayLineAndColumn() throws {
        let error = try #require(throws: JSONError.self) { try JSONDocument("{\n  \"名\": tru\n}") }
        #expect(error.line == 2)
        #expect(error.column == 11)
        #expect(error.offset == 14)
        #expect(error.expected == "the literal 'true'")
        #expect(error.found == "byte 0x0A")
    }

    /// RFC 8259 §8.1: between systems JSON is UTF-8 and nothing else.
    @Test func otherEncodingsThanUTF8AreRefused() {
        let text = #"{"a":[1,"é"]}"#
        for encoding in [
            String.Encoding.utf16LittleEndian, .utf16BigEndian, .utf16, .utf32LittleEndian, .utf32BigEndian, .utf32,
        ] {
            let bytes = Array(text.data(using: encoding) ?? Data())
            #expect(!bytes.isEmpty)
            #expect(throws: JSONError.self) { try JSONDocument(bytes) }
        }
        #expect(throws: JSONError.self) { try JSONDocument(Array(text.data(using: .isoLatin1) ?? Data())) }
    }

    @Test func byteOrderMarkBeforeTheDocumentIsIgnored() throws {
        #expect(try JSONDocument("\u{FEFF}[1]").root[0].int == 1)
        #expect(throws: JSONError.self) { try JSONDocument("\u{FEFF}\u{FEFF}[1]") }
        #expect(throws: JSONError.self) { try JSONDocument("\u{FEFF}") }
    }
}
