import Foundation

/// A process of this program, which is killed with its owner.
final class ChildProcess {
    private let process = Process()
    private let output = Pipe()
    private let endings: AsyncStream<Int32>

    init(_ arguments: [String]) throws {
        let (endings, ending) = AsyncStream<Int32>.makeStream()
        self.endings = endings
        process.executableURL = Bundle.main.executableURL
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.terminationHandler = { process in
            ending.yield(process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus)
            ending.finish()
        }
        try process.run()
    }

    deinit { if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) } }

    /// The first line of its output; `nil` if it ends without one. It blocks.
    var firstLine: String? {
        var text = ""
        while !text.hasSuffix("\n") {
            let part = output.fileHandleForReading.availableData
            if part.isEmpty { return nil }
            text += String(decoding: part, as: UTF8.self)
        }
        return String(text.dropLast())
    }

    /// Kills it, and returns when it has ended.
    ///
    /// - Throws: ``CrashFailure`` if it had ended by itself.
    func kill() async throws {
        Foundation.kill(process.processIdentifier, SIGKILL)
        let status = await end()
        guard status == -SIGKILL else { throw CrashFailure("a process had ended by itself, with \(status)") }
    }

    /// Waits for its end; returns the exit code, or the negated signal.
    func end() async -> Int32 { await endings.first { _ in true } ?? -1 }
}
