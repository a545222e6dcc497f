import Foundation
import Synchronization

/// The line at the bottom of a terminal that shows the progress of long work. It is drawn on standard error, and only
/// if that is a terminal.
///
/// Any other output to a terminal removes the line first.
enum ProgressLine {
    /// The time after which the line appears.
    static let patience = Duration.milliseconds(500)
    private static let interval = Duration.milliseconds(100)

    /// Whether the line is on the screen. The lock guards the value, and is held while the line is drawn or removed.
    private static let isDrawn = Mutex(false)

    /// Runs `work`. Shows the text of `describe` if `work` takes longer than ``patience``.
    ///
    /// - Parameter describe: Returns the text for the elapsed time; `nil` shows no line. It must return immediately.
    static func during<Value>(
        _ describe: @escaping @Sendable (_ elapsed: Duration) -> String?,
        _ work: () async throws -> Value
    ) async rethrows -> Value {
        guard Console.error.canRedraw else { return try await work() }
        let ticker = Task {
            let clock = ContinuousClock()
            let start = clock.now
            var tick = start + patience
            var turn = 0
            while (try? await clock.sleep(until: tick)) != nil {
                // `end` cancels this task, waits for it, and then removes the line. So the line never reappears.
                draw(describe(clock.now - start), turn: turn)
                turn += 1
                tick = clock.now + interval
            }
        }
        do {
            let value = try await work()
            await end(ticker)
            return value
        } catch {
            await end(ticker)
            throw error
        }
    }

    private static func end(_ ticker: Task<Void, Never>) async {
        ticker.cancel()
        await ticker.value
        wipe()
    }

    private static func draw(_ text: String?, turn: Int) {
        guard let text else { return wipe() }
        let frames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"]
        let console = Console.error
        // A line that wraps can't be removed, so the line is shorter than the terminal's width.
        let line = "\(frames[turn % frames.count]) \(text)".fitted(to: max(console.columns - 1, 0))
        isDrawn.withLock { isDrawn in
            isDrawn = true
            let text = ConsoleText(line, .dim, for: console)
            try? console.descriptor.writeAll(Array("\r\u{1B}[2K\(text.rendered)".utf8))
        }
    }

    static func wipe() {
        isDrawn.withLock { isDrawn in
            guard isDrawn else { return }
            isDrawn = false
            try? Console.error.descriptor.writeAll(Array("\r\u{1B}[2K".utf8))
        }
    }
}
