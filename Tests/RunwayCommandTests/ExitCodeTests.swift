import Foundation
import HTTPTypes
import RunwayTestServer
import Testing

/// The codes with which `runway` ends, and the one sentence that it says.
@Suite(.timeLimit(.minutes(10)))
struct ExitCodeTests {
    /// A command line that can't be used, and a word of the sentence that says why.
    struct Misuse: Sendable, CustomTestStringConvertible {
        var arguments: [String]
        var word: String
        var testDescription: String { arguments.joined(separator: " ") }

        init(_ arguments: String..., says word: String) {
            self.arguments = arguments
            self.word = word
        }
    }

    static let misuses: [Misuse] = [
        Misuse("bogus", says: "bogus"),
        Misuse("call", "GET", says: "<url>"),
        Misuse("call", "GET", "http://x/", "--bogus", says: "--bogus"),
        Misuse("call", "GET", "", says: "empty"),
        Misuse("call", says: "<url>"),
        Misuse("call", "GET", "ftp://x/", says: "ftp"),
        Misuse("call", "GET", "http://", says: "host"),
        Misuse("call", "GET", "http:///x", says: "host"),
        Misuse("call", "GET", "http://a b/", says: "host"),
        Misuse("call", "GET", "http://[::1/", says: "host"),
        Misuse("call", "GET", "http://[zz]/", says: "host"),
        Misuse("call", "GET", "http://x:abc/", says: "host"),
        Misuse("call", "GET", "http://x%41/", says: "host"),
        Misuse("call", "GET", "http://[localhost]/", says: "host"),
        Misuse("call", "GET", "http://-\u{FC}.example/", says: "A-label"),
        Misuse("call", "GET", "http://x:0/", says: "65535"),
        Misuse("call", "GET", "http://x:65536/", says: "65535"),
        Misuse("call", "GET", "http://u:p@x/", says: "--auth"),
        Misuse("call", "G T", "http://x/", says: "G T"),
        Misuse("call", "", "http://x/", says: "method"),
        Misuse("call", "http://x/", "GET", says: "before the URL"),
        Misuse("call", "CONNECT", "http://x/", says: "tunnel"),
        Misuse("call", "HEAD", "http://x/", "a=1", says: "HEAD"),
        Misuse("call", "GET", "http://x/", "", says: "empty"),
        Misuse("call", "GET", "http://x/", "abc", says: "sign"),
        Misuse("call", "GET", "http://x/", "=x", says: "name"),
        Misuse("call", "GET", "http://x/", ":", says: "name"),
        Misuse("call", "GET", "http://x/", "bad name:x", says: "bad name"),
        Misuse("call", "GET", "http://x/", "h:a\nb", says: "character"),
        Misuse("call", "GET", "http://x/", "h:a\u{7F}b", says: "character"),
        Misuse("call", "POST", "http://x/", "a:={\"x\":", says: "JSON"),
        Misuse("call", "POST", "http://x/", "a:=", says: "JSON"),
        Misuse("call", "POST", "http://x/", "a:=" + String(repeating: "[", count: 5000), says: "JSON"),
        Misuse("call", "POST", "http://x/", "a=1", "a:=2", says: "twice"),
        Misuse("call", "POST", "http://x/", "--form", "a:=1", says: "form"),
        Misuse("call", "POST", "http://x/", "--form", "--body", "x", says: "exclude"),
        Misuse("call", "POST", "http://x/", "a=1", "--body", "/dev/null", says: "exclude"),
        Misuse("call", "POST", "http://x/", "--body", "/no/such/file", says: "No such file"),
        Misuse("call", "POST", "http://x/", "--body", "/", says: "directory"),
        Misuse("call", "GET", "http://x/", "--timeout", "0", says: "--timeout"),
        Misuse("call", "GET", "http://x/", "--timeout", "nan", says: "--timeout"),
        Misuse("call", "GET", "http://x/", "--timeout", "1e300", says: "--timeout"),
        Misuse("call", "GET", "http://x/", "--cacert", "/no/such/file", says: "No such file"),
        Misuse("call", "GET", "http://x/", "--cacert", "/", says: "directory"),
        Misuse("call", "GET", "http://x/", "--cacert", "/dev/null", says: "PEM"),
        Misuse("call", "GET", "http://x/", "--output", "/no/such/file", says: "No such file"),
        Misuse("call", "GET", "http://x/", "--output", "/", says: "directory"),
        Misuse("call", "GET", "http://x/", "--output", "", says: "--output"),
        Misuse("call", "GET", "http://x/", "--json", "--curl", says: "exclude"),
        Misuse("call", ":x/y", says: "host"),
        Misuse("call", "http://x/", "a@", says: "names no file"),
        Misuse("call", "http://x/", "@a", says: "--body FILE"),
        Misuse("call", "http://x/", "a@/no/such/file", says: "No such file"),
        Misuse("call", "http://x/", "a@/dev/null;type=\u{7}", says: "media type"),
        Misuse("call", "http://x/", "a=@/no/such/file", says: "No such file"),
        Misuse("call", "http://x/", "a:=@/dev/null", says: "JSON"),
        Misuse("call", "http://x/", "a@/dev/null", "b:=1", says: "form"),
        Misuse("call", "http://x/", "a@/dev/null", "--body", "/dev/null", says: "exclude"),
        Misuse("call", "http://x/", "--auth", "", says: "--auth"),
        Misuse("call", "http://x/", "-a", "u:p", "Authorization:x", says: "exclude"),
        Misuse("call", "http://x/", "-k", "--cacert", "x", says: "exclude"),
        Misuse("call", "http://x/", "--key", "x", says: "--cert"),
        Misuse("call", "http://x/", "--cert", "/no/such/file", says: "No such file"),
        Misuse("call", "http://x/", "--cert", "/dev/null", says: "PEM"),
        Misuse("call", "http://x/", "--proxy", "ftp://x", says: "--proxy"),
        Misuse("call", "http://x/", "--proxy", "", says: "--proxy"),
        Misuse("call", "http://x/", "--session", "../x", says: "--session"),
        Misuse("call", "http://x/", "--session", "", says: "--session"),
        Misuse("call", "http://x/", "--color", "red", says: "--color"),
        Misuse("call", "http://x/", "-c", says: "--output"),
        Misuse("call", "http://x/", "-c", "-o", "-", says: "--output"),
        Misuse("call", "POST", "http://x/", "-c", "-o", "x", says: "GET"),
        Misuse("call", "http://x/", "-c", "-o", "x", "--no-follow", says: "--no-follow"),
        Misuse("call", "http://x/", "--offline", "-i", says: "--offline"),
        Misuse("call", "http://x/", "--curl", "-o", "x", says: "--curl"),
        Misuse("call", "http://x/", "-H", "A: b", says: "'Name:value'"),
        Misuse("call", "http://x/", "--header", "A: b", says: "'Name:value'"),
        Misuse("call", "http://x/", "-d", "{}", says: "--body FILE"),
        Misuse("call", "http://x/", "--data-raw", "{}", says: "--body FILE"),
        Misuse("call", "-XPUT", "http://x/", says: "before the URL"),
        Misuse("call", "http://x/", "-u", "a:b", says: "--auth user:password"),
        Misuse("call", "http://x/", "-F", "a=@b", says: "name@file"),
        Misuse("call", "-L", "http://x/", says: "--no-follow"),
        Misuse("call", "-sS", "http://x/", says: "progress"),
        Misuse("call", "--head", "http://x/", says: "runway call HEAD URL"),
        Misuse("proxy", "--connect-port", "0", says: "--connect-port"),
        Misuse("proxy", "--origin", "http://x", "--connect-port", "80", says: "--connect-port"),
        Misuse("proxy", "--origin", "http://x", "--allow-local", says: "--allow-local"),
        Misuse("proxy", "--allow-host", "x", says: "--origin"),
        Misuse("proxy", "--auth-field", "a b", says: "name of a header field"),
        Misuse("proxy", "--json", "--show-bodies", says: "--show-bodies"),
        Misuse("proxy", "--listen", "0.0.0.0:0", says: "--allow-remote"),
        Misuse("proxy", "--color", "x", says: "--color"),
        Misuse("serve", "--port", "0", says: "65535"),
        Misuse("serve", "--port", "65536", says: "65535"),
        Misuse("serve", "--port", "abc", says: "abc"),
        Misuse("serve", "--port", "99999999999999999999", says: "99999999999999999999"),
        Misuse("serve", "--listings", "0", says: "50000"),
        Misuse("serve", "--listings", "50001", says: "50000"),
        Misuse("serve", "--seed", "1.5", says: "1.5"),
        Misuse("serve", "--ca", "/no/such/file", says: "No such file"),
        Misuse("serve", "--plain", "--ca", "x", says: "--plain"),
    ]

