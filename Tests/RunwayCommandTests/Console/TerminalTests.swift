import Foundation
import HTTPTypes
import RunwayTestServer
import RunwayTesting
import Testing

/// What is drawn where a person looks, on a real pseudo-terminal.
@Suite(.timeLimit(.minutes(10)))
struct TerminalTests {
    /// Runs `runway call GET` on a terminal for one response; returns everything that stayed on it.
    ///
    /// On a busy machine, a progress line may have been drawn and removed.
    private func standing(
        _ response: ScriptedResponse, _ arguments: String..., environment: [String: String] = [:]
    ) async throws -> String {
        try await withScriptedOrigin { origin in
            origin.on("/x", respond: response)
            let tool = try RunningTool(
                ["call", "GET", "\(origin.baseURL)/x"] + arguments, streams: .terminal, environment: environment)
            _ = await tool.end()
            return tool.output.components(separatedBy: "\r\u{1B}[2K").last ?? ""
        }
    }

    @Test func jsonIsColouredByKind() async throws {
        let text = try await standing(.json(#"{"name":["x",-1.5,true]}"#))

        #expect(
            text.replacingOccurrences(of: "\r", with: "") == """
                {
                  \u{1B}[34m"name"\u{1B}[0m: [
                    \u{1B}[32m"x"\u{1B}[0m,
                    \u{1B}[36m-1.5\u{1B}[0m,
                    \u{1B}[35mtrue\u{1B}[0m
                  ]
                }

                """)
    }

    @Test(arguments: [["NO_COLOR": "1"], ["TERM": "dumb"]])
    func noColourIsDrawnWhereNoneIsWanted(environment: [String: String]) async throws {
        let text = try await standing(
            .json(#"{"a":1}"#, status: .notFound), "--headers", "--verbose", environment: environment)

        #expect(text.contains("404"))
        #expect(!text.contains("\u{1B}"))
    }

    @Test func anErrorIsRed() async throws {
        #expect(
            try await standing(.status(.notFound)).contains(
                "\u{1B}[31mrunway:\u{1B}[0m The server responded with status 404"))
    }

    @Test func whatIsNotTextIsDescribed() async throws {
        let text = try await standing(.bytes([UInt8](repeating: 0, count: 10_240), contentType: "image/png"))

        #expect(text.contains("[10.2 kB of image/png, which is not text; --output FILE saves it]"))
        #expect(!text.contains("\0"))
    }

    @Test func aBodyThatIsStillCodedIsDescribed() async throws {
        let text = try await standing(ScriptedResponse.text("coded").header(.contentEncoding, "exi, identity"))

        #expect(text.contains("[5 bytes of text/plain; charset=utf-8 in the content coding exi, which is not text;"))
        #expect(!text.contains("coded\r\n"))
    }

    @Test func textInAnotherCharsetIsReadable() async throws {
        let text = try await standing(.bytes([0xC9, 0xCF, 0xBA, 0xA3], contentType: "text/plain; charset=gbk"))

        #expect(text == "上海\r\n")
    }

    @Test func aProgressLineIsRemovedBeforeTheResponse() async throws {
        try await withScriptedOrigin { origin in
            let gate = ScriptedGate()
            origin.on("/x", respond: ScriptedResponse.text("here").held(by: gate))
            let tool = try RunningTool("call", "GET", "\(origin.baseURL)/x", streams: .terminal)
            try await tool.wait(for: "Waiting for 127.0.0.1:\(origin.port), ")
            gate.open()

            #expect(await tool.end() == 0)
            #expect(tool.output.hasSuffix("\r\u{1B}[2Khere\r\n"))
        }
    }

    @Test func receivedBytesOfADownloadAreCounted() async throws {
        try await withScriptedOrigin { origin in
            let gate = ScriptedGate()
            let body = ScriptedResponse.chunks([String(repeating: "x", count: 123_456), "rest"])
            origin.on("/x", respond: body.pausing(.beforeChunk(1), .gate(gate)))
            try await withTemporaryFolder { folder in
                let file = folder.appendingPathComponent("body")
                let tool = try RunningTool(
                    "call", "GET", "\(origin.baseURL)/x", "--output", file.path, streams: .terminal)
                try await tool.wait(for: "Received 123 kB")
                gate.open()

                #expect(await tool.end() == 0)
                #expect(tool.output.hasSuffix("\r\u{1B}[2K"))
                #expect(try Data(contentsOf: file).count == 123_460)
            }
        }
    }
}
