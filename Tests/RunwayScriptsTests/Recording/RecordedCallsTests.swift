import Testing

@testable import RunwayScripts

/// Files of recorded calls that are damaged.
struct RecordedCallsTests {
    private static let lines = [
        #"{"point":"rows","version":3,"now":1780315200000,"arguments":[{"name":"上海"}],"result":[{"title":"Loft"}]}"#,
        #"{"point":"number","version":1,"now":1780315200000,"arguments":[7],"threw":"Broken"}"#,
        #"{"point":"number","version":1,"now":1780315200000,"arguments":[8],"result":-8,"omitted":4}"#,
    ]
    private static let bytes = Array((lines.joined(separator: "\n") + "\n").utf8)

    @Test func fileWithoutLinesHasNoCalls() {
        for text in ["", "\n", "\n\n\n"] {
            let records = RecordedCalls(Array(text.utf8))
            #expect(records.count == 0 && records.damagedLineCount == 0 && records.omittedCount == 0)
        }
    }

    @Test func tornFileHasTheLinesBefore() {
        var ends = [0]
        for line in Self.lines { ends.append(ends[ends.count - 1] + line.utf8.count + 1) }
        for count in 0...Self.bytes.count {
            let records = RecordedCalls(Array(Self.bytes[..<count]))
            // A line is whole without its line feed, too.
            let whole = ends.dropFirst().count { count >= $0 - 1 }
            #expect(records.count == whole, "\(count)")
            #expect(records.damagedLineCount == (ends.contains { $0 == count || $0 == count + 1 } ? 0 : 1), "\(count)")
        }
        #expect(RecordedCalls(Self.bytes).omittedCount == 4)
    }

    @Test func damagedByteCostsAtMostTwoLines() {
        for index in Self.bytes.indices {
            for byte: UInt8 in [0x00, 0x0A, 0x22, 0x7B, 0xC0, 0xFF] {
                var bytes = Self.bytes
                bytes[index] = byte
                let records = RecordedCalls(bytes)
                // A line feed that is overwritten joins two lines.
                let atLeast = Self.bytes[index] == 0x0A ? 1 : 2
                #expect((atLeast...3).contains(records.count), "\(index) \(byte)")
                #expect(records.count + records.damagedLineCount >= 2)
            }
        }
    }

    @Test(arguments: [
        "{}", "[]", "7", "null", #"{"point":"a"}"#, #"{"point":1,"version":1,"now":1,"arguments":[],"result":1}"#,
        #"{"point":"a","version":1.5,"now":1,"arguments":[],"result":1}"#,
        #"{"point":"a","version":1,"now":1,"arguments":{},"result":1}"#,
        #"{"point":"a","version":1,"now":1,"arguments":[]}"#, #"{"full":1}"#, "\u{FEFF}", "PNG",
    ])
    func lineOfAnotherFormIsDamaged(_ line: String) {
        let records = RecordedCalls(Array("\(line)\n".utf8) + Self.bytes)
        #expect(records.count == 3 && records.damagedLineCount == 1)
    }

    @Test func countsOfOmittedCallsDoNotOverflow() {
        let line = #"{"point":"a","version":1,"now":1,"arguments":[],"result":1,"omitted":\#(Int.max)}"# + "\n"
        #expect(RecordedCalls(Array((line + line).utf8)).count == 2)
    }

    @Test func largeFilesWithoutRecordsAreRead() {
        let lineFeeds = RecordedCalls(Array(repeating: 0x0A, count: 1 << 20))
        #expect(lineFeeds.count == 0)
        let oneLine = RecordedCalls(Array(repeating: 0x5B, count: 1 << 20))
        #expect(oneLine.count == 0 && oneLine.damagedLineCount == 1)
    }
}
