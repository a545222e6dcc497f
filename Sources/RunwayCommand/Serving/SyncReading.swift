import ArgumentParser
import Foundation
import Runway
import RunwayServer
import RunwaySyncCore

struct ListSpaces: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "spaces", abstract: "List the spaces.")

    @OptionGroup var place: SyncPlaceArgument
    @Flag(help: "Print one JSON object a line.") var json = false
    @OptionGroup var colour: ColourOption

    private struct Line: Encodable {
        let space: String
        let epoch: String
        let head: Int64
        let horizon: Int64
        let logBytes: Int64
    }

    func run() async throws {
        try await place.reading { store in
            try await store.forEachSpace { space in
                if json {
                    let line = Line(
                        space: space.id.lowercase, epoch: space.epoch.lowercase, head: space.head,
                        horizon: space.horizon, logBytes: space.logByteCount)
                    return try Console.output.write(line.jsonLine())
                }
                var text = ConsoleText(space.id.lowercase, .bold, for: .output)
                text.append("  log \(space.horizon + 1)–\(space.head), \(space.logByteCount) bytes")
                text.append("  epoch \(space.epoch.lowercase)\n", .dim)
                try Console.output.write(text)
            }
        }
    }
}

struct ListDevices: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "devices", abstract: "List the devices that have pushed to a space.")

    @OptionGroup var place: SyncPlaceArgument
    @OptionGroup var space: SpaceArgument
    @Flag(help: "Print one JSON object a line.") var json = false
    @OptionGroup var colour: ColourOption

    private struct Line: Encodable {
        let device: String
        let subject: String?
        let operations: Int64
        let isClosed: Bool
    }

    func run() async throws {
        try await place.reading { store in
            let space = try await space.find(in: store).id
            var last: UUID?
            repeat {
                let page = try await store.devices(in: space, after: last)
                for device in page { try print(device) }
                last = page.last?.id
            } while last != nil
        }
    }

    private func print(_ device: SyncSpaceDevice) throws {
        if json {
            let line = Line(
                device: device.id.lowercase, subject: device.subject, operations: device.operationCount,
                isClosed: device.isClosed)
            return try Console.output.write(line.jsonLine())
        }
        var text = ConsoleText(device.id.lowercase, .bold, for: .output)
        text.append("  \(device.operationCount) operations")
        if let subject = device.subject { text.append("  of \(subject.oneLine)") }
        text.append(device.isClosed ? "  closed\n" : "\n")
        try Console.output.write(text)
    }
}

struct PrintLog: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "log", abstract: "Print the log of a space, one change a line.")

    @OptionGroup var place: SyncPlaceArgument
    @OptionGroup var space: SpaceArgument
    @Option(help: ArgumentHelp("Begin after this entry.", valueName: "number")) var after: Int64 = 0
    @OptionGroup var colour: ColourOption

    func run() async throws {
        try await place.reading { store in
            let space = try await space.find(in: store).id
            var last = after
            while case let page = try await store.log(of: space, after: last), let newest = page.last {
                for commit in page { try Console.output.write(Self.text(of: commit)) }
                last = newest.number
            }
        }
    }

    private static func text(of commit: SyncCommit) -> ConsoleText {
        var text = ConsoleText("\(commit.number)", .bold, for: .output)
        text.append("  \(commit.id.lowercase)  \(commit.subject?.oneLine ?? "the server")\n")
        for change in commit.changes {
            let values = change.values.map { values in
                values.sorted { $0.key < $1.key }.map { "\($0.key)=\(description(of: $0.value))" }.joined(
                    separator: " ")
            }
            text.append("    \(change.table) \(change.row.lowercase) \(values ?? "deleted")".oneLine + "\n")
        }
        return text
    }

    /// Shortens long texts and bytes.
    private static func description(of value: SyncValue) -> String {
        switch value {
        case .null: "null"
        case .integer(let number): "\(number)"
        case .real(let number): "\(number)"
        case .text(let text): "\"\(text.prefix(40))\(text.count > 40 ? "…" : "")\""
        case .bytes(let bytes): "\(bytes.count) bytes"
        }
    }
}
