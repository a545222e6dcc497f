import Foundation
import RunwayTesting
import Testing

@testable import RunwayDemo

/// Processes that the demo and the crash test start.
@Suite(.timeLimit(.minutes(5)))
struct ChildProcessTests {
    private func shell(_ script: String) throws -> ChildProcess {
        try ChildProcess(["-c", script], of: URL(filePath: "/bin/sh"))
    }

    @Test func linesAreReadOneByOne() async throws {
        // Two lines that come at once, and one in two parts.
        let process = try shell(#"printf 'one\ntwo\nthr'; printf 'ee\nrest'; exit 7"#)
        for line in ["one", "two", "three", nil] { #expect(await process.nextLine() == line) }
        #expect(await process.end() == 7)
    }

    @Test func killedProcessHasEndedAfterwards() async throws {
        let process = try shell("echo $$; exec sleep 600")
        let id = try #require(await process.nextLine().flatMap { Int32($0) })
        try await process.kill()
        #expect(kill(id, 0) == -1)
    }

    /// The crash tests leave no process behind when they fail, since errors release what they started.
    @Test func releasedProcessIsKilled() async throws {
        var process: ChildProcess? = try shell("echo $$; exec sleep 600")
        let line = await process?.nextLine()
        let id = try #require(line.flatMap { Int32($0) })
        process = nil
        try await waitUntil("the end of the process") { kill(id, 0) == -1 }
    }

    @Test func processThatEndedByItselfCannotBeKilled() async throws {
        let process = try shell("exit 3")
        #expect(await process.nextLine() == nil)
        while process.isRunning { try await Task.sleep(for: .milliseconds(1)) }
        let error = await #expect(throws: ChildProcess.EndedByItself.self) { try await process.kill() }
        #expect(error?.status == 3)
    }
}
