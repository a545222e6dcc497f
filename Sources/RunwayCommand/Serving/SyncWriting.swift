import ArgumentParser
import Foundation
import Runway
import RunwayServer

struct TrimLog: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trim", abstract: "Remove old entries of the logs.",
        discussion: """
            A device that has not seen the removed entries reads all rows anew. A server
            trims the logs of spaces to which devices write by itself.
            """)

    @OptionGroup var place: SyncPlaceArgument
    @Option(help: ArgumentHelp("Remove entries that are older.", valueName: "n")) var days = 30
    @Option(help: ArgumentHelp("Remove the oldest entries of a larger log.", valueName: "n")) var megabytes = 256
    @OptionGroup var colour: ColourOption

    func validate() throws {
        if !(0...36_500).contains(days) { throw ValidationError("--days needs a number from 0 to 36500, not \(days).") }
        if !(0...1_000_000).contains(megabytes) {
            throw ValidationError("--megabytes needs a number from 0 to 1000000, not \(megabytes).")
        }
    }

    func run() async throws {
        let limits = SyncLogLimits(
            maximumAge: .seconds(86_400 * days), maximumByteCount: Int64(megabytes) << 20)
        try await place.writing { store in
            try await store.forEachSpace { space in
                try await store.trimLog(of: space.id, to: limits)
                guard let trimmed = try await store.space(space.id) else { return }
                var text = ConsoleText(space.id.lowercase, .bold, for: .output)
                text.append("  \(trimmed.horizon - space.horizon) entries removed\n")
                try Console.output.write(text)
            }
        }
    }
}

struct BeginEpoch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "epoch", abstract: "Begin a new epoch of all spaces after a backup was restored.",
        discussion: """
            Devices then find out at once which of their operations the backup lacks, and
            send them again. Run it once, before the server runs again.
            """)

    @OptionGroup var place: SyncPlaceArgument
    @OptionGroup var colour: ColourOption

    func run() async throws {
        try await place.writing { store in
            try await store.forEachSpace { space in
                let epoch = try await store.beginEpoch(in: space.id)
                var text = ConsoleText(space.id.lowercase, .bold, for: .output)
                text.append("  epoch \(epoch.lowercase)\n")
                try Console.output.write(text)
            }
        }
    }
}

struct MarkBackup: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Record what a backup contains.",
        discussion: """
            Devices hold acknowledged changes for 30 days, in case the server is
            restored. They remove those that a backup contains. The backup is a place,
            too: a copy of the file, or a database that it was restored to.
            """)

    @OptionGroup var place: SyncPlaceArgument
    @Argument(help: "The backup: a file, or postgres://….", completion: .file()) var backup: String
    @OptionGroup var colour: ColourOption

    func run() async throws {
        var heads: [(space: UUID, head: Int64)] = []
        let source = try await SyncPlace(backup).openForReading()
        let result: Result<Void, any Error>
        do {
            try await source.store.forEachSpace { heads.append(($0.id, $0.head)) }
            result = .success(())
        } catch {
            result = .failure(CommandFailure("The backup can't be read. \(error)"))
        }
        try? await source.close()
        try result.get()
        try await place.writing { [heads] store in
            for (space, head) in heads {
                try await store.markBackup(of: space, through: head)
                var text = ConsoleText(space.lowercase, .bold, for: .output)
                text.append("  backup through \(head)\n")
                try Console.output.write(text)
            }
        }
    }
}

struct CloseDevice: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "close", abstract: "Close the id of a device in a space.",
        discussion: """
            The device removes the rows of the space at its next request, and shows what
            it had not sent as refused. If its account may still read the space, it
            returns under another id.
            """)

    @OptionGroup var place: SyncPlaceArgument
    @OptionGroup var space: SpaceArgument
    @Argument(help: "The id of the device, a UUID.") var device: String
    @OptionGroup var colour: ColourOption

    func run() async throws {
        guard let id = UUID(uuidString: device) else { throw CommandFailure("\(device) is no UUID.") }
        try await place.writing { store in
            let space = try await space.find(in: store)
            guard try await store.close(device: id, in: space.id) else {
                throw CommandFailure("The space has no device \(device).", status: ExitStatus.refused)
            }
        }
    }
}
