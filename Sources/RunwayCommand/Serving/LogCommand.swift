import ArgumentParser
import Foundation
import Runway

/// `runway log`: counts the records in a store of action logs.
struct LogCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "log", abstract: "Count the records of action logs by installation and name.",
        usage: "runway log <place> [<options>]",
        discussion: """
            Reads what "runway serve --log" stored, also while that is running. The
            place is a file, or the URL of a PostgreSQL database.

            EXAMPLES
              runway log actions.sqlite
              runway log actions.sqlite --json
              runway log postgres://localhost/actions

            EXIT CODES
              0    Everything was fine.
              2    The command line can't be used, or the log can't be read.
            """)

    @Argument(help: "A file, or postgres://….", completion: .file())
    var place: String

    @Flag(help: "Print one JSON object for programs.")
    var json = false

    @OptionGroup var colour: ColourOption

    private struct Installation: Encodable {
        let installation: String
        let records: Int
        let names: [String: Int]
    }

    private struct Content: Encodable {
        let records: Int
        let installations: [Installation]
    }

    func run() async throws {
        let counts = try await LogPlace(place).counts()
        let groups = Dictionary(grouping: counts, by: \.installation).sorted { $0.key.uuidString < $1.key.uuidString }
        if json {
            let installations = groups.map { installation, counts in
                Installation(
                    installation: installation.uuidString.lowercased(), records: counts.reduce(0) { $0 + $1.count },
                    names: Dictionary(counts.map { ($0.name, $0.count) }, uniquingKeysWith: +))
            }
            let content = Content(
                records: counts.reduce(0) { $0 + $1.count }, installations: installations)
            return try Console.output.write(content.jsonText())
        }
        try Console.output.write(Self.table(of: groups, for: .output))
    }

    /// Returns a table with the number of records for each installation of the app and each name of a record. The
    /// numbers are aligned.
    private static func table(
        of groups: [(key: UUID, value: [(installation: UUID, name: String, count: Int)])], for console: Console
    ) -> ConsoleText {
        let total = groups.flatMap(\.value).reduce(0) { $0 + $1.count }
        var text = ConsoleText(for: console)
        func aligned(_ count: Int) -> String {
            String(repeating: " ", count: "\(total)".count - "\(count)".count) + "\(count)"
        }
        for (installation, counts) in groups {
            text.append(aligned(counts.reduce(0) { $0 + $1.count }), .bold)
            text.append("  installation \(installation.uuidString.lowercased())\n", .bold)
            for count in counts { text.append("\(aligned(count.count))    \(count.name.oneLine)\n") }
        }
        text.append("\(total)  in all, from \(groups.count) installation\(groups.count == 1 ? "" : "s")\n", .dim)
        return text
    }
}
