import Foundation
import HTTPTypes
import RunwayChromium
import RunwayTestServer
import Testing

private enum Browser {
    /// With `RUNWAY_REQUIRE_BROWSER` the tests run, and fail, also without a browser.
    static let isExpected =
        ChromiumBrowser.installed != nil || ProcessInfo.processInfo.environment["RUNWAY_REQUIRE_BROWSER"] == "1"
}

/// `runway page`, with a real browser.
@Suite(.enabled(if: Browser.isExpected), .timeLimit(.minutes(10)))
struct PageTests {
    private static let html = """
        <script>(async () => {
          console.log(JSON.stringify(await runway.call('orders.list', { token: 'abc' })))
          for (const name of ['orders.pay', 'orders.fail', 'orders.other']) {
            await runway.call(name).catch(error => console.log(error.kind))
          }
        })()</script>
        """

    /// Runs a test with a site, a file that allows its page some commands, and a folder for temporary files.
    private func withPage(
        _ test: (_ url: String, _ allow: String, _ environment: [String: String]) async throws -> Void
    ) async throws {
        try await withScriptedOrigin { origin in
            origin.otherwise(
                respond: ScriptedResponse(headerFields: [.contentType: "text/html"], chunks: [Array(Self.html.utf8)]))
            try await withTemporaryFolder { folder in
                let allow = folder.appending(path: "shop.json")
                let commands = """
                    { "orders.list": { "output": [7] }, "orders.pay": { "unsafe": true },
                      "orders.fail": { "error": { "kind": "denied", "message": "No card." } } }
                    """
                try Data("{ \"\(origin.baseURL)\": \(commands) }".utf8).write(to: allow)
                let temporary = folder.appending(path: "t")  // Short, since Chromium has a socket in it.
                try FileManager.default.createDirectory(at: temporary, withIntermediateDirectories: true)
                try await test(origin.baseURL + "/", allow.path, ["TMPDIR": temporary.path])
                // The profile of the browser is removed when its last process has ended.
                #expect(try FileManager.default.contentsOfDirectory(atPath: temporary.path).isEmpty)
            }
        }
    }

    @Test func callsAndRefusalsArePrinted() async throws {
        try await withPage { (url, allow, environment) async throws in
            let arguments = ["page", url, "--allow", allow, "--count", "4"]
            let tool = try await Tool.run(Tool.path, arguments, input: [], environment: environment)
            #expect(tool.status == 0)
            let lines = tool.output.split(separator: "\n")
            #expect(
                lines.map { $0.prefix { $0 != "{" } } == [
                    "done orders.list ", "refused orders.pay ", "failed orders.fail ", "refused orders.other ",
                ])
            #expect(!tool.output.contains("abc") && tool.errors.contains("[7]\ngestureNeeded\ndenied\n"))
        }
    }

    @Test func withoutAFileEveryCallIsRefused() async throws {
        try await withPage { (url, _, environment) async throws in
            let arguments = ["page", url, "--count", "1", "--json"]
            let tool = try await Tool.run(Tool.path, arguments, input: [], environment: environment)
            #expect(tool.status == 0 && tool.output.contains(#""outcome":"refused","kind":"notGranted""#))
        }
    }

    @Test func aFolderIsABundle() async throws {
        try await withTemporaryFolder { folder in
            let allow = folder.appending(path: "allow.json")
            try Data(#"{ "runway-bundle://help": { "orders.list": { "output": [7] } } }"#.utf8).write(to: allow)
            let script = "runway.call('orders.list').then(orders => console.log(orders[0]))"
            try Data("<script src='help.js'></script>".utf8).write(to: folder.appending(path: "index.html"))
            try Data(script.utf8).write(to: folder.appending(path: "help.js"))
            let arguments = [
                "page", "runway-bundle://help/", "--bundle", "help=\(folder.path)", "--allow", allow.path, "--count",
                "1",
            ]
            let tool = try await Tool.run(Tool.path, arguments, input: [], environment: [:])
            #expect(
                tool.status == 0 && tool.output.contains("done orders.list")
                    && tool.output.contains("runway-bundle://help"))
        }
        for bundle in ["help", "=x", "He=x"] {
            #expect(try await Tool.run("page", "runway-bundle://help/", "--bundle", bundle).status == 2)
        }
    }

    @Test(arguments: [SIGINT, SIGTERM]) func aSignalLeavesNoBrowser(signal: Int32) async throws {
        try await withPage { (url, allow, environment) async throws in
            let tool = try RunningTool(["page", url, "--allow", allow], streams: .pipe, environment: environment)
            try await tool.wait(for: "refused orders.other")
            tool.signal(signal)
            #expect(await tool.end() == 128 + signal)
        }
    }

    @Test(arguments: [
        ("[]", "no"), ("{", "not JSON"), (#"{"https://m.example.com/": {}}"#, "no origin"),
        (#"{"*": {}}"#, "no origin"), (#"{"https://m.example.com": {"a": 1}}"#, "no object"),
        (#"{"https://m.example.com": {"a": {"ouput": 1}}}"#, "ouput"),
        (#"{"https://m.example.com": {"a": {"seconds": -1}}}"#, "seconds"),
        (#"{"https://m.example.com": {"a": {"file": "absent"}}}"#, "file"),
        (#"{"https://m.example.com": {"a": {}, "a": {}}}"#, "two commands"),
    ])
    func mistakesInTheFileAreNamed(text: String, word: String) async throws {
        try await withTemporaryFolder { folder in
            let file = folder.appending(path: "allow.json")
            try Data(text.utf8).write(to: file)
            let tool = try await Tool.run("page", "http://127.0.0.1:9/", "--allow", file.path)
            #expect(tool.status == 2 && tool.errors.contains(word), "\(tool.errors)")
        }
    }

    @Test func aPageThatCannotLoadIsReported() async throws {
        let tool = try await Tool.run("page", "http://127.0.0.1:1/")
        #expect(tool.status == 3 && tool.errors.contains("can't be loaded"))
        #expect(try await Tool.run("page", "ftp://127.0.0.1/").status == 2)
        #expect(try await Tool.run("page", "http://127.0.0.1:1/", "--browser", "/absent").status == 3)
    }
}
