import Testing

@testable import RunwayJSON

/// Well-formed UTF-8 by the Unicode Standard, table 3-7.
@Suite struct UTF8Tests {
    /// A row of the table: the first and last byte allowed at each place.
    struct Row: CustomTestStringConvertible, Sendable {
        let codePoints: String
        let ranges: [ClosedRange<UInt8>]
        var testDescription: String { codePoints }
    }

    static let rows: [Row] = [
        Row(codePoints: "U+0080..U+07FF", ranges: [0xC2...0xDF, 0x80...0xBF]),
        Row(codePoints: "U+0800..U+0FFF", ranges: [0xE0...0xE0, 0xA0...0xBF, 0x80...0xBF]),
        Row(codePoints: "U+1000..U+CFFF", ranges: [0xE1...0xEC, 0x80...0xBF, 0x80...0xBF]),
        Row(codePoints: "U+D000..U+D7FF", ranges: [0xED...0xED, 0x80...0x9F, 0x80...0xBF]),
        Row(codePoints: "U+E000..U+FFFF", ranges: [0xEE...0xEF, 0x80...0xBF, 0x80...0xBF]),
        Row(codePoints: "U+10000..U+3FFFF", ranges: [0xF0...0xF0, 0x90...0xBF, 0x80...0xBF, 0x80...0xBF]),
        Row(codePoints: "U+40000..U+FFFFF", ranges: [0xF1...0xF3, 0x80...0xBF, 0x80...0xBF, 0x80...0xBF]),
        Row(codePoints: "U+100000..U+10FFFF", ranges: [0xF4...0xF4, 0x80...0x8F, 0x80...0xBF, 0x80...0xBF]),
    ]

    private func isAccepted(_ sequence: [UInt8], after padding: Int = 0) -> Bool {
        let bytes = [0x22] + [UInt8](repeating: 0x61, count: padding) + sequence + [0x22]
        return (try? JSONDocument(bytes)) != nil
    }

    @Test(arguments: rows)
    func sequencesOfTheRowAreAcceptedAnywhere(_ row: Row) {
        for sequence in [row.ranges.map(\.lowerBound), row.ranges.map(\.upperBound)] {
            for padding in 0..<130 { #expect(isAccepted(sequence, after: padding), "\(sequence) after \(padding)") }
        }
    }

    @Test(arguments: rows)
    func truncatedSequencesAreRefusedAtEveryOffset(_ row: Row) {
        for count in 1..<row.ranges.count {
            let sequence = row.ranges.prefix(count).map(\.lowerBound)
            for padding in 0..<130 {
                #expect(!isAccepted(sequence, after: padding))
                #expect(!isAccepted(sequence + [0x61], after: padding))
            }
        }
    }

    @Test(arguments: rows)
    func followingBytesOutsideTheRowAreRefused(_ row: Row) {
        for place in 1..<row.ranges.count {
            for byte in UInt8.min...UInt8.max where !row.ranges[place].contains(byte) {
                var sequence = row.ranges.map(\.lowerBound)
                sequence[place] = byte
                #expect(!isAccepted(sequence), "\(sequence)")
            }
        }
    }

    @Test func bytesThatBeginNoSequenceAreRefused() {
        for byte in [UInt8](0x80...0xC1) + [UInt8](0xF5...0xFF) {
            for tail in [[], [0x80], [0x80, 0x80], [0x80, 0x80, 0x80]] as [[UInt8]] {
                #expect(!isAccepted([byte] + tail))
            }
        }
    }

    /// Every pair of bytes in a string is accepted exactly when the standard library finds it well-formed.
    @Test func bytePairsAreJudgedLikeTheStandardLibrary() {
        for first in UInt8(0x20)...UInt8.max where first != 0x22 && first != 0x5C {
            for second in UInt8(0x20)...UInt8.max where second != 0x22 && second != 0x5C {
                let isWellFormed = String(validating: [first, second], as: UTF8.self) != nil
                if isAccepted([first, second]) != isWellFormed { Issue.record("\(first) \(second)") }
            }
        }
    }

    @Test func theErrorHasTheOffsetOfTheSequence() throws {
        let error = try #require(throws: JSONError.self) {
            try JSONDocument(Array("[\"é".utf8) + [0xC0, 0x80, 0x22, 0x5D])
        }
        #expect(error.kind == .invalidUTF8)
        #expect(error.offset == 4)
        #expect(error.column == 4)
        #expect(error.found == "byte 0xC0")
    }

    @Test func bytesBeyondASCIIOutsideStringsAreSyntaxErrors() throws {
        for bytes in [[0x5B, 0xC3, 0xA9, 0x5D], [0x31, 0xC3, 0xA9], [0x5B, 0xFF, 0x5D]] as [[UInt8]] {
            let error = try #require(throws: JSONError.self) { try JSONDocument(bytes) }
            #expect(error.kind == .syntax)
            #expect(error.offset == 1)
        }
    }

    /// RFC 8259 §8.1 asks for UTF-8; RFC 4627 §3 recognised the others by their zero bytes.
    @Test func wideEncodingsAreReportedByName() throws {
        let text = #"{"token":"hunter2","city":"上海"}"#
        let little16 = text.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
        let big16 = text.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
        let big32 = text.unicodeScalars.flatMap { [0, 0, UInt8($0.value >> 8), UInt8($0.value & 0xFF)] }
        let little32 = text.unicodeScalars.flatMap { [UInt8($0.value & 0xFF), UInt8($0.value >> 8), 0, 0] }
        for (bytes, name) in [
            ([0xFF, 0xFE] + little16, "UTF-16"), ([0xFE, 0xFF] + big16, "UTF-16"), (little16, "UTF-16"),
            (big16, "UTF-16"),
            ([0xFF, 0xFE, 0, 0] + little32, "UTF-32"),
            ([0, 0, 0xFE, 0xFF] + big32, "UTF-32"), (little32, "UTF-32"), (big32, "UTF-32"),
        ] as [([UInt8], String)] {
            let error = try #require(throws: JSONError.self) { try JSONDocument(bytes) }
            #expect(error.kind == .invalidUTF8 && error.found == name && error.offset == 0)
            #expect("\(error)".contains("expected UTF-8, as JSON has to be") && !"\(error)".contains("not JSON"))
            // Nor does its start show a secret between the zero bytes.
            #expect(!"\(error)".replacing(" ", with: "").contains("hunter2"), "\(error)")
        }
        for bytes in [[0x5B, 0, 0x5D], [0], [], [0xFF], [0x5B, 0, 0, 0x5D], [0x31, 0]] as [[UInt8]] {
            #expect(try #require(throws: JSONError.self) { try JSONDocument(bytes) }.kind == .syntax, "\(bytes)")
        }
    }
}
