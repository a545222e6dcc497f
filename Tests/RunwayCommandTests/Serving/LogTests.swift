import Foundation
import Testing

/// `runway serve --log` and `runway log`, as processes.
@Suite(.timeLimit(.minutes(10)))
struct LogTests {
    private static let installation = "2f1c0000-0000-4000-8000-000000000001"

    /// A batch of records with a name.
    private func batch(
        _ number: Int, _ ids: ClosedRange<Int>, named name: String = "opened",
        of installation: String = LogTests.installation
    ) -> String {
        let records = ids.map {
            let digits = String($0)
            let id = "0199a000-0000-7000-8000-" + String(repeating: "0", count: 12 - digits.count) + digits
            return """
                {"seq":\($0),"id":"\(id)","time":1,"boot":"b","uptime":1,"session":"\(installation)","name":"\(name)"}
                """
        }
        return """
            {"installation":"\(installation)","stream":"9b6e0000-0000-4000-8000-000000000001","batch":\(number),\
            "sent":1,"records":[\(records.joined(separator: ","))]}
            """
    }

    private func send(_ batch: String, to url: String, trusting file: String? = nil) async throws -> String {
        let trust = file.map { "--cacert '\($0)' " } ?? ""
        let type = "-H 'Content-Type: application/json'"
        return try await Tool.shell("curl -s \(trust)-w ' %{http_code}' \(type) --data '\(batch)' '\(url)'").output
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGKILL])
    func recordsAreCountedOnceThroughRestarts(signal: Int32) async throws {
        try await withTemporaryFolder { folder in
            let file = folder.appendingPathComponent("log.sqlite").path
            for run in 0..<2 {
                let server = try RunningTool("serve", "--log", file, "--plain")
                let text = try await server.wait(for: "Ctrl-C stops it.")
                let url = String(try #require(text.firstMatch(of: /http:\S+/)).0)
                #expect(try await send(batch(1, 1...3), to: url).hasSuffix(" 200"))
                if run == 0 {
                    #expect(try await send(batch(3, 7...9), to: url).hasSuffix("\"expected\":2} 409"))
                }
                #expect(try await send(batch(2, 4...6, named: "closed"), to: url).hasSuffix(" 200"))
                #expect(try await send(batch(3, 7...9), to: url).hasSuffix(" 200"))
                #expect(try await send("garbage", to: url).hasSuffix(" 400"))
                server.signal(signal)
                #expect(await server.end() == (signal == SIGKILL ? -SIGKILL : 0))
            }
            let table = try await Tool.run("log", file)
            #expect(table.status == 0)
            #expect(
                table.output == """
                    9  installation \(Self.installation)
                    6    opened
                    3    closed
                    9  in all, from 1 installation

                    """)
            let json = try await Tool.run("log", file, "--json")
            let object = try #require(try JSONSerialization.jsonObject(with: Data(json.bytes)) as? [String: Any])
            #expect(object["records"] as? Int == 9)
            let installations = try #require(object["installations"] as? [[String: Any]])
            #expect(installations.first?["names"] as? [String: Int] == ["opened": 6, "closed": 3])
        }
    }

    #if os(Linux)
        /// On Linux all addresses of 127.0.0.0/8 are those of the machine itself.
        @Test func hostChoosesTheAddress() async throws {
            try await withTemporaryFolder { folder in
                let file = folder.appendingPathComponent("log.sqlite").path
                let server = try RunningTool("serve", "--log", file, "--plain", "--host", "127.0.0.2")
                let text = try await server.wait(for: "Ctrl-C stops it.")
                let url = String(try #require(text.firstMatch(of: /http:\S+/)).0)
                #expect(url.hasPrefix("http://127.0.0.2:"))
                #expect(try await send(batch(1, 1...2), to: url).hasSuffix(" 200"))
                server.signal(SIGINT)
                #expect(await server.end() == 0)
                let alone = try await Tool.run("serve", "--host", "127.0.0.2")
                #expect(alone.status == 2 && alone.errors.contains("--host goes with --log alone."))
            }
        }
    #endif

    @Test func installationErasesRecordsWithoutAnAccount() async throws {
        try await withTemporaryFolder { folder in
            let file = folder.appendingPathComponent("log.sqlite").path
            let server = try RunningTool("serve", "--log", file, "--plain")
            let text = try await server.wait(for: "Ctrl-C stops it.")
            let url = String(try #require(text.firstMatch(of: /http:\S+/)).0)
            // The id that is computed from a secret of 32 zero bytes; see docs/formats.md.
            let own = batch(1, 1...3, of: "66687aad-f862-8d77-ac8f-c18b8e9f8e20")
            #expect(try await send(own, to: url).hasSuffix(" 200"))
            #expect(try await send(batch(1, 4...5), to: url).hasSuffix(" 200"))
            #expect(try await send("{}", to: "\(url)/erasure").hasSuffix(" 400"))
            #expect(try await Tool.run("log", file).output.hasSuffix("5  in all, from 2 installations\n"))
            let secret = Data(count: 32).base64EncodedString()
            #expect(try await send("{\"secret\":\"\(secret)\"}", to: "\(url)/erasure") == " 204")
            #expect(try await Tool.run("log", file).output.hasSuffix("2  in all, from 1 installation\n"))
            // There is no route that erases an account's records.
            let deletion = try await Tool.shell("curl -s -o /dev/null -w '%{http_code}' -X DELETE '\(url)'")
            #expect(deletion.output == "404")
            server.signal(SIGINT)
            #expect(await server.end() == 0)
        }
    }

    @Test func logIsReadWhileServedOverTLS() async throws {
        try await withTemporaryFolder { folder in
            let file = folder.appendingPathComponent("log.sqlite").path
            let server = try RunningTool("serve", "--log", file)
            let text = try await server.wait(for: "Ctrl-C stops it.")
            let url = String(try #require(text.firstMatch(of: /https:\S+/)).0)
            let authority = String(try #require(text.firstMatch(of: /authority: (.+)/)).1)
            #expect(try await send(batch(1, 1...2), to: url, trusting: authority).hasSuffix(" 200"))
            #expect(try await Tool.run("log", file).output.hasPrefix("2  installation "))
            let second = try await Tool.run("serve", "--log", file)
            #expect(second.status == 2)
            #expect(second.errors.contains("Another server writes log.sqlite."))
            server.signal(SIGINT)
            #expect(await server.end() == 0)
            #expect(!FileManager.default.fileExists(atPath: authority))
        }
    }

    @Test func unreadableLogsAreReported() async throws {
        try await withTemporaryFolder { folder in
            let garbage = folder.appendingPathComponent("garbage").path
            try Data(repeating: 7, count: 9000).write(to: URL(fileURLWithPath: garbage))
            for command in [["log", garbage], ["serve", "--log", garbage], ["log", "\(garbage)-none"]] {
                let tool = try await Tool.run(Tool.path, command, input: [], environment: [:])
                #expect(tool.status == 2 && tool.errors.hasPrefix("runway: The log can't be"), "\(tool.errors)")
            }
        }
    }
}
