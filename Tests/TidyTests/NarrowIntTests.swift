import Foundation
import Testing

/// `Int` has 32 bits on some watches: there `64 << 30` is 0, and `Int` of a larger value ends the process.
struct NarrowIntTests {
    /// Files whose hexadecimal literals are all of a type with 64 bits, or of `UInt`.
    private static let wideHexadecimals = [
        "RunwayJSON/Reading/StringText.swift", "Runway/Delivery/Text/SystemTable.swift",
        "Runway/References/IPAddress.swift",
        "RunwayStorage/Journal/JournalEntry.swift", "RunwayStorage/Cache/Checksum.swift",
        "RunwaySQLite/StoredValues.swift", "RunwayTesting/Random/SeededGenerator.swift",
        "RunwayServer/Sync/SyncWriter.swift",
    ]

    @Test func noIntNeedsMoreThan32Bits() throws {
        for file in try Project.files(in: "Sources", endingIn: [".swift"]) {
            let mayBeHexadecimal = Self.wideHexadecimals.contains { file.path == "Sources/\($0)" }
            for (number, line) in file.lines.enumerated() {
                let isFound = needsMoreThan32Bits(line) || !mayBeHexadecimal && isWideHexadecimal(line)
                #expect(!isFound, "\(file.path):\(number + 1) has an Int that takes more than 32 bits")
            }
        }
    }

    @Test(arguments: [
        ("let a = 64 << 30", true), ("let a = 1 << 31", true), ("a(36_525 * 86_400)", true),
        ("a < 3_000_000_000", true), ("let a = Int64(64) << 30", false), ("let a = 1 << 30", false),
        ("a(1..<5_000_000_000)", true), ("0x7FFF_FFFF", false), ("0x1_0000_0000", true), ("0x8000_0000", true),
        ("UInt64(0x1_0000_0000)", false), ("0xFF as UInt8", false),
    ])
    func intOfMoreThan32BitsIsFound(_ line: String, _ isFound: Bool) {
        #expect((needsMoreThan32Bits(line[...]) || isWideHexadecimal(line[...])) == isFound)
    }

