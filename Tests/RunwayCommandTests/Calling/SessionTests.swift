import Foundation
import HTTPTypes
import RunwayTestServer
import Testing

/// Cookies within a call, and what a named session stores between calls.
@Suite(.timeLimit(.minutes(10)))
struct SessionTests {
    /// Runs `runway call` with a folder for sessions.
    private func call(_ folder: URL, _ arguments: String...) async throws -> Tool {
        try await Tool.run(Tool.path, ["call"] + arguments, input: [], environment: ["XDG_CONFIG_HOME": folder.path])
    }

    private func file(_ folder: URL, _ name: String) -> URL {
        folder.appendingPathComponent("runway/sessions/\(name).json")
    }

    @Test func redirectSendsTheCookieItSet() async throws {
        try await withScriptedOrigin { origin in
            origin.on("/login", respond: ScriptedResponse.redirect(to: "/home").header(.setCookie, "sid=1"))
            origin.on("/home", respond: .text("home"))
            let tool = try await Tool.run("call", "\(origin.baseURL)/login")

            #expect(tool.output == "home")
            #expect(origin.requests.map { $0["Cookie"] } == [nil, "sid=1"])
        }
    }

    @Test func redirectIsShownInsteadOfFollowed() async throws {
        try await withScriptedOrigin { origin in
            origin.on("/a", respond: .redirect(to: "/b"))
            let tool = try await Tool.run("call", "\(origin.baseURL)/a", "--no-follow", "-i")

            #expect(tool.status == 0, "\(tool.errors)")
            #expect(tool.output.hasPrefix("302 Found\n") && tool.output.contains("Location: /b\n"))
            #expect(origin.requestCount == 1)
        }
    }

    @Test func sessionSendsItsCookiesAndToken() async throws {
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .text("fine"))
            origin.on("/login", respond: ScriptedResponse.text("in").header(.setCookie, "sid=1; Path=/"))
            origin.on("/logout", respond: ScriptedResponse.text("out").header(.setCookie, "sid=; Max-Age=0; Path=/"))
            try await withTemporaryFolder { folder in
                let url = origin.baseURL
                _ = try await call(folder, "\(url)/login", "-a", "ada:s3cret", "--session", "work")
                _ = try await call(folder, "\(url)/x", "--session", "work")
                _ = try await call(folder, "\(url)/x", "--session", "other")
                _ = try await call(folder, "http://localhost:\(origin.port)/x", "--session", "work")
                _ = try await call(folder, "\(url)/x", "Authorization:Bearer t", "--session", "work")
                _ = try await call(folder, "\(url)/logout", "--session", "work")
                _ = try await call(folder, "\(url)/x", "--session", "work")

                let basic = "Basic YWRhOnMzY3JldA=="
                #expect(
                    origin.requests.map { $0["Authorization"] } == [
                        basic, basic, nil, nil, "Bearer t", "Bearer t", "Bearer t",
                    ])
                #expect(origin.requests.map { $0["Cookie"] } == [nil, "sid=1", nil, nil, "sid=1", "sid=1", nil])
                let attributes = try FileManager.default.attributesOfItem(atPath: file(folder, "work").path)
                #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
            }
        }
    }

    @Test func cookiesSurviveBetweenCallsByteForByte() async throws {
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .text("fine"))
            let value: [UInt8] = [0xE9, 0xFF, 0x41]
            let start = "HTTP/1.1 200 OK\r\nSet-Cookie: a=1; Secure; Path=/\r\nSet-Cookie: n\u{E9}="
            origin.on("/set", respond: .raw(Array(start.utf8), value, Array("; Path=/\r\n\r\n".utf8)))
            try await withTemporaryFolder { folder in
                _ = try await call(folder, "\(origin.baseURL)/set", "--session", "work")
                _ = try await call(folder, "\(origin.baseURL)/x", "--session", "work")
                let head = try #require(origin.requests.last?.head)
                #expect(head.firstRange(of: Array("\r\nCookie: a=1; n\u{E9}=".utf8) + value + [0x0D, 0x0A]) != nil)
            }
        }
    }

    @Test func refusedTokenIsNotStored() async throws {
        try await withScriptedOrigin { origin in
            origin.on("/x", respond: .status(.unauthorized))
            try await withTemporaryFolder { folder in
                let tool = try await call(folder, "\(origin.baseURL)/x", "-a", "ada:wrong", "--session", "work")
                #expect(tool.status == 1)
                #expect(!FileManager.default.fileExists(atPath: file(folder, "work").path))
            }
        }
    }

    @Test func refusedPasswordIsCalledCredentials() async throws {
        try await withScriptedOrigin { origin in
            origin.on("/x", respond: .status(.unauthorized))
            let tool = try await Tool.run("call", "\(origin.baseURL)/x", "-a", "ada:wrong", "--verbose")
            #expect(tool.status == 1)
            #expect(tool.errors.contains("The server refused the credentials with status 401."))
            #expect(!tool.errors.contains("access token"))
        }
    }

    @Test(arguments: ["{", "", #"{"version":2,"cookies":[],"tokens":[]}"#])
    func damagedSessionIsSetAside(content: String) async throws {
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: ScriptedResponse.text("fine").header(.setCookie, "a=1"))
            try await withTemporaryFolder { folder in
                let url = "\(origin.baseURL)/x"
                let file = file(folder, "work")
                _ = try await call(folder, url, "--session", "work")
                try Data(content.utf8).write(to: file)
                let broken = try await call(folder, url, "--session", "work")
                #expect(broken.status == 2)
                #expect(broken.errors.contains("is damaged and was moved to"))
                #expect(origin.requestCount == 1)
                #expect(try String(contentsOfFile: file.path + ".damaged", encoding: .utf8) == content)
                #expect(try await call(folder, url, "--session", "work").status == 0)
            }
        }
    }

    @Test func sessionThatOthersCanReadIsRefused() async throws {
        try await withTemporaryFolder { folder in
            let file = file(folder, "work")
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data("{}".utf8).write(to: file)
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file.path)
            let tool = try await call(folder, "http://127.0.0.1:1/", "--session", "work")

            #expect(tool.status == 2)
            #expect(tool.errors.contains("other users can read it"))
            #expect(FileManager.default.fileExists(atPath: file.path))
        }
    }

    @Test func offlineCallChangesNoSession() async throws {
        try await withTemporaryFolder { folder in
            let tool = try await call(folder, "http://127.0.0.1:1/", "-a", "a:b", "--session", "work", "--offline")
            #expect(tool.status == 0)
            #expect(!FileManager.default.fileExists(atPath: file(folder, "work").path))
        }
    }
}
