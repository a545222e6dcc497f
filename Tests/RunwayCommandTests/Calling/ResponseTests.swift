import Foundation
import HTTPTypes
import RunwayTestServer
import Testing

/// What `runway call` prints of a response if there is no terminal.
@Suite(.timeLimit(.minutes(10)))
struct ResponseTests {
    /// Runs `runway call GET` for one response.
    private func shown(_ response: ScriptedResponse, _ arguments: String...) async throws -> Tool {
        try await withScriptedOrigin { origin in
            origin.on("/x", respond: response)
            return try await Tool.run(
                Tool.path, ["call", "GET", "\(origin.baseURL)/x"] + arguments, input: [], environment: [:])
        }
    }

    @Test func jsonIsIndentedWithItsDigits() async throws {
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

    @Test func invalidJSONBodyFailsTheCall() async throws {
        let tool = try await shown(.json(#"{"a":"#))

        #expect(tool.output == #"{"a":"#)
        #expect(tool.errors.contains("The body can't be read as the JSON that its Content-Type names."))
        #expect(tool.errors.contains("The body is not JSON"))
        #expect(tool.status == 1)
        // Without a body nothing is claimed.
        #expect(try await shown(.json("")).status == 0)
    }

    @Test func utf16JSONIsWrittenInUTF8() async throws {
        let bytes: [UInt8] =
            [0xFF, 0xFE] + #"{"token":"s3cret"}"#.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
        let tool = try await shown(.bytes(bytes, contentType: "application/json"))
        #expect(tool.output == "{\n  \"token\": \"s3cret\"\n}\n" && tool.status == 0)

        // Without its mark nothing says that it is not UTF-8.
        let unmarked = try await shown(.bytes(Array(bytes.dropFirst(2)), contentType: "application/json"))
        #expect(unmarked.bytes == Array(bytes.dropFirst(2)) && unmarked.status == 1)
        #expect(!unmarked.errors.contains("s3cret"))
    }

    @Test func tooDeepJSONIsNotReportedAsInvalid() async throws {
        let text = String(repeating: "[", count: 513) + String(repeating: "]", count: 513)
        let tool = try await shown(.json(text))

        #expect(tool.output == text)
        #expect(
            tool.errors.contains("The JSON exceeds the limits") && tool.errors.contains("at most depth 512"))
        #expect(!tool.errors.contains("is not") && !tool.errors.contains("not JSON"))
        #expect(tool.status == 0)
    }

    @Test func deepJSONDoesNotGrowByItsIndentation() async throws {
        let elements = String(repeating: "1,", count: 20_000) + "1"
        let text = String(repeating: "[", count: 511) + elements + String(repeating: "]", count: 511)
        let tool = try await shown(.json(text))

        #expect(tool.status == 0)
        #expect(tool.bytes.count < 40 * text.utf8.count)
        #expect(tool.output.filter { !" \n".contains($0) } == text)
    }

    @Test func codedBodyIsNotShownAsText() async throws {
        let coded = ScriptedResponse.json("{}").header(.contentEncoding, "aes128gcm")
        let piped = try await shown(coded)
        #expect(piped.output == "{}" && piped.errors.contains("the content coding aes128gcm") && piped.status == 0)

        let report = try await shown(coded, "--json")
        let response = try #require(
            (JSONSerialization.jsonObject(with: Data(report.bytes)) as? NSDictionary)?["response"] as? NSDictionary)
        #expect(response["body"] == nil)
        #expect(response["bodyBase64"] as? String == "e30=")
        #expect(response["contentCoding"] as? String == "aes128gcm")
    }

    @Test func otherBodiesAreWrittenByteForByte() async throws {
        let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0) }
        for type in ["image/png", "text/plain; charset=gbk", "text/plain"] {
            #expect(try await shown(.bytes(bytes, contentType: type)).bytes == bytes)
        }
    }

    @Test func textIsWrittenInUTF8() async throws {
        let koi8: [UInt8] = [0xCD, 0xC9, 0xD2]
        #expect(try await shown(.bytes(koi8, contentType: "text/plain; charset=\"koi8-r\"")).output == "мир")
        #expect(try await shown(.bytes(koi8, contentType: "text/plain; charset=koi8-r"), "-o", "-").bytes == koi8)
        let page = Array("<meta charset=koi8-r>".utf8) + koi8
        #expect(try await shown(.bytes(page, contentType: "text/html")).output.hasSuffix(">мир"))
        let json = Array("{\"a\":\"".utf8) + koi8 + Array("\"}".utf8)
        #expect(
            try await shown(.bytes(json, contentType: "application/json; charset=koi8-r")).output.contains("\"мир\""))
        let file: [UInt8] = [0xCD, 0x00, 0xD2]
        #expect(try await shown(.bytes(file, contentType: "text/plain; charset=koi8-r")).bytes == file)
        #expect(try await shown(.bytes(koi8, contentType: "application/zip; charset=koi8-r")).bytes == koi8)
    }

    @Test func reportHasTheTextAndWhatIsMalformed() async throws {
        func response(_ bytes: [UInt8], _ type: String) async throws -> NSDictionary {
            let report = try await shown(.bytes(bytes, contentType: type), "--json")
            return try #require(
                (JSONSerialization.jsonObject(with: Data(report.bytes)) as? NSDictionary)?["response"] as? NSDictionary)
        }
        let fine = try await response([0xCD, 0xC9, 0xD2], "text/plain; charset=koi8-r")
        #expect(fine["body"] as? String == "мир" && fine["bodyBase64"] == nil)
        let malformed = try await response([0x61, 0xFF], "text/plain; charset=utf-8")
        #expect(malformed["body"] as? String == "a\u{FFFD}" && malformed["bodyBase64"] as? String == "Yf8=")
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

    @Test func outputFileHoldsTheBodyAsItCame() async throws {
        try await withTemporaryFolder { folder in
            let file = folder.appendingPathComponent("body")
            let tool = try await shown(.json(#"{"a":1}"#), "--output", file.path)

            #expect(try String(contentsOf: file, encoding: .utf8) == #"{"a":1}"#)
            #expect(tool.bytes.isEmpty)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["body"])
        }
    }

    @Test func fileIsReplacedOnlyByACompleteResponse() async throws {
        let responses: [(ScriptedResponse, Int32, String)] = [
            (.json(#"{"error":1}"#, status: .notFound), 1, "{\n  \"error\": 1\n}\n"),
            (.text(String(repeating: "x", count: 5000)).cut(after: .bodyBytes(1000)), 3, ""),
        ]
        for (response, status, output) in responses {
            try await withTemporaryFolder { folder in
                let file = folder.appendingPathComponent("body")
                try Data("old".utf8).write(to: file)
                let tool = try await shown(response, "--output", file.path)

                #expect(tool.status == status)
                #expect(tool.output == output)
                #expect(try String(contentsOf: file, encoding: .utf8) == "old")
                #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["body"])
            }
        }
    }

    @Test func nothingButATerminalGetsEscapeCodes() async throws {
        let tool = try await shown(.json(#"{"a":[1,true,"x"]}"#, status: .notFound), "--headers", "--verbose")

        #expect(!tool.output.contains("\u{1B}"))
        #expect(!tool.errors.contains("\u{1B}"))
        #expect(tool.errors.contains("404"))
    }

    @Test func aClosedPipeEndsTheCallSilently() async throws {
        try await withScriptedOrigin { origin in
            origin.on("/x", respond: .bytes([UInt8](repeating: 0x61, count: 2 << 20), contentType: "text/plain"))
            let tool = try await Tool.shell("runway call GET \(origin.baseURL)/x | head -c 3")

            #expect(tool.output == "aaa")
            #expect(tool.errors.isEmpty)
        }
    }
}
