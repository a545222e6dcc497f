import Foundation
import HTTPTypes
import RunwayTestServer
import Testing

/// What `--show-bodies` prints.
@Suite(.timeLimit(.minutes(10)))
struct ShowBodiesTests {
    @Test func headsAndTextAreShownWithoutSecrets() async throws {
        try await withScriptedOrigin { origin in
            origin.on("/login", respond: .json(#"{"user":"Ada","access_token":"s3cret"}"#))
            let call = { (proxy: RunningProxy) in
                let form = "name=Ada&password=s3cret"
                _ = try await fetch(
                    "\(proxy.url)/login?token=s3cret", "--data", form, "--header", "Authorization: s3cret")
            }
            let (hidden, _) = try await proxying(to: origin.baseURL, "--show-bodies") { try await call($0) }
            #expect(hidden.contains("\n  > POST /login?token=[redacted] HTTP/1.1\n"))
            #expect(hidden.contains("\n  > Authorization: [redacted]\n"))
            #expect(hidden.contains("\n  > name=Ada&password="))
            #expect(hidden.contains("\n  < HTTP/1.1 200 OK\n"))
            #expect(hidden.contains(#""user":"Ada""#))
            #expect(!hidden.contains("s3cret"))
            let (shown, _) = try await proxying(to: origin.baseURL, "--show-bodies", "--show-secrets") {
                try await call($0)
            }
            #expect(shown.contains("password=s3cret") && shown.contains(#""access_token":"s3cret""#))
        }
    }

    @Test func forwardedBodiesAreShownWithoutSecrets() async throws {
        try await withScriptedOrigin { origin in
            origin.on("/login", respond: .json(#"{"user":"Ada","access_token":"s3cret"}"#))
            let (output, _) = try await forwarding("--allow-local", "--show-bodies") { proxy in
                let form = "name=Ada&password=s3cret"
                _ = try await fetch("\(origin.baseURL)/login", "--proxy", proxy.url, "--data", form)
            }
            #expect(output.contains("\n  > POST /login HTTP/1.1\n"), "\(output)")
            #expect(output.contains("\n  > name=Ada&password=") && output.contains(#""user":"Ada""#), "\(output)")
            #expect(!output.contains("s3cret"))
        }
    }

    @Test func bodiesAreBoundedAndText() async throws {
        try await withScriptedOrigin { origin in
            origin.on("/long", respond: .text(String(repeating: "x", count: 100_000)))
            origin.on("/image", respond: .bytes([0, 1, 2], contentType: "image/png"))
            origin.on("/coded", respond: ScriptedResponse.text("coded").header(.contentEncoding, "gzip"))
            origin.on("/empty", respond: .status(.noContent))
            let (output, _) = try await proxying(to: origin.baseURL, "--show-bodies") { proxy in
                for path in ["long", "image", "coded", "empty"] { _ = try await fetch("\(proxy.url)/\(path)") }
            }
            #expect(output.contains("[of 100 kB]") && output.utf8.count < 10_000)
            #expect(output.contains("[3 bytes of image/png]"))
            #expect(output.contains("in the content coding gzip]") && !output.contains("< coded"))
        }
    }
}
