import Foundation
import HTTPTypes
import RunwayTesting
import Testing

/// What `runway call` shows of an answer where no terminal is.
@Suite(.timeLimit(.minutes(10)))
struct AnswerTests {
    /// Runs `runway call GET` for one answer.
    private func shown(_ response: ScriptedResponse, _ arguments: String...) async throws -> Tool {
        try await withScriptedOrigin { origin in
            origin.on("/x", respond: response)
            return try await Tool.run(
                Tool.path, ["call", "GET", "\(origin.baseURL)/x"] + arguments, input: [], environment: [:])
        }
    }

    @Test func jsonIsIndentedAndItsNumbersKeepTheirDigits() async throws {
        let tool = try await shown(.json(#"{"a" : [1.10, 12345678901234567890,{}, [] ],"b":{"c":"x\"\u4e0a"}}"#))

        #expect(
            tool.output == #"""
                {
                  "a": [
                    1.10,
                    12345678901234567890,
                    {},
                    []
                  ],
                  "b": {
                    "c": "x\"\u4e0a"
                  }
                }

                """#)
        #expect(tool.errors.isEmpty)
        #expect(tool.status == 0)
    }

    @Test func anAnswerThatClaimsToBeJSONIsShownAsItCameWithARemark() async throws {
        let tool = try await shown(.json(#"{"a":"#))

        #expect(tool.output == #"{"a":"#)
        #expect(tool.errors.contains("is not"))
        #expect(tool.status == 0)
    }

    @Test func whatIsNotJSONGoesByteForByteIntoAFileOrPipe() async throws {
        let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0) }
        for type in ["image/png", "text/plain; charset=gbk", "text/plain"] {
            #expect(try await shown(.bytes(bytes, contentType: type)).bytes == bytes)
        }
    }

    @Test func dashAsOutputShowsJSONAsItCame() async throws {
        #expect(try await shown(.json(#"{"a":1}"#), "--output", "-").output == #"{"a":1}"#)
    }

    @Test func headersComeBeforeTheBody() async throws {
        let tool = try await shown(.text("body").header(.eTag, "\"1\""), "--headers")

        #expect(tool.output.hasPrefix("200 OK\n"))
        #expect(tool.output.contains("\nETag: \"1\"\n"))
        #expect(tool.output.hasSuffix("\n\nbody"))
    }

    @Test func theFlightRecordIsOnStandardErrorAlone() async throws {
        let tool = try await shown(.text("body"), "--verbose")

        #expect(tool.output == "body")
        #expect(tool.errors.contains("call request succeeded after"))
        #expect(tool.errors.contains("judging: 200 is fine"))
    }

    @Test func anOutputFileHoldsTheBodyAsItCame() async throws {
        try await withTemporaryFolder { folder in
            let file = folder.appendingPathComponent("answer")
            let tool = try await shown(.json(#"{"a":1}"#), "--output", file.path)

            #expect(try String(contentsOf: file, encoding: .utf8) == #"{"a":1}"#)
            #expect(tool.bytes.isEmpty)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["answer"])
        }
    }

    @Test func aFileIsNeverReplacedByWhatARefusingServerSaysNorByHalfABody() async throws {
        let answers: [(ScriptedResponse, Int32, String)] = [
            (.json(#"{"error":1}"#, status: .notFound), 1, "{\n  \"error\": 1\n}\n"),
            (.text(String(repeating: "x", count: 5000)).cut(after: .bodyBytes(1000)), 3, ""),
        ]
        for (response, status, output) in answers {
            try await withTemporaryFolder { folder in
                let file = folder.appendingPathComponent("answer")
                try Data("old".utf8).write(to: file)
                let tool = try await shown(response, "--output", file.path)

                #expect(tool.status == status)
                #expect(tool.output == output)
                #expect(try String(contentsOf: file, encoding: .utf8) == "old")
                #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["answer"])
            }
        }
    }

    @Test func nothingButATerminalGetsEscapeCodes() async throws {
        let tool = try await shown(.json(#"{"a":[1,true,"x"]}"#, status: .notFound), "--headers", "--verbose")

        #expect(!tool.output.contains("\u{1B}"))
        #expect(!tool.errors.contains("\u{1B}"))
        #expect(tool.errors.contains("404"))
    }

    @Test func aReaderThatGoesAwayEndsTheCallQuietly() async throws {
        try await withScriptedOrigin { origin in
            origin.on("/x", respond: .bytes([UInt8](repeating: 0x61, count: 2 << 20), contentType: "text/plain"))
            let tool = try await Tool.shell("runway call GET \(origin.baseURL)/x | head -c 3")

            #expect(tool.output == "aaa")
            #expect(tool.errors.isEmpty)
        }
    }
}
