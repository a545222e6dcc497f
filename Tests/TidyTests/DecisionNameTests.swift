import Foundation
import Testing

/// The names of decisions are read by programs: each stands in the article about records, and none leaves it unnoticed.
struct DecisionNameTests {
    @Test func decisionsHaveTheArticlesNamesAndFields() throws {
        let article = try Project.file("Sources/Runway/Runway.docc/ReadingRecords.md")
        var documented: [String: Set<String>] = [:]
        for line in article.lines where line.hasPrefix("| `") {
            let columns = line.split(separator: "|", omittingEmptySubsequences: false).map { Self.words(in: $0) }
            documented[columns[2].joined(), default: []].formUnion(columns[3])
        }
        var written: [String: Set<String>] = [:]
        for file in try Project.files(in: "Sources", endingIn: [".swift"]) {
            let code = file.lines.filter { !$0.drop { $0 == " " }.hasPrefix("///") }.joined(separator: "\n")
            for (name, fields) in Self.entries(in: code) {
                written[name, default: []].formUnion(fields)
            }
        }
        #expect(written.count > 50)
        #expect(written == documented)
    }

    /// The names in backquotes.
    private static func words(in column: Substring) -> [String] {
        column.split(separator: "`", omittingEmptySubsequences: false).enumerated()
            .filter { !$0.offset.isMultiple(of: 2) }.map { String($0.element) }
    }

    /// The names of the decisions of a file, each with its fields.
    private static func entries(in text: String) -> [(String, [String])] {
        let decisions = text.split(separator: "var entry: DecisionRecord {").dropFirst().flatMap { part in
            let body = part.prefix(upTo: part.range(of: "\n    }\n")?.lowerBound ?? part.endIndex)
            return body.matches(of: #/\.init\(\s*"(\w+)",\s*(\[(?:[^\[\]]|\[[^\[\]]*\])*\])?/#)
                .map { (String($0.1), fields(in: $0.2)) }
        }
        // Decisions recorded as an app's own stage records them.
        let notes = text.matches(of: #/flight\.note\(\s*"(\w+)",\s*(?:fields:\s*(\[(?:[^\[\]]|\[[^\[\]]*\])*\]))?/#)
            .map { (String($0.1), fields(in: $0.2)) }
        return decisions + notes
    }

    private static func fields(in dictionary: Substring?) -> [String] {
        (dictionary ?? "").matches(of: #/[\[,]\s*"(\w+)":/#).map { String($0.1) }
    }
}
