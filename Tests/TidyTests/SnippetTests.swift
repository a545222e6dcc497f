import Foundation
import Testing

/// Every Swift example of the documentation, doc comments included, stands line by line in a file that is compiled: by the tests,
/// or, for `Samples`, by `Scripts/apple.sh`.
struct SnippetTests {
    @Test func everyExampleOfTheDocumentationIsCompiled() throws {
        let compiled = try Project.files(in: "Tests", "Sources/RunwayDemo", "Samples", endingIn: [".swift"])
            .map { Data(Self.normalized($0.lines).utf8) }
        let pages =
            try ["README.md", "README.zh-Hans.md"].map(Project.file)
            + Project.files(in: "Sources", "docs", endingIn: [".md", ".swift"])
        var count = 0
        for page in pages {
            for snippet in Self.snippets(of: page) {
                count += 1
                // Imports stand at the start of the file, and may have others among them.
                let unindented = snippet.map { $0.drop { $0 == " " } }
                let imports = unindented.prefix { $0.isEmpty || $0.hasPrefix("import ") }.filter { !$0.isEmpty }
                let text = Self.normalized(snippet.dropFirst(imports.count))
                let parts = ([text] + imports.map { "\($0)\n" }).filter { !$0.isEmpty }
                #expect(
                    compiled.contains { file in parts.allSatisfy { file.range(of: Data($0.utf8)) != nil } },
                    "\(page.path) has an example that no test compiles:\n\(text)")
            }
        }
        #expect(count > 0)
    }

    private static func snippets(of page: Project.File) -> [[Substring]] {
        var snippets: [[Substring]] = []
        var current: [Substring]?
        var isInside = false
        let isSource = page.path.hasSuffix(".swift")
        for line in page.lines {
            var line = line
            if isSource {
                let comment = line.drop { $0 == " " }
                guard comment.hasPrefix("///") else { continue }
                line = comment.dropFirst(3)
            }
            let trimmed = line.drop { $0 == " " }
            if trimmed.hasPrefix("```") {
                if let snippet = current { snippets.append(snippet) }
                // A fence without a language in a doc comment is Swift, as DocC has it.
                let isSwift = trimmed.hasPrefix("```swift") || isSource && trimmed == "```"
                isInside.toggle()
                current = isInside && isSwift ? [] : nil
            } else {
                current?.append(line)
            }
        }
        return snippets
    }

    /// The lines without indentation, alignment and blank lines, so that an example may stand deeper in a test than on a page.
    private static func normalized(_ lines: some Sequence<Substring>) -> String {
        lines.map { $0.split(separator: " ").joined(separator: " ") }.filter { !$0.isEmpty }.joined(separator: "\n")
    }
}
