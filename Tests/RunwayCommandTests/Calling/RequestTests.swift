import Foundation
import HTTPTypes
import RunwayTestServer
import Testing

/// What a command line makes of a request.
@Suite(.timeLimit(.minutes(10)))
struct RequestTests {
    /// Runs `runway call` with an origin that accepts everything; returns what it received.
    private func received(
        _ method: String, _ path: String, _ arguments: [String], input: [UInt8] = []
    ) async throws -> ReceivedRequest {
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .json("{}"))
            let tool = try await Tool.run(
                Tool.path, ["call", method, origin.baseURL + path] + arguments, input: input, environment: [:])
            #expect(tool.status == 0, "\(tool.errors)")
            return try #require(origin.requests.first)
        }
    }

    @Test func everyKindOfItemReachesTheServer() async throws {
        let request = try await received(
            "post", "/items?x=%41",
            ["name=Ada Lovelace", "age:=36.10", #"tags:=["a", "上"]"#, "q==1 2&3", "q==4", "X-Trace: a=b:c"])

        #expect(request.method == .post)
        #expect(request.target == "/items?x=%41&q=1%202%263&q=4")
        #expect(request.text == #"{"name":"Ada Lovelace","age":36.10,"tags":["a","上"]}"#)
        #expect(request["Content-Type"] == "application/json")
        #expect(request["X-Trace"] == "a=b:c")
    }

    @Test(arguments: ["xn--bcher-kva.localhost", "b\u{FC}cher.localhost"])
    func anInternationalHostIsNotRefused(_ host: String) async throws {
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .json("{}"))
            let url = "http://\(host):\(origin.port)/b\u{FC}ro?a=%2F"
            let tool = try await Tool.run("call", "GET", url)
            #expect(tool.status == 0, "\(tool.errors)")
            let request = try #require(origin.requests.first)
            #expect(request["Host"] == "xn--bcher-kva.localhost:\(origin.port)")
            #expect(request.target == "/b%C3%BCro?a=%2F")
        }
    }

    @Test func formHasTheOrderOfTheCommandLine() async throws {
        let request = try await received("POST", "/", ["--form", "z=1", "motto=two words & more", "a="])

        #expect(request.text == "z=1&motto=two%20words%20%26%20more&a=")
        #expect(request["Content-Type"] == "application/x-www-form-urlencoded")
    }

    @Test func aBackslashEscapesASignInTheName() async throws {
        let request = try await received("POST", "/", [#"a\:b=c\d"#, #"e\=f:=1"#])

        #expect(request.text == #"{"a:b":"c\\d","e=f":1}"#)
    }

    @Test func theFirstSignOfAnItemCounts() async throws {
        let request = try await received("POST", "/", ["url=http://x/?a==b", "time==12:30", "X-A:b=c"])

        #expect(request.text == #"{"url":"http://x/?a==b"}"#)
        #expect(request.target == "/?time=12%3A30")
        #expect(request["X-A"] == "b=c")
    }

    @Test func aContentTypeOfTheCallerIsSent() async throws {
        let request = try await received("PATCH", "/", ["a=1", "content-type:application/merge-patch+json"])

        #expect(request.values(of: "Content-Type") == ["application/merge-patch+json"])
    }

    @Test func fileIsSentUnchangedWithItsLength() async throws {
        let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 7) }
        let request = try await withTemporaryFolder { folder in
            let file = folder.appendingPathComponent("photo.jpg")
            try Data(bytes).write(to: file)
            return try await received("PUT", "/", ["--body", file.path])
        }

        #expect(request.body == bytes)
        #expect(request["Content-Length"] == "300000")
        #expect(request["Content-Type"] == "application/octet-stream")
    }

    @Test func standardInputIsSentAsItIs() async throws {
        let request = try await received("POST", "/", ["--body", "-"], input: Array("no { JSON\n".utf8))

        #expect(request.text == "no { JSON\n")
        #expect(request["Content-Length"] == "10")
    }

    @Test(arguments: [
        ("/a//b/../c/./d?x=%2F&&y", "/a//b/../c/./d?x=%2F&&y"),
        ("/a'b!*()~;,=+&$@:?c?/d", "/a'b!*()~;,=+&$@:?c?/d"),
        ("/上海 x?a=[1]#part", "/%E4%B8%8A%E6%B5%B7%20x?a=%5B1%5D"),
        ("/100%?%zz", "/100%25?%25zz"),
        ("", "/"), ("?a=b", "/?a=b"),
    ])
    func pathAndQueryAreEscapedOnlyIfNeeded(written: String, sent: String) async throws {
        #expect(try await received("GET", written, []).target == sent)
    }
}
