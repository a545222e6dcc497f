import RunwayTesting
import Testing

@testable import RunwayStreams

/// The parser, by the examples of the standard and every way to divide them.
struct EventParserTests {
    struct Example: Sendable, CustomTestStringConvertible {
        let text: String
        let items: [EventParser.Item]
        var testDescription: String { "\(text.prefix(24).debugDescription)" }

        init(_ text: String, _ items: [EventParser.Item]) {
            self.text = text
            self.items = items
        }
    }

    /// The examples of WHATWG HTML §9.2.6, and what the standard says of each.
    static let standard = [
        Example(
            """
            data: This is the first message.

            data: This is the second message, it
            data: has two lines.

            data: This is the third message.


            """,
            [
                .data("This is the first message."), .data("This is the second message, it\nhas two lines."),
                .data("This is the third message."),
            ]),
        Example(
            """
            event: add
            data: 73857293

            event: remove
            data: 2153

            event: add
            data: 113411


            """, [.data("73857293", type: "add"), .data("2153", type: "remove"), .data("113411", type: "add")]),
        Example("data: YHOO\ndata: +2\ndata: 10\n\n", [.data("YHOO\n+2\n10")]),
        Example(
            ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n",
            [.data("first event", id: "1"), .data("second event")]),
        Example("data\n\ndata\ndata\n\ndata:\n", [.data(""), .data("\n")]),
        Example("data:test\n\ndata: test\n\n", [.data("test"), .data("test")]),
    ]

    /// What the rules say of cases that the standard has no example of. Each is short enough for every division.
    static let rules = [
        Example("\u{FEFF}data:a\n\n", [.data("a")]),
        Example("\u{FEFF}\u{FEFF}data:a\n\n", []),
        Example("data:a\r\rdata:b\r\r", [.data("a"), .data("b")]),
        Example("data:a\r\n\r\n\r\n", [.data("a")]),
        Example("data:a\r\ndata:b\n\r", [.data("a\nb")]),
        Example("id:1\n\nid:1\n\n", [.id("1")]),
        Example("id:1\n\nid\n\n", [.id("1"), .id("")]),
        Example("id:1\nid:2\0\n\n", [.id("1")]),
        Example("retry:0150\n\n", [.retry(.milliseconds(150))]),
        Example("retry:\nretry:-1\n", []),
        Example("retry:1.5\n\n", []),
        Example("event:x\n\ndata:a\n\n", [.data("a")]),
        Example("Data:a\n\nid: \n\n", []),
        Example("data:é✓\n\n", [.data("é✓")]),
        Example("nothing\n:\n\n", []),
        Example("data:a\n\nid:2\n", [.data("a")]),
    ]

    @Test(arguments: standard + rules) func examplesReadAsTheStandardSays(_ example: Example) throws {
        #expect(try items(of: [Array(example.text.utf8)]) == example.items)
        #expect(try items(of: example.text.utf8.map { [$0] }) == example.items)
    }

    /// Also with other line ends, and with a byte order mark.
    @Test(arguments: standard + rules) func partBoundariesDoNotChangeTheItems(_ example: Example) throws {
        let text = Array(example.text.utf8)
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let starts: [[UInt8]] = text.starts(with: mark) ? [[]] : [[], mark]
        // A text that has CR is about its line ends.
        let ends = text.contains(13) ? ["\n"] : ["\n", "\r\n", "\r"]
        for start in starts {
            for end in ends {
                let bytes = start + text.flatMap { $0 == 10 ? Array(end.utf8) : [$0] }
                try expectItems(example.items, ofEveryDivisionOf: bytes)
            }
        }
    }

    /// Expects the items of every division, by induction: a parser that has read some bytes one by one, and receives the next ones as one
    /// part, has the same state and items as one that has read these one by one, too.
    private func expectItems(_ expected: [EventParser.Item], ofEveryDivisionOf bytes: [UInt8]) throws {
        var parsers = [EventParser()]
        var items: [[EventParser.Item]] = [[]]
        for (index, byte) in bytes.enumerated() {
            var parser = parsers[index]
            let found = try parser.items(of: [byte])
            items.append(items[index] + found)
            parsers.append(parser)
        }
        #expect(items.last == expected)
        for start in bytes.indices {
            for end in (start + 1)...bytes.count {
                var parser = parsers[start]
                let found = try parser.items(of: Array(bytes[start..<end]))
                let isSame = parser == parsers[end] && items[start] + found == items[end]
                if !isSame { Issue.record("the part \(start)..<\(end) of \(bytes): \(found)") }
            }
        }
    }

