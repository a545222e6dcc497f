import Foundation
import RunwayTestServer
import Testing

/// `runway call --sign`.
@Suite(.timeLimit(.minutes(10)))
struct SignedCallTests {
    @Test func callIsSignedAsTheServerReceivesIt() async throws {
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .text("fine"))
            try await withTemporaryFolder { folder in
                let file = folder.appending(path: "keys.json").path
                _ = try await Tool.run("keys", "make", file, "--key-id", "k", "--owner", "anna")
                let call = try await Tool.run("call", "\(origin.baseURL)/a%2Fb?c=d", "x=1", "--sign", file)
                #expect(call.status == 0, "\(call.errors)")
                let request = try #require(origin.requests.last)
                let tool = try await Tool.run(
                    "verify", "--key", file, "--scheme", "http", input: request.head + request.body)
                #expect(tool.output == "sig1: verified by the key k, ecdsa-p256-sha256, of anna\n", "\(tool.errors)")
                #expect(tool.status == 0)
            }
        }
    }

    @Test func redirectToAnotherOriginGetsNoSignature() async throws {
        try await withScriptedOrigin { origin in
            try await withScriptedOrigin { other in
                origin.on("/x", respond: .redirect(to: "\(other.baseURL)/y"))
                other.otherwise(respond: .text("fine"))
                try await withTemporaryFolder { folder in
                    let file = folder.appending(path: "keys.json").path
                    _ = try await Tool.run("keys", "make", file, "--key-id", "k")
                    _ = try await Tool.run("call", "\(origin.baseURL)/x", "--sign", file)
                    let heads = [origin, other].map { String(decoding: $0.requests.last?.head ?? [], as: UTF8.self) }
                    #expect(heads[0].lowercased().contains("signature-input:"))
                    #expect(heads[1].contains("/y") && !heads[1].lowercased().contains("signature"))
                }
            }
        }
    }

    @Test func offlineCallShowsTheSignatureOnlyOnRequest() async throws {
        try await withTemporaryFolder { folder in
            let file = folder.appending(path: "keys.json").path
            _ = try await Tool.run("keys", "make", file, "--key-id", "k")
            let hidden = try await Tool.run("call", ":1/x", "--sign", file, "--offline")
            #expect(hidden.output.contains("Signature: [redacted]"), "\(hidden.output)\(hidden.errors)")
            let shown = try await Tool.run("call", ":1/x", "a=1", "--sign", file, "--offline", "--show-secrets")
            let tool = try await Tool.run("verify", "--key", file, "--scheme", "http", input: shown.bytes)
            #expect(tool.status == 0, "\(tool.output)\(tool.errors)\(shown.output)")
        }
    }
}
