import Testing

/// The README in its two languages, and what the pages of the documentation promise.
struct ReadmeTests {
    private let english: Page
    private let chinese: Page

    init() throws {
        english = Page(try Project.file("README.md"))
        chinese = Page(try Project.file("README.zh-Hans.md"))
    }

    /// A page without its code blocks.
    private struct Page {
        let lines: [Substring]

        init(_ file: Project.File) {
            var isCode = false
            lines = file.lines.filter { line in
                if line.hasPrefix("```") { isCode.toggle() }
                return !isCode
            }
        }

        /// The tables, row by row.
        var tables: [[Substring]] {
            lines.split { !$0.hasPrefix("|") }.map(Array.init)
        }

        /// What stands in backquotes in some lines.
        static func symbols(in lines: some Sequence<Substring>) -> Set<String> {
            Set(lines.flatMap { $0.matches(of: /`([^`]+)`/) }.map { String($0.output.1) })
        }
    }

    @Test func readmesHaveTheSameTables() {
        #expect(!english.tables.isEmpty && english.tables.map(\.count) == chinese.tables.map(\.count))
        for (row, translated) in zip(english.tables.joined(), chinese.tables.joined()) {
            #expect(Page.symbols(in: [row]) == Page.symbols(in: [translated]), "\(translated)")
        }
    }

    @Test func translationNamesWhatTheReadmeNames() {
        let missing = Page.symbols(in: english.lines).subtracting(Page.symbols(in: chinese.lines))
        #expect(missing.isEmpty, "README.zh-Hans.md does not name \(missing.sorted())")
    }

    @Test(arguments: ["README.md", "README.zh-Hans.md"]) func readmeIsShort(name: String) throws {
        #expect(try Project.file(name).text.count { $0 == "\n" } < 200)
    }

    @Test func firstPagesNameEveryProductAndTrait() throws {
        let manifest = try Project.file("Package.swift").text
        let products = manifest.matches(of: /\.(?:library|executable)\(\s*name: "(\w+)"/).map { String($0.output.1) }
        let traits = manifest.matches(of: /\.trait\(\s*name: "(\w+)"/).map { String($0.output.1) }
        #expect(products.count > 10 && traits.count > 5)
        let text = try Project.file("README.md").text + Project.file("docs/installing.md").text
        // The command is built from a copy of the package, with every trait that is on by default.
        for name in products + traits where name != "Command" {
            let isNamed = text.contains("`\(name)`") || text.contains("\"\(name)\"")
            #expect(isNamed, "neither README.md nor docs/installing.md names \(name)")
        }
    }

    @Test func noArticleSaysNotYet() throws {
        for page in try Project.files(in: "Sources", endingIn: [".md"]) {
            #expect(!page.text.contains("Not yet"), "\(page.path): say what is there, and what to use instead")
        }
    }
}
