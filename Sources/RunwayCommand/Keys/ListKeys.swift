import ArgumentParser
import RunwaySignatures

/// `runway keys list`: prints the keys of a file.
struct ListKeys: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the keys of a file, without the keys themselves.",
        usage: "runway keys list <file> [<options>]")

    @OptionGroup var file: KeyFileArgument

    @Flag(help: "Print one JSON object for programs.")
    var json = false

    @OptionGroup var colour: ColourOption

    private struct Row: Encodable {
        let id: String
        let alg: String
        let owner: String
        let state: String
        let signs: Bool
        let notBefore: Int64?
        let notAfter: Int64?
    }

    func run() throws {
        let now = UnixTime.current
        let rows = try file.ring().entries.map { entry in
            Row(
                id: entry.id, alg: entry.alg, owner: entry.owner, state: try entry.state(at: now),
                signs: entry.signingText != nil, notBefore: entry.notBefore, notAfter: entry.notAfter)
        }
        if json { return try Console.output.write(["keys": rows].jsonText()) }
        for row in rows {
            var text = ConsoleText(row.id, .bold, for: .output)
            text.append("  \(row.alg)\(row.signs ? "" : ", verifies only"), of \(row.owner): ")
            text.append(row.state, row.state == "active" ? .green : .yellow)
            if let notBefore = row.notBefore { text.append(", from \(Self.date(notBefore))") }
            if let notAfter = row.notAfter { text.append(", until \(Self.date(notAfter))") }
            text.append("\n")
            try Console.output.write(text)
        }
    }
}
