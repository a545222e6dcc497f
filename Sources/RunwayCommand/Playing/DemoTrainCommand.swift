import ArgumentParser
import Foundation
import RunwayDemo

/// Runs the train tour of `runway demo` in processes of its own, so that the demo can kill two of them and start them
/// again.
struct DemoTrainCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: TrainTour.commandName, shouldDisplay: false)

    @Argument(transform: { name in
        guard let run = TrainTour.Run(rawValue: name) else { throw ValidationError("There is no run \"\(name)\".") }
        return run
    })
    var run: TrainTour.Run
    @Argument var folder: String
    @Argument var url: String

    func run() async throws { try await TrainTour.use(run, in: URL(fileURLWithPath: folder), calling: url) }
}
