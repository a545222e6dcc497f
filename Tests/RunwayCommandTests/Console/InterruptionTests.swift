import Foundation
import RunwayTestServer
import RunwayTesting
import Testing

/// Ctrl-C and SIGTERM: what was begun stops at once, and leaves nothing behind.
///
/// The exit codes prove it: work that went on would wait for longer than a test may last, or end with another code.
@Suite(.timeLimit(.minutes(10)))
struct InterruptionTests {
    @Test(arguments: [SIGINT, SIGTERM])
    func aCallThatWaitsEndsAtOnce(signal: Int32) async throws {
        try await withScriptedOrigin { origin in
            origin.on("/x", respond: .never)
            var output = ""
            // On a machine that stands still, a call may be ended before it prints its record.
            for count in 1...5 where !output.contains("call request cancelled after") {
                let tool = try RunningTool("call", "GET", "\(origin.baseURL)/x", "--verbose", "--timeout", "3600")
                try await origin.waitForRequests(count: count)
                tool.signal(signal)

                #expect(await tool.end() == 128 + signal)
                output = tool.output
                try await origin.waitForDisconnects(count: count)
            }
            #expect(output.contains("call request cancelled after"))
        }
    }

    @Test func outputFileThatIsHalfWrittenIsRemoved() async throws {
        try await withScriptedOrigin { origin in
            let gate = ScriptedGate()
            let body = ScriptedResponse.chunks([String(repeating: "x", count: 100_000), "rest"])
            origin.on("/x", respond: body.pausing(.beforeChunk(1), .gate(gate)))
            try await withTemporaryFolder { folder in
                let file = folder.appendingPathComponent("body")
                let tool = try RunningTool(
                    "call", "GET", "\(origin.baseURL)/x", "--output", file.path, "--timeout", "3600", streams: .terminal
                )
                // The progress line says so only when the first part was received, and so written to the temporary file.
                try await tool.wait(for: "Received 100")
                #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 1)
                tool.signal(SIGINT)

                #expect(await tool.end() == 130)
                #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
            }
        }
    }

    @Test func waitForATypedBodyEndsAtOnce() async throws {
        let tool = try RunningTool("call", "POST", "http://127.0.0.1:1/", "--body", "-", streams: .terminal)
        try await tool.wait(for: "Write the body")
        tool.signal(SIGINT)

        #expect(await tool.end() == 130)
    }

    /// At whatever moment it comes, while the backend and the apps' connections are being made or later.
    @Test(arguments: [0, 20, 60, 150]) func aDemoEndsAtOnce(afterMilliseconds delay: Int) async throws {
        var status: Int32 = 0
        // A test that stood still may have been later than the end of the demo.
        for _ in 1...5 where status == 0 {
            let tool = try RunningTool("demo", streams: .terminal)
            // What the progress line begins with.
            try await tool.wait(for: "\u{1B}[2K")
            try await Task.sleep(for: .milliseconds(delay))
            tool.signal(SIGINT)
            status = await tool.end()
        }
        #expect(status == 130)
    }
}
