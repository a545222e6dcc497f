import Foundation
import RunwayTestServer
import RunwayTesting
import Testing

/// Ctrl-C and SIGTERM: what was begun stops at once, and leaves nothing behind.
@Suite(.timeLimit(.minutes(10)))
struct InterruptionTests {
    /// Far below every wait that the interrupted work would have, far above what a busy machine needs.
    static let bound = Duration.seconds(10)

    @Test(arguments: [SIGINT, SIGTERM])
    func aCallThatWaitsEndsAtOnce(signal: Int32) async throws {
        try await withScriptedOrigin { origin in
            origin.on("/x", respond: .never)
            let tool = try RunningTool("call", "GET", "\(origin.baseURL)/x", "--verbose")
            try await origin.waitForRequests(count: 1)
            let start = ContinuousClock.now
            tool.signal(signal)

            #expect(await tool.end() == 128 + signal)
            #expect(ContinuousClock.now - start < Self.bound)
            #expect(tool.output.contains("call request cancelled after"))
            try await origin.waitForDisconnects(count: 1)
        }
    }

    @Test func anOutputFileThatIsHalfWrittenIsRemoved() async throws {
        try await withScriptedOrigin { origin in
            let gate = ScriptedGate()
            let body = ScriptedResponse.chunks([String(repeating: "x", count: 100_000), "rest"])
            origin.on("/x", respond: body.pausing(.beforeChunk(1), .gate(gate)))
            try await withTemporaryFolder { folder in
                let file = folder.appendingPathComponent("body")
                let tool = try RunningTool(
                    "call", "GET", "\(origin.baseURL)/x", "--output", file.path, streams: .terminal)
                // The progress line says so only when the first part was received, and so written to the temporary file.
                try await tool.wait(for: "Received 100")
                #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 1)
                let start = ContinuousClock.now
                tool.signal(SIGINT)

                #expect(await tool.end() == 130)
                #expect(ContinuousClock.now - start < Self.bound)
                #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
            }
        }
    }

    @Test func waitForATypedBodyEndsAtOnce() async throws {
        let tool = try RunningTool("call", "POST", "http://127.0.0.1:1/", "--body", "-", streams: .terminal)
        try await tool.wait(for: "Write the body")
        let start = ContinuousClock.now
        tool.signal(SIGINT)

        #expect(await tool.end() == 130)
        #expect(ContinuousClock.now - start < Self.bound)
    }

    /// At whatever moment it comes, while the backend and the apps' connections are being made or later.
    @Test(arguments: [0, 20, 60, 150]) func aDemoEndsAtOnce(afterMilliseconds delay: Int) async throws {
        let tool = try RunningTool("demo", streams: .terminal)
        // What the progress line begins with.
        try await tool.wait(for: "\u{1B}[2K")
        try await Task.sleep(for: .milliseconds(delay))
        let start = ContinuousClock.now
        tool.signal(SIGINT)

        #expect(await tool.end() == 130)
        #expect(ContinuousClock.now - start < Self.bound)
    }
}
