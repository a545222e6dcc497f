import ArgumentParser
import Synchronization

/// The condition for colours in the output, which `--color` sets for the whole process.
enum ColourMode: String, ExpressibleByArgument, CaseIterable, Sendable {
    case always
    /// On a terminal that shows them, unless `NO_COLOR` is set.
    case auto
    case never

    /// Guards the mode of the process.
    private static let mode = Mutex(ColourMode.auto)

    static var current: ColourMode {
        get { mode.withLock { $0 } }
        set { mode.withLock { $0 = newValue } }
    }
}

/// The option `--color`, which several commands have.
struct ColourOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "When to use colours: always, never, or auto, which is on a terminal.", valueName: "when"))
    var color = ColourMode.auto

    /// Sets the mode, so that error messages about the rest of the command line have it, too.
    func validate() { ColourMode.current = color }
}
