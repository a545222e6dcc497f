import Foundation
import HTTPTypes
import HummingbirdCore
import RunwaySignatures
import Testing

@testable import RunwayServer

/// The tables of refusals in `docs/formats.md` have every reason with its status.
struct FormatsPageTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private func page() throws -> String {
        try String(contentsOf: Self.root.appending(path: "docs/formats.md"), encoding: .utf8)
    }

    /// The reasons of the table after a text, by the status of their row.
    private func table(after text: String) throws -> [String: Int] {
        let page = try page()
        let start = try #require(page.range(of: text)).upperBound
        let rows = page[start...].split(separator: "\n").drop { !$0.hasPrefix("|") }.prefix { $0.hasPrefix("|") }
        var statuses: [String: Int] = [:]
        for row in rows.dropFirst(2) {
            let cells = row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            for reason in cells[1].matches(of: /`(\w+)`/) { statuses[String(reason.1)] = Int(cells[0]) }
        }
        return statuses
    }

    @Test func pageHasEveryRefusalOfALog() throws {
        let reasons = ActionLogProblem.Reason.allCases.map { ($0.rawValue, $0.status.code) }
        #expect(try table(after: "`urn:runway:log:`") == Dictionary(uniqueKeysWithValues: reasons))
    }

    @Test func pageHasEveryRefusalOfEveryRoute() throws {
        let page = try page()
        for (refusal, reason) in [(BodyRefusal.tooSlow, "tooSlow"), (BodyRefusal.tooManyBytes, "tooManyBytes")] {
            #expect(page.contains("| \(refusal.status.code) | `urn:runway:body:\(reason)` |"))
        }
        for refusal in [HostRefusal.malformed, .host, .origin, .mediaType] {
            #expect(page.contains("| \(refusal.response.status.code) | `about:blank` |"))
        }
    }

    @Test func pageHasEveryReasonOfARefusedSignature() throws {
        var statuses: [String: Int] = [:]
        for file in ["RunwaySignatures/Verifying/SignatureRefusal.swift", "RunwayServer/Signing/RefusedRequest.swift"] {
            let code = try String(contentsOf: Self.root.appending(path: "Sources/\(file)"), encoding: .utf8)
            for name in code.matches(of: /static let \w+ = (?:Reason|Self)\(name: "(\w+)"\)/).map({ String($0.1) }) {
                let refusal = SignatureRefusal(.init(name: name), "", at: UnixTime(seconds: 0))
                // The others are shown to nobody.
                guard refusal.disclosedReason == refusal.reason else { continue }
                statuses[name] = RefusedRequest(refusal: refusal, accepted: nil, isExplained: false).status.code
            }
        }
        #expect(statuses.count > 15)
        #expect(try table(after: "refusal is signed.\n") == statuses)
    }
}
