import Foundation
import RunwayChromium
import Testing

/// `runway view`.
@Suite(.timeLimit(.minutes(10)))
struct ViewTests {
    static let hasBrowser =
        ChromiumBrowser.installed != nil || ProcessInfo.processInfo.environment["RUNWAY_REQUIRE_BROWSER"] == "1"
    private static let document =
        #"{"node":"box","background":"$ink","children":[{"node":"text","text":"Hello {name}"},{"node":"image","source":"dot.png"}]}"#

    /// Writes files into a new folder, and passes their paths by name.
    private func withFiles(
        _ files: [String: String], _ body: (_ path: (String) -> String) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            for (name, text) in files { try Data(text.utf8).write(to: folder.appending(path: name)) }
            try await body { folder.appending(path: $0).path }
        }
    }

    @Test func aDocumentIsRendered() async throws {
        try await withFiles([
            "a.json": Self.document, "data.json": #"{"name":"Ada"}"#, "skin.json": ##"{"ink":"#123456"}"##,
        ]) { path in
            let tool = try await Tool.run(
                "view", path("a.json"), "--data", path("data.json"), "--skin", path("skin.json"))
            #expect(tool.status == 0 && tool.errors.isEmpty)
            #expect(tool.output.contains("Hello Ada") && tool.output.contains("background-color:#123456ff"))
            let silent = try await Tool.run(
                "view", path("a.json"), "--skin", path("skin.json"), "--output", path("a.html"))
            #expect(silent.status == 0 && silent.output.isEmpty)
            #expect(try String(contentsOfFile: path("a.html"), encoding: .utf8).contains("Hello <"))
        }
    }

    @Test func unknownPartsAreNamedWithTheirPath() async throws {
        let text = #"{"node":"box","children":[{"node":"chart"},{"node":"text","colour":"red","width":-1}]}"#
        try await withFiles(["a.json": text]) { path in
            let tool = try await Tool.run("view", path("a.json"))
            #expect(tool.status == 1 && tool.output.hasPrefix("<!doctype html>"))
            let paths = ["children[0].node: ", "children[1].colour: ", "children[1].width: "]
            #expect(paths.allSatisfy { tool.errors.contains("a.json: \($0)") }, "\(tool.errors)")
        }
    }

    @Test(arguments: [
        ("{", "not JSON"), ("[]", "A document is"),
        (#"{"node":"text","color":"$ink"}"#, "color: The skin has no token"),
        (#"{"node":"use","template":"a"}"#, "template: There is no template"),
    ])
    func documentsThatCannotBeUsedAreRefused(text: String, error: String) async throws {
        try await withFiles(["a.json": text]) { path in
            let tool = try await Tool.run("view", path("a.json"))
            #expect(tool.status == 2 && tool.output.isEmpty && tool.errors.contains(error), "\(tool.errors)")
        }
        for arguments in [["absent.json"], [], ["a.json", "--watch"], ["a.json", "--width", "9"]] {
            let tool = try await Tool.run(Tool.path, ["view"] + arguments, input: [], environment: [:])
            #expect(tool.status == 2, "\(arguments)")
        }
    }

    @Test func schemaIsPrinted() async throws {
        let tool = try await Tool.run("view", "--schema")
        #expect(tool.status == 0 && tool.output.contains(#""title": "A view of Runway""#))
    }

    @Test(.enabled(if: hasBrowser)) func picturesHaveTheSizeOfTheScreen() async throws {
        try await withFiles(["a.json": #"{"node":"text","text":"Hello"}"#]) { path in
            let tool = try await Tool.run(
                "view", path("a.json"), "--screenshot", path("a.png"), "--width", "320", "--height", "480", "--dark")
            #expect(tool.status == 0 && tool.output.isEmpty, "\(tool.errors)")
            let picture = try Data(contentsOf: URL(filePath: path("a.png")))
            // A PNG has its width and its height, in pixels, at bytes 16 to 23.
            #expect(Array(picture[16..<24]) == [0, 0, 2, 0x80, 0, 0, 3, 0xC0])
        }
    }

    @Test func changedFilesAreRenderedAgain() async throws {
        try await withFiles(["a.json": #"{"node":"text","colour":1}"#]) { path in
            let tool = try RunningTool("view", path("a.json"), "--output", path("a.html"), "--watch")
            try await tool.wait(for: "colour")
            try Data("{".utf8).write(to: URL(filePath: path("a.json")))
            try await tool.wait(for: "not JSON")
            try Data(#"{"node":"text","size":1,"text":"second"}"#.utf8).write(to: URL(filePath: path("a.json")))
            try await tool.wait(for: "size")
            tool.signal(SIGINT)
            #expect(await tool.end() == 130)
            #expect(try String(contentsOfFile: path("a.html"), encoding: .utf8).contains("second"))
        }
    }
}
