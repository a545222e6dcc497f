import Foundation
import Testing

/// The pages that say which test holds a requirement of a standard.
struct RequirementTests {
    @Test func everyTestThatTheCachingPageNamesExists() throws {
        let page = try Project.file("docs/rfc9111.md")
        let sources = try Project.files(in: "Tests", endingIn: [".swift"]).map(\.text).joined(separator: "\n")
        let names = Set(
            page.lines.filter { $0.hasPrefix("|") }.flatMap { line in
                // The last column names tests; what is no Swift name in small letters is a field or a directive.
                (line.split(separator: "|").last ?? "").matches(of: /`([a-z][A-Za-z]{11,})`/).map {
                    String($0.output.1)
                }
            })
        #expect(names.count > 80)
        for name in names.sorted() {
            #expect(sources.contains("func \(name)("), "docs/rfc9111.md names \(name), which is no test")
        }
    }

    @Test func everyAttackOnBundlesHasTests() throws {
        let page = try Project.file("Sources/RunwayBundles/RunwayBundles.docc/WhatMayChange.md")
        let sources = try Project.files(in: "Tests", endingIn: [".swift"]).map(\.text).joined(separator: "\n")
        let rows = page.lines.drop { $0 != "## Attacks" }.filter { $0.hasPrefix("| ") }.dropFirst()
        #expect(rows.count == 12)
        for row in rows {
            let names = (row.split(separator: "|").last ?? "").matches(of: /`(\w+)`/).map { String($0.output.1) }
            #expect(!names.isEmpty, "\(row)")
            for name in names { #expect(sources.contains("func \(name)("), "the page names \(name), which is no test") }
        }
    }

    @Test func everyCachingRequirementHasATestOrReason() throws {
        let rows = try Project.file("docs/rfc9111.md").lines.filter { $0.contains("| MUST") || $0.contains("| SHOULD") }
        #expect(rows.count > 70)
        for row in rows {
            let cell = row.split(separator: "|").last ?? ""
            #expect(cell.contains("`") || cell.contains("does not apply:"), "\(row)")
        }
    }
}
