import Foundation
import Testing

/// Every Swift example of the documentation stands, line by line, in a file that the tests compile.
struct SnippetTests {
    @Test func everyExampleOfTheDocumentationIsCompiled() throws {
        let compiled = try Project.files(in: "Tests", "Sources/RunwayDemo", endingIn: [".swift"])
            .map { Self.normalized($0.lines) }
        let pages =
            try ["README.md"].map(Project.file) + Project.files(in: "Sources", "docs", endingIn: [".md"])
        var count = 0
        for page in pages {
            for snippet in Self.snippets(of: page) {
                count += 1
                let text = Self.normalized(snippet[...])
                #expect(
                    compiled.contains { $0.contains(text) },
                    "\(page.path) has an example that no test compiles:\n\(text)")
            }
        }
        #expect(count > 0)
    }

    private static func snippets(of page: Project.File) -> [[Substring]] {
        var snippets: [[Substring]] = []
        var current: [Substring]?
        for line in page.lines {
            let trimmed = line.drop { $0 == " " }
            if trimmed.hasPrefix("```") {
                if let snippet = current { snippets.append(snippet) }
                current = current == nil && trimmed.hasPrefix("```swift") ? [] : nil
            } else {
                current?.append(line)
            }
        }
        return snippets
    }

    /// The lines without indentation and blank lines, so that an example may stand deeper in a test than on a page.
    private static func normalized(_ lines: some Sequence<Substring>) -> String {
        lines.map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }.joined(separator: "\n")
    }
}