    /// Only `Int(clamping:)`, `Int(exactly:)` and `Int(truncatingIfNeeded:)` take a value with 64 bits.
    @Test func noIntIsMadeOfAWiderValue() throws {
        for file in try Project.files(in: "Sources", endingIn: [".swift"]) {
            for (number, line) in file.lines.enumerated() {
                #expect(
                    !mayTrap(line, in: file.text),
                    "\(file.path):\(number + 1) makes an Int of a value with 64 bits; use clamping or exactly")
            }
        }
    }

    @Test(arguments: [
        ("Int(duration.components.seconds)", true), ("Int(1 + a.attoseconds / 1_000)", true),
        ("Int(task.countOfBytesSent)", true), ("Int(response.expectedContentLength)", true),
        ("Int(status.st_size)", true), ("return Int(max(0, status.st_size))", true),
        ("Int(clamping: a.seconds)", false), ("Int(exactly: status.st_size)", false), ("Int64(a.seconds)", false),
        ("UInt(status.st_size)", false), ("Int(a.secondsName)", false), ("// Int(a.seconds)", false),
        ("func note(sent: Int64) { count = Int(sent) }", true), ("func note(sent: Int) { count = Int(sent) }", false),
        ("var totalBytesWritten: off_t { a }; b = Int(c.totalBytesWritten)", true),
        ("let sent = UInt64(a); let count = Int(sent)", true), ("let sent: Int64 = 1; Int(clamping: sent)", false),
        ("let sent: Int64 = 1; UInt(sent)", false),
    ])
    func intOfAWiderValueIsFound(_ line: String, _ isFound: Bool) {
        #expect(mayTrap(line[...], in: line) == isFound)
    }

    /// A time in seconds since 1970 takes more than 32 bits from 2038 on.
    @Test func noTimeIsReadAsAnInt() throws {
        for file in try Project.files(in: "Sources", endingIn: [".swift"]) {
            for (number, line) in file.lines.enumerated() {
                #expect(
                    !readsNarrowTime(line), "\(file.path):\(number + 1) reads a time as an Int; use int64")
            }
        }
    }

    @Test(arguments: [
        (#"end = json["notAfter"].int"#, true), (#"rawData["time"].int.map { UnixTime($0) }"#, true),
        (#"json["exp"].int ?? 0"#, true), (#"json["expires"].int64"#, false), (#"json["time"].integer"#, false),
        (#"json["status"].int"#, false), (#"json["n"].int.map { Int64($0) }"#, true),
    ])
    func timeReadAsAnIntIsFound(_ line: String, _ isFound: Bool) {
        #expect(readsNarrowTime(line[...]) == isFound)
    }

    private func readsNarrowTime(_ line: Substring) -> Bool {
        guard line.contains("].int") else { return false }
        let ofTime =
            /\["(?:notBefore|notAfter|time|created|expires|exp|iat|nbf|sent|received|date|since|until)"\]\.int(?!\w)/
        return line.contains(ofTime) || line.contains(/\]\.int\.(?:map|flatMap) \{.*Int64\(/)
    }

    private func code(_ line: Substring) -> Substring { line.prefix { $0 != "/" && $0 != "\"" } }

    /// Whether a file declares a name with a type of 64 bits.
    private func hasWiderType(_ name: Substring, in text: String) -> Bool {
        text.matches(of: /(\w+)(?:: | = )(?:Int64|UInt64|off_t)(?!\w)/).contains { $0.output.1 == name }
    }

    /// - Parameter text: The file of the line.
    private func mayTrap(_ line: Substring, in text: String) -> Bool {
        // Most lines are settled before the expression, which takes long.
        guard line.utf8.contains(UInt8(ascii: "(")), line.contains("Int(") else { return false }
        if line.drop(while: { $0 == " " }).hasPrefix("//") { return false }
        // Without \b, for which "a.b" is one word.
        let wider =
            /(?:^|\W)Int\((?!clamping:|exactly:|truncatingIfNeeded:).*?\W(?:seconds|attoseconds|countOf\w+|expectedContentLength|st_size)(?:\W|$)/
        return line.contains(wider)
            || line.matches(of: /(?:^|\W)Int\((?:\w+\.)*(\w+)\)/).contains { hasWiderType($0.output.1, in: text) }
    }

    private func isWideHexadecimal(_ line: Substring) -> Bool {
        if !line.contains("0x") || line.contains("UInt") { return false }
        return code(line).matches(of: /\b0x([0-9A-Fa-f_]+)\b/).contains { match in
            Int32(match.output.1.replacing("_", with: ""), radix: 16) == nil
        }
    }

    /// Whether a line has a literal, or a product or shift of literals, that is no `Int32`, and names no larger type.
    private func needsMoreThan32Bits(_ line: Substring) -> Bool {
        // Two digits make no number, product or shift that does not fit.
        guard line.utf8.count(where: { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) > 2 else { return false }
        let code = code(line).replacing(/\.\.[.<]/, with: " .. ")
        if code.contains(/Int64|Double|nanoseconds|attoseconds/) { return false }
        return code.matches(of: /(?:^|[^\w.])(\d[\d_]*(?: (?:\*|&?<<) \d[\d_]*)*)(?![\w.])/).contains { match in
            let words = match.output.1.replacing("_", with: "").split(separator: " ")
            var value = Int64(words[0]) ?? .max
            for index in stride(from: 1, to: words.count - 1, by: 2) {
                guard let operand = Int64(words[index + 1]) else { return true }
                value =
                    words[index] == "*" ? value.multipliedReportingOverflow(by: operand).partialValue : value << operand
            }
            return Int32(exactly: value) == nil
        }
    }
}
