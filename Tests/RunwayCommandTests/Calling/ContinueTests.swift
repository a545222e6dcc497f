import Foundation
import HTTPTypes
import RunwayTestServer
import RunwayTesting
import Testing

/// Downloads that go on where an earlier call was interrupted.
@Suite(.timeLimit(.minutes(10)))
struct ContinueTests {
    private static let content = (0..<600_000).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 9) }

    /// A server whose first response stops after 400,000 bytes until the gate opens, and that responds to ranges.
    private func serve(_ origin: ScriptedOrigin, until gate: ScriptedGate) {
        let content = Self.content
        origin.on("/large") { request in
            guard let range = request["Range"], let start = range.firstMatch(of: /bytes=(\d+)-/).flatMap({ Int($0.1) })
            else {
                return ScriptedResponse(
                    headerFields: [.eTag: "\"1\""], chunks: [Array(content[..<400_000]), Array(content[400_000...])]
                ).pausing(.beforeChunk(1), .gate(gate))
            }
            return ScriptedResponse.bytes(
                Array(content[start...]), contentType: "application/octet-stream", status: .partialContent
            )
            .header(.eTag, "\"1\"").header(.contentRange, "bytes \(start)-\(content.count - 1)/\(content.count)")
        }
    }

    private func size(of path: String) throws -> Int {
        (try FileManager.default.attributesOfItem(atPath: path)[.size] as? NSNumber)?.intValue ?? 0
    }

    @Test func interruptedDownloadIsContinued() async throws {
        try await withScriptedOrigin { origin in
            let gate = ScriptedGate()
            serve(origin, until: gate)
            try await withTemporaryFolder { folder in
                let file = folder.appendingPathComponent("large.bin")
                let call = ["call", "\(origin.baseURL)/large", "-c", "--output", file.path]
                let first = try RunningTool(call, streams: .terminal, environment: [:])
                try await first.wait(for: "of 600 kB")
                // The bytes are written in pieces of at least 256 KiB; nothing reports that to another process.
                while try size(of: file.path + ".part") < 256 << 10 { try await Task.sleep(for: .milliseconds(5)) }
                first.signal(SIGINT)
                #expect(await first.end() == 130)
                #expect(first.output.contains("the same command continues it"))
                #expect(!FileManager.default.fileExists(atPath: file.path))

                let second = try await Tool.run(Tool.path, call, input: [], environment: [:])
                #expect(second.status == 0, "\(second.errors)")
                #expect(second.errors.contains("Continued after "))
                #expect(Array(try Data(contentsOf: file)) == Self.content)
                #expect(origin.requests.count == 2)
                #expect(origin.requests[1]["If-Range"] == "\"1\"")
                #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["large.bin"])
            }
            gate.open()
        }
    }

    @Test func completeFileIsNotDownloadedAgain() async throws {
        try await withScriptedOrigin { origin in
            origin.otherwise { request in
                guard request["Range"] == "bytes=600000-" else { return .bytes(Self.content) }
                return ScriptedResponse.status(.rangeNotSatisfiable).header(.contentRange, "bytes */600000")
            }
            try await withTemporaryFolder { folder in
                let file = folder.appendingPathComponent("large.bin")
                let call = ["call", "\(origin.baseURL)/large", "-c", "-o", file.path]
                #expect(try await Tool.run(Tool.path, call, input: [], environment: [:]).status == 0)
                let date = Date(timeIntervalSince1970: 784_111_777)
                try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: file.path)
                let again = try await Tool.run(Tool.path, call, input: [], environment: [:])
                #expect(again.status == 0 && again.errors.contains("has as many bytes as the server's file: nothing"))
                #expect(Array(try Data(contentsOf: file)) == Self.content)
                #expect(origin.requests.map { $0["Range"] } == [nil, "bytes=600000-"])
                // A server that has another file of the same size by now must not confirm this one.
                #expect(origin.requests[1]["If-Unmodified-Since"] == "Sun, 06 Nov 1994 08:49:37 GMT")
                #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["large.bin"])
            }
        }
    }

    @Test(arguments: [HTTPResponse.Status.ok, .partialContent, .preconditionFailed, .rangeNotSatisfiable])
    func fileThatMayBeAnotherIsDownloadedAnew(_ status: HTTPResponse.Status) async throws {
        try await withScriptedOrigin { origin in
            origin.otherwise { request in
                guard request["Range"] != nil, status != .ok else { return .bytes(Self.content) }
                let range = status == .partialContent ? "bytes 3-599999/600000" : "bytes */600000"
                return ScriptedResponse.bytes(Array(Self.content[3...]), status: status).header(.contentRange, range)
            }
            try await withTemporaryFolder { folder in
                let file = folder.appendingPathComponent("large.bin")
                try Data("old".utf8).write(to: file)
                let tool = try await Tool.run("call", "\(origin.baseURL)/large", "-c", "-o", file.path)
                #expect(tool.status == 0, "\(tool.errors)")
                #expect(Array(try Data(contentsOf: file)) == Self.content)
                #expect(origin.requests.map { $0["Range"] } == ["bytes=3-", nil])
            }
        }
    }

    @Test(arguments: ["-o", "-c -o"]) func newFileHasTheModeTheMaskLeaves(_ option: String) async throws {
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .text("new"))
            try await withTemporaryFolder { folder in
                let path = folder.appendingPathComponent("file").path
                let line = "umask 027 && runway call \(origin.baseURL)/x \(option) '\(path)'"
                #expect(try await Tool.shell(line).status == 0)
                #expect(try mode(of: path) == 0o640)
                // A file that is replaced passes its mode on.
                try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
                #expect(try await Tool.shell(line).status == 0)
                #expect(try mode(of: path) == 0o600)
            }
        }
    }

    @Test func linkIsReplacedByAPrivateFile() async throws {
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .text("new"))
            try await withTemporaryFolder { folder in
                let (link, target) = (folder.appendingPathComponent("link"), folder.appendingPathComponent("target"))
                try Data("old".utf8).write(to: target)
                try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: target.path)
                try FileManager.default.createSymbolicLink(at: link, withDestinationURL: target)
                let line = "umask 022 && runway call \(origin.baseURL)/x -c -o '\(link.path)'"
                #expect(try await Tool.shell(line).status == 0)
                #expect(try mode(of: link.path) == 0o600)
                #expect(try String(contentsOf: link, encoding: .utf8) == "new")
                #expect(try String(contentsOf: target, encoding: .utf8) == "old")
            }
        }
    }

    @Test(arguments: [HTTPResponse.Status.unauthorized, .forbidden])
    func refusedCredentialsAreSentOnce(_ status: HTTPResponse.Status) async throws {
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .text("no", status: status))
            try await withTemporaryFolder { folder in
                let file = folder.appendingPathComponent("x")
                try Data("old".utf8).write(to: file)
                let tool = try await Tool.run("call", "-a", "ada:wrong", "\(origin.baseURL)/x", "-c", "-o", file.path)
                #expect(tool.status == 1 && tool.errors.contains("status \(status.code)"), "\(tool.errors)")
                #expect(origin.requests.map { $0["Range"] } == ["bytes=3-"])
                #expect(try String(contentsOf: file, encoding: .utf8) == "old")
            }
        }
    }

    @Test func reportHasTheHeadOfARefusedProbe() async throws {
        struct Report: Decodable {
            struct Response: Decodable {
                var status: Int
                var headers: [[String]]
            }
            var response: Response?
        }
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .text("no", status: .forbidden).header(.eTag, "\"1\""))
            try await withTemporaryFolder { folder in
                let file = folder.appendingPathComponent("x")
                try Data("old".utf8).write(to: file)
                let tool = try await Tool.run("call", "\(origin.baseURL)/x", "-c", "-o", file.path, "--json")
                let response = try JSONDecoder().decode(Report.self, from: Data(tool.bytes)).response
                #expect(response?.status == 403)
                #expect(response?.headers.contains { $0.first?.lowercased() == "etag" } == true)
            }
        }
    }

    private func mode(of path: String) throws -> Int {
        (try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber)?.intValue ?? 0
    }

    @Test func refusalLeavesTheFile() async throws {
        try await withScriptedOrigin { origin in
            origin.on("/x", respond: .text("no", status: .notFound))
            try await withTemporaryFolder { folder in
                let file = folder.appendingPathComponent("x")
                try Data("old".utf8).write(to: file)
                let tool = try await Tool.run("call", "\(origin.baseURL)/x", "-c", "-o", file.path)
                #expect(tool.status == 1)
                #expect(try String(contentsOf: file, encoding: .utf8) == "old")
            }
        }
    }
}
