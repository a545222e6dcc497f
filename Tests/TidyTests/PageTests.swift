import Foundation
import Runway
import Testing

/// What a page of the documentation and a script or a source have to say alike.
struct PageTests {
    private let folder = "Sources/Runway/Runway.docc"

    /// The number of code blocks of each section of a page, by the heading and the language.
    private func blocks(of page: Project.File) -> [String: [String: Int]] {
        var blocks: [String: [String: Int]] = [:]
        var (section, isCode) = ("", false)
        for line in page.lines {
            if line.hasPrefix("```") {
                if !isCode { blocks[section, default: [:]][String(line.dropFirst(3)), default: 0] += 1 }
                isCode.toggle()
            } else if !isCode, line.hasPrefix("## ") {
                section = String(line.dropFirst(3))
                blocks[section] = [:]
            }
        }
        return blocks
    }

    @Test func tutorialPlaysSectionsOfItsPage() throws {
        let blocks = blocks(of: try Project.file("\(folder)/GettingStarted.md"))
        let script = try Project.file("Scripts/tutorial.sh")
        let single = script.text.matches(of: /\bcode "([^"$]+)" (swift|"")/).map { match in
            (section: String(match.output.1), language: match.output.2 == "swift" ? "swift" : "")
        }
        let loop = try #require(script.lines.first { $0.hasPrefix("for section in ") })
        let looped = loop.matches(of: /"([^"]+)"/).map { (section: String($0.output.1), language: "swift") }
        #expect(single.count == 2 && looped.count == 3)
        for (section, language) in single + looped {
            #expect(blocks[section]?[language] == 1, "the page has not one block of code in \"\(section)\"")
        }
        // What the script says of a step is the heading of its section, too.
        for said in script.text.matches(of: /say "(?:\d|\$step)\. ([^"$]+)"/) {
            #expect(blocks[String(said.output.1)] != nil, "the page has no section \"\(said.output.1)\"")
        }
    }

    @Test func everyKindOfErrorIsOnItsPage() throws {
        let kinds = NetworkError.Kind.all.map(\.name)
        let rows = try Project.file("\(folder)/Errors.md").lines.filter { $0.hasPrefix("|") }
        let named = rows.map { $0.split(separator: "|").first ?? "" }
            .flatMap { $0.matches(of: /`(\w+)`/).map { String($0.output.1) } }
        #expect(named.sorted() == kinds.sorted())
    }

    /// The example of the page is copied into apps.
    @Test func exampleShowsUsersWhatTheTableSays() throws {
        var count = 0
        for row in try Project.file("\(folder)/Errors.md").lines where row.hasPrefix("| `") {
            let columns = row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            let shown: String?
            switch columns[3] {
            case "Nothing.", "The login.": shown = nil
            case let sentence where sentence.hasPrefix("\""): shown = String(sentence.dropFirst().dropLast())
            // It depends on more than the kind.
            default: continue
            }
            for name in columns[0].matches(of: /`(\w+)`/).map({ $0.output.1 }) {
                let kind = try #require(NetworkError.Kind.all.first { $0.name == name })
                #expect(text(for: NetworkError(kind, in: .checking, "")) == shown, "\(name)")
                count += 1
            }
        }
        #expect(count >= 13)
    }
}
