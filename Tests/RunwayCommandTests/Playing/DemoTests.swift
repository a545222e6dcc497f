import Foundation
import RunwayDemo
import Testing

@testable import RunwayCommand

/// The demo, as a process of its own.
@Suite(.timeLimit(.minutes(10)))
struct DemoTests {
    @Test func totalsAddUpAndNoProblemIsFound() async throws {
        let tool = try await Tool.run("demo", "--seed", "4", "--json")

        #expect(tool.status == 0)
        #expect(tool.errors.isEmpty)
        let report = try #require(try JSONSerialization.jsonObject(with: Data(tool.bytes)) as? [String: Any])
        #expect((report["problems"] as? [String])?.isEmpty == true)
        let calls = try #require(report["calls"] as? Int)
        let sent = try #require(report["callsSent"] as? Int)
        let notSent = try #require(report["callsNotSent"] as? [String: Int])
        let repeated = try #require(report["requestsRepeated"] as? [String: Int])
        let envelopes = try #require(report["envelopes"] as? [Any])
        #expect((report["flights"] as? [Any])?.count == calls)
        let hosts = try #require(report["hosts"] as? [String: Any])
        #expect((hosts["rows"] as? [Any])?.count == 7)
        let signing = try #require(report["signing"] as? [String: Any])
        let log = try #require(report["log"] as? [String: Any])
        #expect(["recorded", "stored", "repeated"].map { log[$0] as? Int } == [90, 90, 30])
        let train = try #require(report["train"] as? [String: Any])
        let counts = ["openings", "detailRequests", "changes", "effects", "repeated"].map { train[$0] as? Int }
        #expect(counts == [2, 1, 3, 3, 1])
        let chat = try #require(report["chat"] as? [String: Any])
        #expect(["written", "offline", "missed", "stored"].map { chat[$0] as? Int } == [5, 2, 1, 5])
        let saving = try #require(report["saving"] as? [String: Any])
        let counted = ["favourites", "pictures", "drafts", "offers", "left"].map { saving[$0] as? Int }
        #expect(counted == [1, 1, 1, 1, 1] && saving["homes"] as? Int ?? 0 > 0)
        let devices = try #require(report["devices"] as? [String: Any])
        #expect(["offline", "conflictsAsked", "waiting"].map { devices[$0] as? Int } == [5, 1, 0])
        #expect(devices["equal"] as? Bool == true)
        let bundles = try #require(report["bundles"] as? [String: Any])
        #expect(["condemned", "returnedTo", "recorded", "installed"].map { bundles[$0] as? Int } == [3, 2, 5, 40])
        let views = try #require(report["views"] as? [String: Any])
        #expect(["version", "nodes", "edits"].map { views[$0] as? Int } == [2, 9, 1])
        #expect((signing["rows"] as? [[String: Any]])?.map { $0["accepted"] as? Int } == [1, 0, 0, 0, 1, 40])
        #expect(calls == sent + notSent.values.reduce(0, +))
        #expect(
            report["requestsOnTheWire"] as? Int == sent + repeated.values.reduce(0, +) + envelopes.count)
    }

    @Test(arguments: ["1", "7"])
    func itsStoryFitsATerminal(seed: String) async throws {
        let tool = try await Tool.run("demo", "--seed", seed)

        #expect(tool.status == 0)
        let lines = tool.output.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        #expect(lines.count <= 121)
        for line in lines { #expect(line.displayWidth <= 80, "\(line)") }
        #expect(!tool.output.contains("\u{1B}"))
        for part in DemoPart.allCases {
            #expect(tool.output.contains(part.action) && tool.output.contains(part.effect))
        }
        // Below the action and its effect stand one or two rows of the screen; six attempts take three rows, and so do a question and two
        // notes. No call of the screen that is left lands.
        for part in DemoPart.allCases where part != .addresses {
            let rows = lines.drop { !$0.hasPrefix(part.action) }.dropFirst(2).prefix { !$0.isEmpty }
            let counts = part == .leaving ? 0...0 : [.signing, .devices].contains(part) ? 3...3 : 1...2
            #expect(counts.contains(rows.count) && rows.allSatisfy { $0.hasPrefix("    ") }, "\(part): \(rows)")
        }
        // An error is a whole sentence for the user.
        for sentence in [
            "The service says: no listing \"E000000\".", "Pages are counted from 1, not from 0.",
            "The server refused it (status 500).", "The server is busy. Try again later.",
            "The service is down. Try again soon.",
        ] { #expect(lines.contains("    ⚠︎ \(sentence)"), "\(sentence)") }
        #expect(
            lines.contains {
                $0.hasPrefix("The user opens the same home six times") && $0.hasSuffix(" 6 calls, 1 request")
            })
        for part in DemoPart.allCases where part != .addresses {
            let title = try #require(lines.first { $0.hasPrefix(part.action) })
            let (cause, effect) = (
                "call|action|message|home|change|device|node", "requests?|stored|conflicts?|in 30 %|edits?"
            )
            let cost = try Regex(" \\d+ (\(cause))s?, \\d+ (\(effect))$")
            #expect(title.contains(cost), "\(title)")
        }
        #expect(lines.contains("     9 merged with others into one request     1 for several calls"))
        // What others tried, and what became of it, two in a line.
        for attempt in [
            "An enrolled key: accepted", "A forged call: 401 wrong signature", "A replayed call: 401 seen before",
            "A tampered call: 400 body changed", "A stale clock: 401 too old, then accepted",
            "A rotated key: all 40 accepted",
        ] {
            #expect(lines.contains { $0.hasPrefix("    ") && $0.contains(attempt) }, "\(tool.output)")
        }
        for title in ["In all, on the app's screens"] + DemoPart.allCases.map(\.action) {
            let index = try #require(lines.firstIndex { $0.hasPrefix(title) })
            #expect(index == lines.startIndex || lines[index - 1].isEmpty, "no blank line precedes \(title)")
        }
        #expect(lines.last == "Everything was as expected. --verbose prints what was decided for each call.")
    }

    @Test(arguments: DemoPart.allCases)
    func everyPartCanBePlayedAlone(part: DemoPart) async throws {
        let tool = try await Tool.run("demo", "--scene", part.rawValue)

        #expect(tool.status == 0 && tool.errors.isEmpty, "\(tool.output)")
        let others = DemoPart.allCases.filter { $0 != part }
        #expect(tool.output.contains(part.action))
        for other in others { #expect(!tool.output.contains(other.action)) }
    }

    @Test func unknownPartIsRefusedWithTheKnownOnes() async throws {
        let tool = try await Tool.run("demo", "--scene", "nothing")

        #expect(tool.status == 2)
        #expect(tool.output.isEmpty)
        for part in DemoPart.allCases { #expect(tool.errors.contains(part.rawValue)) }
    }

    @Test func verboseOutputHasEveryCall() async throws {
        let tool = try await Tool.run("demo", "--scene", "cache", "--verbose")

        #expect(tool.status == 0)
        #expect(tool.output.components(separatedBy: " second-hand SecondHandDetail succeeded after ").count == 7)
        #expect(tool.output.contains("A details screen opened six times"))
    }

    @Test(arguments: [DemoPart.signing, .addresses, .log])
    func verboseToursPrintNoEmptyTotals(part: DemoPart) async throws {
        let tool = try await Tool.run("demo", "--scene", part.rawValue, "--verbose")

        #expect(tool.status == 0 && tool.output.hasPrefix("— "), "\(tool.output)")
        #expect(!tool.output.contains("— Totals"))
        #expect(tool.output.contains(" succeeded after ") == (part != .log), "\(tool.output)")
    }

    @Test func totalsAndAddressTableAreTheEnd() async throws {
        let tool = try await Tool.run("demo", "--seed", "2")

        let titles = ["In all"] + DemoPart.allCases.map(\.action)
        let order = tool.output.split(separator: "\n").compactMap { line in titles.first { line.hasPrefix($0) } }
        #expect(order.suffix(2) == ["In all", DemoPart.addresses.action] && order.count == titles.count)
    }

    @Test func terminalShowsTheTableOfAddressesInColour() async throws {
        let tool = try RunningTool("demo", "--scene", "addresses", streams: .terminal)
        _ = await tool.end()

        let lines = tool.output.replacing("\r\n", with: "\n").split(separator: "\n")
        let table = lines.drop { !$0.contains("dialled") }.prefix { $0.hasPrefix("  ") }
        #expect(table.count == 8, "\(tool.output)")
        let used = table.dropFirst().map { $0.contains("\u{1B}[32m") || $0.contains("\u{1B}[31mnone") }
        #expect(used.allSatisfy { $0 } && table.first?.contains("\u{1B}[1mused") == true)
        // The styles take no column.
        for line in table { #expect(line.replacing(/\u{1B}\[\d+m/, with: "").displayWidth == 80, "\(line)") }
    }

    @Test func aTerminalShowsItsTitlesInBold() async throws {
        let tool = try RunningTool("demo", "--scene", "map", streams: .terminal)
        _ = await tool.end()

        #expect(tool.output.contains("\u{1B}[1m\(DemoPart.map.action)"))
    }
}