    @Test(arguments: misuses)
    func unusableInputIsASentenceAndCode2(misuse: Misuse) async throws {
        let tool = try await Tool.run(Tool.path, misuse.arguments, input: [], environment: [:])

        #expect(tool.status == 2)
        #expect(tool.bytes.isEmpty)
        #expect(tool.errors.hasPrefix("runway: "))
        #expect(tool.errors.contains(misuse.word))
        #expect(tool.errors.dropLast().allSatisfy { $0 != "\n" } && tool.errors.last == "\n", "\(tool.errors)")
    }

    @Test func argumentThatIsNotUTF8IsRefused() async throws {
        let tool = try await Tool.shell(#"runway call GET "http://x/$(printf '\377')""#)

        #expect(tool.status == 2)
        #expect(tool.errors.contains("Argument 3 is not UTF-8"))
    }

    @Test func statusOf400AndMoreEndsWithOne() async throws {
        try await withScriptedOrigin { origin in
            for status in [HTTPResponse.Status.badRequest, .unauthorized, .notFound, .internalServerError] {
                origin.on("/x", respond: .json(#"{"why":"no"}"#, status: status))
                let tool = try await Tool.run("call", "GET", "\(origin.baseURL)/x")

                #expect(tool.status == 1)
                #expect(tool.output.contains("why"))
                #expect(tool.errors.contains("\(status.code)"))
            }
        }
    }

    @Test func unfollowableRedirectsEndWithExitCode1() async throws {
        try await withScriptedOrigin { origin in
            origin.on("/loop", respond: .redirect(to: "/loop"))
            origin.on("/away", respond: .redirect(to: "ftp://example.com/"))
            for path in ["/loop", "/away"] {
                let tool = try await Tool.run("call", "GET", origin.baseURL + path)
                #expect(tool.status == 1, "\(path): \(tool.errors)")
            }
        }
    }

    @Test func incompleteResponseEndsWithThree() async throws {
        try await withScriptedOrigin { origin in
            origin.on("/closed", respond: .closing)
            origin.on("/never", respond: .never)
            origin.on("/cut", respond: .text("0123456789").cut(after: .bodyBytes(5)))
            origin.on("/noise", respond: .raw("no HTTP at all\r\n\r\n"))
            for path in ["/closed", "/never", "/cut", "/noise"] {
                let tool = try await Tool.run("call", "GET", origin.baseURL + path, "--timeout", "1")
                #expect(tool.status == 3, "\(path): \(tool.errors)")
                #expect(tool.errors.hasPrefix("runway: "))
            }
            let port = try RefusingPort()
            #expect(try await Tool.run("call", "GET", "http://127.0.0.1:\(port.number)/").status == 3)
        }
    }

    @Test func aTakenPortEndsWithTwo() async throws {
        try await withScriptedOrigin { origin in
            let tool = try await Tool.run("serve", "--plain", "--port", "\(origin.port)")

            #expect(tool.status == 2)
            #expect(tool.errors.contains("in use"))
        }
    }

    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/dev/full"), "the system has no /dev/full"))
    func outputThatTakesNoMoreEndsWithTwo() async throws {
        try await withScriptedOrigin { origin in
            origin.on("/x", respond: .text("text"))
            let tool = try await Tool.shell("runway call GET \(origin.baseURL)/x > /dev/full")

            #expect(tool.status == 2)
            #expect(tool.errors.contains("No space left"))
        }
    }
}
