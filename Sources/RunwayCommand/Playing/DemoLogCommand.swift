import ArgumentParser
import Foundation
import RunwayDemo

/// What `runway demo` runs in processes of their own, to kill one.
struct DemoLogCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: LogTour.commandName, shouldDisplay: false)

    @Argument var file: String
    @Argument var url: String
    @Argument var count: Int
    @Flag var untilKilled = false

    func run() async throws {
        try await LogTour.record(count, in: URL(fileURLWithPath: file), sendingTo: url, untilKilled: untilKilled)
    }
}
