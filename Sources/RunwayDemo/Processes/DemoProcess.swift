import Foundation
import Synchronization

/// A process of the demo, which is killed with its owner.
final class DemoProcess {
    private let process = Process()
    private let texts: AsyncStream<String>
    private let endings: AsyncStream<Int32>

    init(_ program: URL, _ arguments: [String]) throws {
        let (texts, text) = AsyncStream<String>.makeStream()
        let (endings, ending) = AsyncStream<Int32>.makeStream()
        (self.texts, self.endings) = (texts, endings)
        let output = Pipe()
        process.executableURL = program
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.terminationHandler = { process in
            ending.yield(process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus)
            ending.finish()
        }
        try process.run()
        let reader = output.fileHandleForReading
        // A thread of its own: a read waits for as long as the process likes.
        Thread.detachNewThread {
            let bytes = reader.availableData
            if !bytes.isEmpty { text.yield(String(decoding: bytes, as: UTF8.self)) }
            text.finish()
        }
    }

    deinit { kill() }

    /// Waits until it has written something, and returns that.
    ///
    /// - Throws: `CancellationError` if it ended without.
    @discardableResult
    func firstLine() async throws -> String {
        guard let text = await texts.first(where: { _ in true }) else { throw CancellationError() }
        return text
    }

    /// Ends it at once, as `kill -9` does.
    func kill() { if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) } }

    /// Waits for its end; returns the exit code, or the negated signal.
    @discardableResult
    func end() async -> Int32 { await endings.first { _ in true } ?? -1 }

    /// Writes a line for the process that started this one, and waits to be killed.
    ///
    /// - Throws: `CancellationError` if that does not happen within ten minutes.
    static func waitForKill(saying line: String) async throws {
        FileHandle.standardOutput.write(Data("\(line)\n".utf8))
        try await Task.sleep(for: .seconds(600))
        throw CancellationError()
    }
}

/// A number that is counted up.
final class ReceivedCount: Sendable {
    private let count = Atomic(0)

    var value: Int { count.load(ordering: .relaxed) }

    @discardableResult
    func add(_ number: Int) -> Int { count.wrappingAdd(number, ordering: .relaxed).newValue }
}
