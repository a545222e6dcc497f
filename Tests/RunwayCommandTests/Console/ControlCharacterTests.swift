import Foundation
import HTTPTypes
import RunwayTestServer
import Testing

/// What a server says is text on a terminal, whatever characters it has; elsewhere its bytes pass as they came.
@Suite(.timeLimit(.minutes(10)))
struct ControlCharacterTests {
    /// Title, colour, 8-bit CSI and OSC, delete, bell, bidirectional controls, a line that overwrites itself.
    private static let hostile =
        "a\u{1B}]0;owned\u{7}b\u{1B}[31mc\u{9B}31md\u{9D}0;x\u{9C}\u{7F}\u{8}e\u{202E}f\u{2066}g\u{61C}\u{200F}h\rj\u{2028}k"
    private static let shown =
        #"a\u001B]0;owned\u0007b\u001B[31mc\u009B31md\u009D0;x\u009C\u007F\u0008e\u202Ef\u2066g\u061C\u200Fh\u000Dj\u2028k"#

    /// Runs `runway call GET` on a terminal without colours; returns all that it wrote.
    private func onTerminal(_ response: ScriptedResponse, _ arguments: String...) async throws -> String {
        try await withScriptedOrigin { origin in
            origin.on("/x", respond: response)
            let tool = try RunningTool(
                ["call", "GET", "\(origin.baseURL)/x"] + arguments, streams: .terminal, environment: ["TERM": "dumb"])
            _ = await tool.end()
            return tool.output.withoutReturns
        }
    }

    private func inPipe(_ response: ScriptedResponse, _ arguments: String...) async throws -> Tool {
        try await withScriptedOrigin { origin in
            origin.on("/x", respond: response)
            return try await Tool.run(
                Tool.path, ["call", "GET", "\(origin.baseURL)/x"] + arguments, input: [], environment: [:])
        }
    }

    /// The characters of a text that a terminal acts on.
    private func controls(in text: String) -> [Unicode.Scalar] {
        text.unicodeScalars.filter { scalar in
            switch scalar.value {
            case 0x0A: false
            case 0..<0x20, 0x7F..<0xA0, 0x061C, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069: true
            default: false
            }
        }
    }

    @Test(arguments: ["text/plain", "text/plain; charset=utf-16be", "application/x-unknown"])
    func controlCharactersInBodiesAreEscaped(type: String) async throws {
        let text = "one\ttab\r\n\(Self.hostile)\nlast"
        let bytes = type.contains("16") ? text.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] } : Array(text.utf8)
        let response = ScriptedResponse.bytes(bytes, contentType: type)

        #expect(try await onTerminal(response) == "one\ttab\n\(Self.shown)\nlast\n")
        #expect(try await inPipe(response).bytes == bytes)
    }

    @Test func splitControlCharactersAreEscaped() async throws {
        let bytes = Array("上\u{9B}31m\u{202E}😀\r\n\rx\u{1B}[2J".utf8) + [0x9B, 0xE2, 0x80]
        var response = ScriptedResponse(headerFields: [.contentType: "text/plain"], chunks: bytes.map { [$0] })
        response.framing = .chunked

        let text = try await onTerminal(response)
        #expect(text == #"上\u009B31m\u202E😀"# + "\n" + #"\u000Dx\u001B[2J"# + "\u{FFFD}\u{FFFD}\n")
        #expect(try await inPipe(response).bytes == bytes)
    }

    @Test(arguments: [["NO_COLOR": "1"], [:]])
    func controlCharactersInJSONAreEscapedLosslessly(environment: [String: String]) async throws {
        let json = "{\"a\u{9B}31m\":\"\u{202E}\u{7F}\u{9D}0;x\u{9C}\",\"b\":[\"\\u001b\"]}"
        try await withScriptedOrigin { origin in
            origin.on("/x", respond: .json(json))
            for arguments in [[], ["--json"]] {
                let tool = try RunningTool(
                    ["call", "GET", "\(origin.baseURL)/x"] + arguments, streams: .terminal, environment: environment)
                #expect(await tool.end() == 0)
                var text = tool.output.components(separatedBy: "\r\u{1B}[2K").last ?? ""
                text = text.replacing(/\u{1B}\[(3[1-6]|[012])m/, with: "").withoutReturns
                #expect(controls(in: text).isEmpty, "\(arguments)")
                let value = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? NSDictionary
                let body =
                    arguments.isEmpty
                    ? value
                    : try (value?["response"] as? NSDictionary).flatMap { $0["body"] as? String }
                        .flatMap { try JSONSerialization.jsonObject(with: Data($0.utf8)) as? NSDictionary }
                #expect(body == (try JSONSerialization.jsonObject(with: Data(json.utf8)) as? NSDictionary))
            }
        }
    }

    @Test func controlCharactersInHeadsAndErrorsAreEscaped() async throws {
        let text = "x\u{9B}31m\u{9D}0;t\u{9C}\u{202E}y"
        let head = "HTTP/1.1 404 \(text)\r\nX-A: \(text)\r\nLocation: \(text)\r\nContent-Length: 0\r\n\r\n"
        let redirect = head.replacing("404", with: "302")
        for response in [head, redirect, "HTTP/1.1 200 \(text)\r\nX-\u{9B}: a\r\n\r\n", "\u{1B}[2J\u{9B}31m\r\n\r\n"] {
            for arguments in [["--headers", "--verbose"], ["--json"], ["--curl"]] {
                try await withScriptedOrigin { origin in
                    origin.otherwise(respond: .raw(response))
                    let tool = try RunningTool(
                        ["call", "GET", "\(origin.baseURL)/x"] + arguments, streams: .terminal,
                        environment: ["TERM": "dumb"])
                    _ = await tool.end()
                    let output = tool.output.withoutReturns
                    #expect(controls(in: output).isEmpty, "\(arguments) \(output.debugDescription)")
                }
            }
        }
    }

    @Test(arguments: [[], ["--verbose"], ["--json"]])
    func controlCharactersInProxyLinesAreEscaped(arguments: [String]) async throws {
        try await withScriptedOrigin { origin in
            let text = "x\u{9B}31m\u{202E}y"
            origin.otherwise(respond: .raw("HTTP/1.1 404 \(text)\r\nX-A: \(text)\r\nContent-Length: 0\r\n\r\n"))
            let tool = try RunningTool(
                ["proxy", "--origin", origin.baseURL] + arguments, streams: .terminal, environment: ["TERM": "dumb"])
            let greeting = try await tool.wait(for: "\n")
            let port = try #require(greeting.firstMatch(of: /:(\d+) for/).flatMap { Int($0.1) })
            _ = try await RawClient.exchange(
                "GET /\(text) HTTP/1.1\r\nHost: localhost\r\nX-B: \(text)\r\nConnection: close\r\n\r\n", port: port)
            _ = try await fetch("http://127.0.0.1:\(port)/a", "-H", "X-B: \(text)")
            try await tool.wait(for: "404")
            tool.signal(SIGINT)
            _ = await tool.end()
            #expect(controls(in: tool.output.withoutReturns).isEmpty, "\(tool.output.debugDescription)")
        }
    }
}

extension String {
    /// The text without the carriage returns that a terminal's driver, or a server, puts before a line feed.
    fileprivate var withoutReturns: String {
        replacingOccurrences(of: "\r+\n", with: "\n", options: .regularExpression)
    }
}
