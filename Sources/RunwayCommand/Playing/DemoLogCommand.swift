import ArgumentParser
import Foundation
import RunwayDemo

/// Runs the log tour of `runway demo` in a process of its own, so that the demo can kill it.
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
