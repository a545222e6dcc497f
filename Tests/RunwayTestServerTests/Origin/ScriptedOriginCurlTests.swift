import Foundation
import HTTPTypes
import RunwayTestServer
import Testing

/// What a real client makes of a scripted origin.
@Suite(.timeLimit(.minutes(10)))
struct ScriptedOriginCurlTests {
    @Test func curlReadsAResponseAndIsRecorded() async throws {
        try await withScriptedOrigin { origin in
            origin.on(.get, "/list", respond: .json(#"{"list":[1]}"#).header(.server, "script"))
            let curl = try await Curl.run("--include", "-H", "X-CaSe: same", origin.baseURL + "/list?city=%E4%B8%8A")
            #expect(curl.status == 0)
            #expect(curl.output.hasPrefix("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nServer: script\r\n"))
            #expect(curl.output.hasSuffix(#"{"list":[1]}"#))
            let request = try #require(origin.requests.first)
            #expect(request.method == .get)
            #expect(request.target == "/list?city=%E4%B8%8A")
            #expect(request.path == "/list")
            #expect(request.query == "city=%E4%B8%8A")
            #expect(request.fields.contains { $0.name == "X-CaSe" && $0.value == "same" })
        }
    }

    @Test func curlSendsABodyAfter100Continue() async throws {
        try await withScriptedOrigin { origin in
            origin.on(.post, "/up", respond: .status(.created))
            let body = String(repeating: "0123456789", count: 200_000)
            let file = FileManager.default.temporaryDirectory.appendingPathComponent("body-\(UUID().uuidString)")
            try Data(body.utf8).write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            let curl = try await Curl.run(
                "--include",
                "-H",
                "Expect: 100-continue",
                "--expect100-timeout",
                "50",
                "--data-binary",
                "@\(file.path)",
                origin.baseURL + "/up"
            )
            #expect(curl.status == 0)
            #expect(curl.output.hasPrefix("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\n"))
            #expect(origin.requests.first?.text == body)
            #expect(origin.requests.first?.isComplete == true)
        }
    }

    @Test func serverNameOfCurlOverTLSIsRecorded() async throws {
        let certificate = try TestCertificate()
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("ca-\(UUID().uuidString).pem")
        try Data(certificate.certificatePEM.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        try await withScriptedOrigin(tls: certificate.tls) { origin in
            origin.on("/secure", respond: .text("safe"))
            let curl = try await Curl.run(
                "--ipv4",
                "--noproxy",
                "*",
                "--cacert",
                file.path,
                origin.baseURL + "/secure"
            )
            #expect(curl.status == 0, "\(curl.errors)")
            #expect(curl.output == "safe")
            #expect(origin.requests.first?.serverName == "localhost")
        }
    }

    @Test func curlUsesOneConnectionForTwoRequests() async throws {
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .text("x"))
            let curl = try await Curl.run(origin.baseURL + "/a", origin.baseURL + "/b")
            #expect(curl.output == "xx")
            #expect(origin.connectionCount == 1)
            #expect(origin.requests.map(\.connection) == [1, 1])
            try await origin.waitForDisconnects(count: 1)
            #expect(origin.openConnectionCount == 0)
        }
    }

    /// The numbers are those of curl's manual: 18 partial file, 52 empty reply, 56 failure in receiving.
    @Test func curlNamesEachMisbehaviour() async throws {
        try await withScriptedOrigin { origin in
            let misbehaviours: [(response: ScriptedResponse, status: Int32)] = [
                (.text("short").declaring(length: 100), 18),
                (.text("torn apart").cut(after: .bodyBytes(4)), 18),
                (.closing, 52),
                (.text("torn apart").cut(after: .headBytes(0)), 52),
                (.chunks(["one", "two"]).framed(.brokenChunk(1)), 56),
                (.chunks(["one", "two"]).framed(.chunkedWithoutEnd), 18),
                (.resetting, 56),
            ]
            for (index, misbehaviour) in misbehaviours.enumerated() {
                origin.on("/\(index)", respond: misbehaviour.response)
                let curl = try await Curl.run("\(origin.baseURL)/\(index)")
                #expect(curl.status == misbehaviour.status, "\(index): \(curl.errors)")
            }
        }
    }
}
