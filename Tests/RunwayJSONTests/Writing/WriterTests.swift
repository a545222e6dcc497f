import RunwayJSON
import Testing

@Suite struct WriterTests {
    private func canonical(_ text: String, sortsKeys: Bool = true) throws -> String {
        String(decoding: try JSONDocument(text).root.canonicalBytes(sortsKeys: sortsKeys), as: UTF8.self)
    }

    @Test func writtenValuesReadBack() throws {
        var writer = JSONWriter()
        writer.beginObject()
        writer.name("b")
        writer.beginArray()
        writer.integer(Int.min)
        writer.integer(UInt64.max)
        try writer.double(0.1)
        try writer.double(1)
        try writer.double(-0.0)
        try writer.double(1e300)
        try writer.float(0.1)
        writer.bool(true)
        writer.null()
        writer.string("\"\\/\u{8}\u{C}\n\r\t\u{1}\u{1F}\u{7F}é中😀")
        writer.endArray()
        writer.name("a")
        writer.beginObject()
        writer.endObject()
        writer.endObject()
        #expect(
            String(decoding: writer.bytes, as: UTF8.self)
                == #"{"b":[-9223372036854775808,18446744073709551615,0.1,1,-0,1e+300,0.1,true,null,"\"\\/\b\f\n\r\t\u0001\u001f"#
                + "\u{7F}é中😀\"],\"a\":{}}")
        let raw = try JSONDocument(writer.bytes).root
        #expect(raw["b"][2].double == 0.1)
        #expect(raw["b"][4].double?.sign == .minus)
        #expect(raw["b"][9].string == "\"\\/\u{8}\u{C}\n\r\t\u{1}\u{1F}\u{7F}é中😀")
    }

    @Test func numbersThatJSONHasNotCannotBeWritten() {
        for value in [Double.infinity, -.infinity, .nan] {
            var writer = JSONWriter()
            let error = #expect(throws: JSONError.self) { try writer.double(value) }
            #expect(error?.kind == .unwritable)
        }
    }

    @Test func namesAreSortedByBytesAtEveryDepth() throws {
        #expect(
            try canonical(#"{"b":{"z":1,"y":[{"q":1,"p":2}]},"a":2,"B":3,"":4,"é":5,"aa":6,"\u0041":7}"#)
                == #"{"":4,"A":7,"B":3,"a":2,"aa":6,"b":{"y":[{"p":2,"q":1}],"z":1},"é":5}"#)
        #expect(try canonical("{\"\u{FFFD}\":1,\"😀\":2}") == "{\"\u{FFFD}\":1,\"😀\":2}")
    }

    @Test func equalContentProducesEqualBytes() throws {
        let one = try canonical("{ \"a\" : [ 1.50 , \"\\u00e9\\/\" ],\n\"b\":null}")
        let other = try canonical(#"{"b":null,"a":[1.50,"é/"]}"#)
        #expect(one == other)
        #expect(one == #"{"a":[1.50,"é/"],"b":null}"#)
    }

    @Test func insertionOrderStaysUnlessSorted() throws {
        #expect(try canonical(#"{"b":1,"a":2,"b":3}"#, sortsKeys: false) == #"{"b":1,"a":2,"b":3}"#)
        #expect(try canonical(#"{"b":1,"a":2,"b":3}"#) == #"{"a":2,"b":1,"b":3}"#)
    }

    @Test func writingTwiceIsStable() throws {
        for seed in 0..<500 as Range<UInt64> {
            var generator = DocumentGenerator(seed: seed)
            let document = try JSONDocument(generator.document())
            let once = document.root.canonicalBytes()
            #expect(try JSONDocument(once).root.canonicalBytes() == once, "seed \(seed)")
        }
    }

    @Test func scalarsCanBeWrittenAlone() {
        var writer = JSONWriter()
        writer.string("a")
        #expect(writer.bytes == Array("\"a\"".utf8))
    }
}
