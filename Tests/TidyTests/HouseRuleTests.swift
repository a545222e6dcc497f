import Foundation
import Testing

/// The rules of CONTRIBUTING.md that a machine can hold.
struct HouseRuleTests {
    private static let swift = [".swift"]

    @Test func aFileReadsInOneSitting() throws {
        for file in try Project.files(in: "Sources", "Tests", "Benchmarks", endingIn: Self.swift) {
            #expect(file.lines.count <= 400, "\(file.path) has \(file.lines.count) lines")
        }
    }

    @Test func noFileHoldsWordsForWorkUndone() throws {
        let banned = ["TO" + "DO", "FIX" + "ME", "try" + "!", "fatal" + "Error("]
        for file in try Project.files(in: "Sources", endingIn: Self.swift) {
            for word in banned { #expect(!file.text.contains(word), "\(file.path) says \(word)") }
        }
    }

    @Test func noLoopWaitsWithoutABound() throws {
        let waits = [
            "await Task" + ".yield()", ".wait" + " {", "waitUntil" + "(", ".flush" + "()", ".flushRecords" + "()",
            "network.call" + "(",
        ]
        for file in try Project.files(
            in: "Tests", "Sources/RunwayTesting", "Sources/RunwayTestServer", "Sources/RunwayDemo", endingIn: Self.swift
        ) {
            let lines = file.lines
            for (number, line) in lines.enumerated() where waits.contains(where: { line.contains($0) }) {
                // A loop on one line, or the loop whose body the line is in.
                let indentation = line.prefix { $0 == " " }.count
                let opening = lines[..<number].last { !$0.isEmpty && $0.prefix { $0 == " " }.count < indentation }
                let isLoop = [line, opening ?? ""].contains { candidate in
                    let code = candidate.drop { $0 == " " }
                    return (code.hasPrefix("while ") && !code.hasPrefix("while !Task.isCancelled"))
                        || code.hasPrefix("repeat ")
                }
                #expect(!isLoop, "\(file.path):\(number + 1) loops without a bound; use waitUntil")
            }
        }
    }

    @Test func noNumberOfYieldsStandsForAWait() throws {
        for file in try Project.files(in: "Tests", endingIn: Self.swift) {
            for (number, line) in file.lines.enumerated() {
                let isCounted = line.contains(/for _ in \d+\.\.[.<]\d+ \{ await Task\.yield\(\)/)
                #expect(!isCounted, "\(file.path):\(number + 1) yields a number of times; wait for an event")
            }
        }
    }

    @Test func everyUncheckedSendableHasItsReasonBesideIt() throws {
        for file in try Project.files(in: "Sources", endingIn: Self.swift) {
            let lines = file.lines
            for (number, line) in lines.enumerated() where line.contains("@unchecked " + "Sendable") {
                let above = lines[max(0, number - 4)...number]
                #expect(
                    above.contains { $0.contains("//") },
                    "\(file.path):\(number + 1) has no reason in the lines above it")
            }
        }
    }

    @Test func everyMutexHasACommentAboveIt() throws {
        var count = 0
        for file in try Project.files(in: "Sources", endingIn: Self.swift) {
            let lines = file.lines
            for (number, line) in lines.enumerated() where line.contains(/\blet \w+(: | = )Mutex[<(]/) {
                count += 1
                let above = lines[max(0, number - 1)].drop { $0 == " " }
                #expect(above.hasPrefix("//"), "\(file.path):\(number + 1) does not say what it guards")
            }
        }
        #expect(count > 100)
    }

    @Test func noFileNamesTheMachineOfItsWriter() throws {
        let homes = ["/ro" + "ot/", "/wo" + "rk/", "/Us" + "ers/"]
        for file in try Project.files(
            in: "Sources", "Tests", "Benchmarks", "docs", "Scripts", ".ci", endingIn: [".swift", ".md", ".sh", "run"])
        {
            for home in homes { #expect(!file.text.contains(home), "\(file.path) names \(home)") }
        }
    }

    @Test func textsUseTheTermsOfTheField() throws {
        let words = [
            "let" + "GoOfGiven", "pass" + "Read", "put" + "Away", "bring" + "Up", "\\bDe" + "ed\\b",
            // Also as a word of a name.
            "((^|[^A-Za-z])a|A)ns" + "wer(s|ed|ing)?(?![a-z])",
            "Happen" + "ings", "Ground" + "ing", "\\bke" + "pt\\b", "\\bto" + "ld\\b", "lets go" + " of",
            "in the" + " air",
            "takes" + " off", "called" + " off", "gives" + " back", "\\bMakes" + " a [a-z]+\\.$",
            "^ *///? Gives" + " ",
        ]
        let banned = try Regex(words.joined(separator: "|"))
        // The notes of decisions are history, and stay in the words of their day.
        let files =
            try Project.files(
                in: "Sources", "Tests", "Benchmarks", "Fuzz", "docs", endingIn: [".swift", ".md", ".h", ".c"]
            ).filter { !$0.path.hasPrefix("docs/decisions/") }
            + ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"].map(Project.file)
        for file in files {
            for (number, line) in file.lines.enumerated() {
                let word = line.firstMatch(of: banned).map { line[$0.range] } ?? ""
                #expect(word.isEmpty, "\(file.path):\(number + 1) says \"\(word)\"; see the terms in CONTRIBUTING.md")
            }
        }
    }

    @Test func documentationIsWrappedAtItsColumn() throws {
        for file in try Project.files(in: "Sources", endingIn: Self.swift) {
            for (number, line) in file.lines.enumerated() where line.count > 120 {
                // Code, tables and lists of a protocol's words are not wrapped.
                let text = line.drop { $0 == " " }
                guard text.hasPrefix("/// "), !text.hasPrefix("///  "), !text.hasPrefix("/// |") else { continue }
                Issue.record("\(file.path):\(number + 1) is longer than 120 columns")
            }
        }
    }

    @Test func namesUseTheTermsOfTheField() throws {
        let banned = [
            "ke" + "pt", "to" + "ld", "let go", "lets go", "in the" + " air", "takes" + " off", "called" + " off",
            "gives" + " back", "ans" + "wer", "ans" + "wers", "ans" + "wered", "ans" + "wering",
        ]
        for file in try Project.files(in: "Sources", "Tests", "Benchmarks", "Fuzz", endingIn: Self.swift) {
            let words = Self.wordsOfNames(in: file.text)
            for word in banned where words.contains(" \(word) ") {
                let numbers = words.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
                    .filter { $0.element.contains(" \(word) ") }.map { $0.offset + 1 }
                Issue.record("\(file.path):\(numbers) has a name with \"\(word)\"; see the terms in CONTRIBUTING.md")
            }
        }
    }

    @Test func namesInCamelCaseAreSplit() {
        let text = "func isHTTPAns" + "wer(inThe" + "Air2: Int) -> Plain { plain }\nlet goals = _let" + "Go"
        #expect(Self.wordsOfNames(in: text) == " is http ans" + "wer  in the" + " air 2 \n let" + " go ")
    }

    @Test func namesOfTestsAreShortClaims() throws {
        for file in try Project.files(in: "Tests", endingIn: Self.swift) {
            for part in file.text.split(separator: "@Test").dropFirst() {
                guard let name = part.firstMatch(of: /\bfunc (\w+)/)?.output.1 else { continue }
                let count = Self.words(in: Array(name.utf8)[...]).count
                #expect(count <= 8, "\(file.path): the name of \(name) has \(count) words")
            }
        }
    }

    /// The names in camel case of each line of a text, as words in small letters between spaces.
    private static func wordsOfNames(in text: String) -> String {
        var result: [UInt8] = []
        var name: [UInt8] = []
        func endName() {
            let words = words(in: name[...])
            if words.count > 1 { result += Array(" \(words.joined(separator: " ").lowercased()) ".utf8) }
            name = []
        }
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                name.append(byte)
            default:
                endName()
                if byte == UInt8(ascii: "\n") { result.append(byte) }
            }
        }
        endName()
        return String(decoding: result, as: UTF8.self)
    }

    /// The words of a name in camel case. An abbreviation in capitals is one word, and so is a number.
    private static func words(in name: ArraySlice<UInt8>) -> [String] {
        enum Kind { case capital, small, digit }
        func kind(_ byte: UInt8) -> Kind { byte < 0x3A ? .digit : byte < 0x5B ? .capital : .small }
        var words: [String] = []
        var start = name.startIndex
        for index in name.indices.dropFirst() {
            let (former, present) = (kind(name[index - 1]), kind(name[index]))
            let next = index + 1 < name.endIndex ? kind(name[index + 1]) : nil
            let isStart =
                switch (former, present) {
                case (.capital, .small): false
                case (.capital, .capital): next == .small
                default: former != present
                }
            if isStart {
                words.append(String(decoding: name[start..<index], as: UTF8.self))
                start = index
            }
        }
        if start < name.endIndex { words.append(String(decoding: name[start...], as: UTF8.self)) }
        return words
    }

    @Test func jsonHasItsUnsafePointersInOneFile() throws {
        for file in try Project.files(in: "Sources/RunwayJSON", endingIn: Self.swift)
        where !file.path.hasSuffix("/Index/DocumentMemory.swift") {
            for word in ["Unsafe", "withUTF8", "unsafe"] {
                #expect(!file.text.contains(word), "\(file.path) says \(word)")
            }
        }
    }

    @Test func theLayerImportsNeitherNIONorSQLite() throws {
        for file in try Project.files(
            in: "Sources/Runway", "Sources/RunwayJSON", "Sources/RunwayTesting", endingIn: Self.swift)
        {
            for line in file.lines where line.contains("import ") {
                #expect(!line.contains("NIO") && !line.contains("GRDB"), "\(file.path)")
            }
        }
    }

    @Test func noProductUsesAsyncHTTPClient() throws {
        for file in try Project.files(in: "Sources", endingIn: Self.swift) {
            #expect(!file.lines.contains { $0.contains("import AsyncHTTPClient") }, "\(file.path)")
        }
    }

    @Test func theArchitecturePageNamesEveryTarget() throws {
        let manifest = try Project.file("Package.swift").text
        let page = try Project.file("ARCHITECTURE.md").text
        let names = manifest.matches(of: /arget\(\s*name: "(\w+)"/).map { String($0.output.1) }
        #expect(names.count > 6)
        for name in names { #expect(page.contains("`\(name)`"), "ARCHITECTURE.md does not name \(name)") }
    }
}