    @Test(arguments: rules) func noDivisionChangesAShortStream(_ example: Example) throws {
        let bytes = Array(example.text.utf8)
        try #require(bytes.count <= 18)
        for division in 0..<(1 << (bytes.count - 1)) {
            var parts: [[UInt8]] = [[]]
            for (index, byte) in bytes.enumerated() {
                if index > 0, division >> (index - 1) & 1 == 1 { parts.append([]) }
                parts[parts.count - 1].append(byte)
            }
            let items = try items(of: parts)
            if items != example.items { Issue.record("division \(division): \(items)") }
        }
    }

    @Test func noRandomDivisionChangesRandomBytes() throws {
        for seed in UInt64(0)..<300 {
            var generator = SeededGenerator(seed: seed)
            let words = ["data", "id", "event", "retry", ":", " ", "\r", "\n", "\r\n", "7", "é", "\u{FEFF}", "\0"]
            var bytes: [UInt8] = []
            for _ in 0..<Int.random(in: 1...200, using: &generator) {
                if Int.random(in: 0..<20, using: &generator) == 0 {
                    bytes.append(UInt8.random(in: 128...255, using: &generator))
                } else if let word = words.randomElement(using: &generator) {
                    bytes += Array(word.utf8)
                }
            }
            let whole = try items(of: [bytes])
            var parts: [[UInt8]] = []
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = Int.random(in: 1...min(rest.count, 9), using: &generator)
                parts.append(Array(rest.prefix(count)))
                rest = rest.dropFirst(count)
            }
            #expect(try items(of: parts) == whole, "seed \(seed)")
        }
    }

    @Test func brokenUTF8IsReplaced() throws {
        let bytes = Array("data:a".utf8) + [0xFF, 0xC3] + Array("\n\n".utf8)
        #expect(try items(of: [bytes]) == [.data("a\u{FFFD}\u{FFFD}")])
    }

    @Test func anIDStartsWithTheOneAskedFor() throws {
        var parser = EventParser(lastEventID: "41")
        parser.add(Array("data:a\n\nid:42\ndata:b".utf8))
        #expect(try parser.next() == .data("a", id: "41"))
        #expect(try parser.next() == nil)
        #expect(parser.lastEventID == "41", "the event of id 42 is not complete")
    }

    @Test func aRetryOfAnyLengthIsBounded() throws {
        let digits = String(repeating: "9", count: 400)
        let expected = EventParser.Item.retry(.milliseconds(999_999_999_999_999_999 as Int64))
        #expect(try items(of: [Array("retry:\(digits)\n".utf8)]) == [expected])
    }

    @Test func anEndlessLineIsRefused() {
        var parser = EventParser(limits: EventLimits(maximumLineByteCount: 100))
        var error: EventLimitExceeded?
        for _ in 0..<11 where error == nil {
            parser.add(Array("data:67890".utf8))
            do { _ = try parser.next() } catch let thrown { error = thrown }
        }
        #expect(error == EventLimitExceeded(subject: "line", maximumByteCount: 100))
    }

    @Test func anEndlessEventIsRefused() {
        var parser = EventParser(limits: EventLimits(maximumEventByteCount: 100))
        var error: EventLimitExceeded?
        for _ in 0..<21 where error == nil {
            parser.add(Array("data:12345\n".utf8))
            do { _ = try parser.next() } catch let thrown { error = thrown }
        }
        #expect(error == EventLimitExceeded(subject: "event", maximumByteCount: 100))
    }

    @Test func commentsForEverTakeNoMemory() throws {
        var parser = EventParser(limits: EventLimits(maximumLineByteCount: 100, maximumEventByteCount: 100))
        for _ in 0..<10_000 {
            parser.add(Array(": nothing to say\n\n".utf8))
            #expect(try parser.next() == nil)
        }
        parser.add(Array("data:a\n\n".utf8))
        #expect(try parser.next() == .data("a"))
    }

    private func items(of parts: [[UInt8]]) throws -> [EventParser.Item] {
        var parser = EventParser()
        return try parts.flatMap { try parser.items(of: $0) }
    }
}

extension EventParser {
    /// Takes a part, and returns what it completes.
    fileprivate mutating func items(of part: [UInt8]) throws(EventLimitExceeded) -> [Item] {
        add(part)
        var items: [Item] = []
        while let item = try next() { items.append(item) }
        return items
    }
}

extension EventParser.Item {
    fileprivate static func data(_ data: String, type: String = "message", id: String = "") -> Self {
        .event(ServerSentEvent(type: type, data: data, id: id))
    }
}
