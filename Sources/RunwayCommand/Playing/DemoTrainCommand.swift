import ArgumentParser
import Foundation
import RunwayDemo

/// What `runway demo` runs in processes of their own, to kill two and have them start again.
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
