import Foundation
import HTTPTypes
import RunwayTestServer
import Testing

/// What `--offline`, `--curl` and `--verbose` show of a request.
@Suite(.timeLimit(.minutes(10)))
struct OfflineTests {
    @Test(arguments: [["--offline"], ["--curl"], ["--offline", "--json"], ["--offline", "--verbose"]])
    func nothingIsSent(options: [String]) async throws {
        try await withScriptedOrigin { origin in
            let call = ["call", "\(origin.baseURL)/x", "a=1", "password=s3cret", "-a", "ada:s3cret"] + options
            let tool = try await Tool.run(Tool.path, call, input: [], environment: [:])

            #expect(tool.status == 0, "\(tool.errors)")
            #expect(tool.output.contains("POST") && tool.output.contains("/x"))
            #expect(!(tool.output + tool.errors).contains("s3cret"))
            #expect(!tool.output.contains("YWRh"))
            #expect(origin.requestCount == 0)
            await origin.shutdown()
            // Nor is a server needed.
            #expect(try await Tool.run(Tool.path, call, input: [], environment: [:]).status == 0)
        }
    }

    @Test func offlineRequestEqualsTheSentOne() async throws {
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .text("fine"))
            let calls = [
                ["GET", "\(origin.baseURL)/x?q=%41", "X-A:1"], ["\(origin.baseURL)/x", "a=1"],
                ["POST", "\(origin.baseURL)/x"], ["HEAD", "\(origin.baseURL)/x"],
            ]
            for call in calls {
                let offline = try await Tool.run(
                    Tool.path, ["call"] + call + ["--offline"], input: [], environment: [:])
                let sent = try await Tool.run(Tool.path, ["call"] + call + ["--verbose"], input: [], environment: [:])
                let request = try #require(origin.requests.last)
                let wire = String(decoding: request.head, as: UTF8.self).components(separatedBy: "\r\n").filter {
                    !$0.isEmpty
                }
                let shown = sent.errors.split(separator: "\n").filter { $0.hasPrefix("> ") }.map {
                    String($0.dropFirst(2))
                }
                let printed = offline.output.components(separatedBy: "\n\n")[0].components(separatedBy: "\n")
                // Connection is a matter of the hop; the order of fields has no meaning (RFC 9110 §5.3).
                let relevant = { (lines: [String]) in
                    [lines[0]]
                        + lines.dropFirst().map { $0.lowercased() }.filter { !$0.hasPrefix("connection:") }.sorted()
                }
                #expect(relevant(shown) == relevant(wire))
                #expect(relevant(printed) == relevant(wire))
            }
        }
    }

    @Test(arguments: [
        ("http://origin.invalid:80/x", nil, "origin.invalid"), ("https://ORIGIN.invalid:443/x", nil, "ORIGIN.invalid"),
        ("http://origin.invalid:443/x", nil, "origin.invalid:443"), ("http://[::1]:80/x", nil, "[::1]"),
        ("http://origin.invalid/x", "Host:other.invalid:80", "other.invalid"),
        ("http://origin.invalid/x", "Host:other.invalid:8080", "other.invalid:8080"),
    ])
    func hostIsShownAsItIsWritten(_ url: String, _ item: String?, _ host: String) async throws {
        let words = ["call", url] + (item.map { [$0] } ?? [])
        let offline = try await Tool.run(Tool.path, words + ["--offline"], input: [], environment: [:])
        let lines = offline.output.split(separator: "\n")
        #expect(lines.filter { $0.lowercased().hasPrefix("host:") } == ["Host: \(host)"], "\(offline.errors)")
    }

    @Test(arguments: [
        "http:/host", "https:/host/x", "HTTP:/host", "http:", "ftp:/x", "http:?q", "[::1]:/x", "a.invalid:/x",
    ])
    func urlWithoutSlashesOrPortIsRefused(_ url: String) async throws {
        let tool = try await Tool.run("call", "GET", url, "--offline")
        #expect(
            tool.status == 2 && tool.output.isEmpty && tool.errors.contains("https://host[:port]/path"),
            "\(tool.errors)")
    }

    @Test func verboseShowsBothHeads() async throws {
        try await withScriptedOrigin { origin in
            origin.on("/a", respond: .redirect(to: "/b"))
            origin.on("/b", respond: ScriptedResponse.text("fine").header(.eTag, "\"1\""))
            let tool = try await Tool.run("call", "\(origin.baseURL)/a", "-v")

            #expect(tool.errors.contains("> GET /a HTTP/1.1\n> Host: 127.0.0.1:\(origin.port)\n"))
            #expect(tool.errors.contains("> User-Agent: runway/0.1.0\n"))
            #expect(tool.errors.contains("> Accept-Encoding: "))
            #expect(tool.errors.contains("< HTTP/1.1 302 Found\n"))
            #expect(tool.errors.contains("> GET /b HTTP/1.1\n"))
            #expect(tool.errors.contains("< ETag: \"1\"\n"))
            #expect(tool.output == "fine")
        }
    }

    @Test func requestToHTTP10IsShownAsSent() async throws {
        try await withScriptedOrigin { origin in
            origin.on("/x", respond: .raw("HTTP/1.0 200 OK\r\nContent-Length: 4\r\n\r\nfine"))
            // A pipe has no size, so that its body is chunked.
            let tool = try await Tool.shell(
                "printf body | runway call POST \(origin.baseURL)/x --body /dev/stdin --verbose")

            let request = try #require(origin.requests.first)
            #expect(String(decoding: request.head, as: UTF8.self).hasPrefix("POST /x HTTP/1.1\r\n"))
            #expect(request["Transfer-Encoding"] == "chunked" && request.text == "body")
            #expect(tool.errors.contains("> POST /x HTTP/1.1\n"), "\(tool.errors)")
            #expect(tool.errors.contains("> Transfer-Encoding: chunked\n"), "\(tool.errors)")
            #expect(tool.errors.contains("< HTTP/1.0 200 OK\n"), "\(tool.errors)")
        }
    }

    @Test func headShowsItsHead() async throws {
        try await withScriptedOrigin { origin in
            origin.on("/x", respond: ScriptedResponse.text("body").header(.eTag, "\"1\""))
            let tool = try await Tool.run("call", "HEAD", "\(origin.baseURL)/x")

            #expect(tool.output.hasPrefix("200 OK\n"))
            #expect(tool.output.contains("\nETag: \"1\"\n"))
        }
    }

    @Test(arguments: [("always", true), ("never", false), ("auto", false)])
    func colourIsForcedByOption(mode: String, isColoured: Bool) async throws {
        try await withScriptedOrigin { origin in
            origin.on("/x", respond: .json(#"{"a":"1"}"#))
            origin.on("/text", respond: .text("a\u{1B}[31mb"))
            let json = try await Tool.run(
                Tool.path, ["call", "\(origin.baseURL)/x", "--color", mode], input: [], environment: ["NO_COLOR": "1"])
            #expect(json.output.contains("\u{1B}[34m\"a\"\u{1B}[0m") == isColoured)
            // What a server sends to a pager can't control the terminal below it.
            let text = try await Tool.run("call", "\(origin.baseURL)/text", "--color", mode)
            #expect(text.output.contains("\u{1B}[31m") == !isColoured)
        }
    }
}
