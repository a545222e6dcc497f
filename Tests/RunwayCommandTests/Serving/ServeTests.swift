import Foundation
import Testing

/// `runway serve`, called by `runway call` and curl.
@Suite(.timeLimit(.minutes(10)))
struct ServeTests {
    /// What the server says of itself.
    private struct Greeting {
        var baseURL: String
        var authorityFile: String?
        /// The lines below "Try:".
        var examples: [String]

        init(_ text: String) throws {
            baseURL = String(try #require(text.firstMatch(of: /seed \d+ at (\S+)/)).1)
            authorityFile = text.firstMatch(of: /Certificate authority: (.+)/).map { String($0.1) }
            examples = text.split(separator: "\n").filter { $0.hasPrefix("  ") }.map { String($0.dropFirst(2)) }
        }
    }

    /// Runs a server while `body` runs; returns its exit code after SIGINT.
    private func serving(
        _ arguments: String..., signal: Int32 = SIGINT, _ body: (Greeting) async throws -> Void
    ) async throws -> Int32 {
        let server = try RunningTool(["serve"] + arguments, streams: .pipe, environment: [:])
        try await body(Greeting(try await server.wait(for: "Ctrl-C stops it.")))
        server.signal(signal)
        return await server.end()
    }

    @Test func everyPrintedExampleWorksInAShell() async throws {
        let status = try await serving { greeting in
            #expect(greeting.baseURL.hasPrefix("https://127.0.0.1:"))
            #expect(greeting.examples.count == 4)
            for example in greeting.examples {
                let tool = try await Tool.shell(example)
                #expect(tool.status == (example.contains("/failing/") ? 1 : 0), "\(example): \(tool.errors)")
                #expect(tool.output.contains("{"))
            }
        }
        #expect(status == 0)
    }

    @Test func httpOneIsSpokenOnlyOnRequest() async throws {
        _ = try await serving { greeting in
            let trust = try #require(greeting.authorityFile)
            let call = ["call", "GET", "\(greeting.baseURL)/zf/list", "--cacert", trust, "--json"]
            for (options, version) in [([], "HTTP/2"), (["--http1"], "HTTP/1.1")] {
                let tool = try await Tool.run(Tool.path, call + options, input: [], environment: [:])
                #expect(tool.output.contains("\"httpVersion\" : \"\(version)\""))
            }
        }
    }

    @Test func anUntrustedServerGetsNoRequest() async throws {
        _ = try await serving { greeting in
            let tool = try await Tool.run("call", "GET", "\(greeting.baseURL)/zf/list")
            #expect(tool.status == 3)
            #expect(tool.bytes.isEmpty)
        }
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func interruptStopsAtOnceAndRemovesTheFolder(signal: Int32) async throws {
        var callStatus: Int32 = 0
        // A test that stood still may have been later than the response.
        for _ in 1...5 where callStatus == 0 {
            var folder = ""
            var waiting: RunningTool?
            let status = try await serving(signal: signal) { greeting in
                let file = try #require(greeting.authorityFile)
                folder = (file as NSString).deletingLastPathComponent
                for (path, rights) in [(file, 0o600), (folder, 0o700)] {
                    let attributes = try FileManager.default.attributesOfItem(atPath: path)
                    #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == rights)
                }
                let call = try RunningTool(
                    ["call", "GET", "\(greeting.baseURL)/zf/list", "delay_ms==5000", "--cacert", file],
                    streams: .terminal, environment: [:])
                // It ends without this text if the machine stands still until the response comes.
                _ = try? await call.wait(for: "Waiting for")
                waiting = call
            }

            #expect(status == 0)
            #expect(!FileManager.default.fileExists(atPath: folder))
            let call = try #require(waiting)
            callStatus = await call.end()
            #expect(callStatus == 0 || call.output.contains("Waiting for"))
        }
        // A server that waited for the end of its requests would have sent the response.
        #expect(callStatus == 3)
    }

    @Test func aChosenAuthorityFileIsPrivateAndStays() async throws {
        try await withTemporaryFolder { folder in
            let file = folder.appendingPathComponent("ca.pem").path
            let status = try await serving("--ca", file) { greeting in
                #expect(greeting.authorityFile == file)
                let attributes = try FileManager.default.attributesOfItem(atPath: file)
                #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
            }

            #expect(status == 0)
            #expect(FileManager.default.fileExists(atPath: file))
        }
    }

    @Test func equalSeedsServeEqualListingsAndOthersOthers() async throws {
        var lists: [String] = []
        for seed in ["7", "7", "8"] {
            _ = try await serving("--plain", "--seed", seed, "--listings", "40") { greeting in
                #expect(greeting.baseURL.hasPrefix("http://"))
                lists.append(try await Tool.run("call", "GET", "\(greeting.baseURL)/esf/list").output)
            }
        }
        try #require(lists.count == 3)
        #expect(lists[0].contains("esf_title"))
        #expect(lists[0] == lists[1])
        #expect(lists[0] != lists[2])
    }
}
