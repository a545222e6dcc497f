import Foundation
import HTTPTypes
import RunwayTestServer
import Testing

/// What `--json` and `--curl` print.
@Suite(.timeLimit(.minutes(10)))
struct ReportTests {
    private struct Report: Decodable {
        struct Message: Decodable {
            var method: String?
            var url: String?
            var status: Int?
            var headers: [[String]]
            var body: String?
            var bodyBase64: String?
            var byteCount: Int?
        }
        struct Flight: Decodable {
            struct Decision: Decodable {
                var at: Double
                var step: String
                var decision: String
            }
            var outcome: String
            var seconds: Double
            var date: String
            var decisions: [Decision]
            var attempts: [Attempt]
        }
        struct Attempt: Decodable {
            var url: String
            var status: Int?
            var httpVersion: String?
            var start: Double
            var end: Double?
        }
        struct Failure: Decodable {
            var kind: String
            var step: String
            var message: String
            var status: Int?
        }
        var request: Message?
        var response: Message?
        var flight: Flight
        var error: Failure?
    }

    private func report(_ tool: Tool) throws -> Report {
        try JSONDecoder().decode(Report.self, from: Data(tool.bytes))
    }

    @Test func oneObjectHasRequestResponseAndFlight() async throws {
        try await withScriptedOrigin { origin in
            origin.on("/from", respond: .redirect(to: "/to", status: .temporaryRedirect))
            origin.on("/to", respond: .json(#"{"token":"t"}"#))
            let report = try report(await Tool.run("call", "POST", "\(origin.baseURL)/from", "a=1", "--json"))

            #expect(report.request?.method == "POST")
            #expect(report.request?.url == "\(origin.baseURL)/from")
            #expect(report.request?.body == #"{"a":"1"}"#)
            #expect(report.response?.status == 200)
            // The body of the response is what the user requested, and is not redacted.
            #expect(report.response?.body == #"{"token":"t"}"#)
            #expect(report.response?.byteCount == 13)
            #expect(report.flight.outcome == "succeeded")
            #expect(report.flight.attempts.map(\.status) == [307, 200])
            #expect(report.flight.attempts.allSatisfy { $0.httpVersion == "HTTP/1.1" })
            #expect(
                report.flight.decisions.contains { $0.step == "redirecting" && $0.decision == "following 307, hop 1" })
            #expect(report.flight.decisions.allSatisfy { (0...report.flight.seconds).contains($0.at) })
            #expect(report.flight.date.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil)
            #expect(report.error == nil)
        }
    }

    @Test func bodyThatIsNotTextIsBase64() async throws {
        try await withScriptedOrigin { origin in
            origin.on("/x", respond: .bytes([0, 255, 128], contentType: "image/png"))
            let report = try report(await Tool.run("call", "GET", "\(origin.baseURL)/x", "--json"))

            #expect(report.response?.body == nil)
            #expect(report.response?.bodyBase64 == "AP+A")
        }
    }

    @Test func aRefusalHasResponseAndError() async throws {
        try await withScriptedOrigin { origin in
            origin.on("/gone", respond: .text("gone", status: .gone))
            origin.on("/closed", respond: .closing)
            let refused = try await Tool.run("call", "GET", "\(origin.baseURL)/gone", "--json")
            let closed = try await Tool.run("call", "GET", "\(origin.baseURL)/closed", "--json")

            #expect(refused.status == 1)
            #expect(try report(refused).response?.body == "gone")
            #expect(try report(refused).error?.kind == "refused")
            #expect(try report(refused).error?.status == 410)
            #expect(try report(refused).flight.outcome == "failed")
            #expect(closed.status == 3)
            #expect(try report(closed).response == nil)
            #expect(try report(closed).error?.step == "transporting")
            #expect(try report(closed).flight.attempts.first?.end != nil)
        }
    }

    @Test func reportOfInvalidJSONBodyHasAnError() async throws {
        try await withScriptedOrigin { origin in
            origin.on("/false", respond: .json("<html>"))
            origin.on("/refused", respond: .json("<html>", status: .badGateway))
            let tool = try await Tool.run("call", "GET", "\(origin.baseURL)/false", "--json")
            let report = try report(tool)

            #expect(tool.status == 1)
            #expect(report.response?.body == "<html>")
            #expect(report.error?.kind == "invalidResponse" && report.error?.status == 200)
            #expect(report.error?.message.contains("The body is not JSON") == true)
            // What the server refused is the error of that alone.
            let refused = try await Tool.run("call", "GET", "\(origin.baseURL)/refused", "--json")
            #expect(refused.status == 1)
            #expect(try self.report(refused).error?.kind == "refused")
        }
    }

    @Test(arguments: ["--json", "--curl", "--verbose"])
    func secretsAreHiddenByDefault(option: String) async throws {
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .text("fine").header(.setCookie, "sid=s3cret"))
            let call = [
                "call", "POST", "\(origin.baseURL)/x", "token==s3cret", "password=s3cret", "Authorization:s3cret",
                option,
            ]
            let hidden = try await Tool.run(Tool.path, call, input: [], environment: [:])
            let shown = try await Tool.run(Tool.path, call + ["--show-secrets"], input: [], environment: [:])

            #expect(hidden.status == 0)
            #expect(!(hidden.output + hidden.errors).contains("s3cret"))
            #expect((hidden.output + hidden.errors).contains("[redacted]"))
            #expect((shown.output + shown.errors).contains("s3cret"))
            #expect(origin.requests.allSatisfy { $0["Authorization"] == "s3cret" })
        }
    }

    @Test func curlCommandSendsTheSameRequest() async throws {
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .text("fine"))
            try await withTemporaryFolder { folder in
                let file = folder.appendingPathComponent("it's a file.json")
                try Data(#"{"from":"file"}"#.utf8).write(to: file)
                let url = "\(origin.baseURL)/a'b?x=%41"
                let calls = [
                    ["GET", url, "q==$HOME `id` \"x\"", "X-Odd: it's; \"$1\""],
                    ["POST", url, "text=it's\n$HOME \\ \"quoted\" 上海", "--show-secrets"],
                    ["PUT", url, "--body", file.path],
                    ["GET", url, "--body", file.path, "--http1"],
                    ["HEAD", url],
                ]
                for call in calls {
                    let before = origin.requests.count
                    let sent = try await Tool.run(Tool.path, ["call"] + call, input: [], environment: [:])
                    #expect(sent.status == 0, "\(sent.errors)")
                    let tool = try await Tool.run(Tool.path, ["call"] + call + ["--curl"], input: [], environment: [:])
                    #expect(tool.status == 0, "\(tool.errors)")
                    #expect(origin.requests.count == before + 1)
                    let curl = try await Tool.shell(tool.output)
                    #expect(curl.status == 0, "\(tool.output) \(curl.errors)")
                    let requests = Array(origin.requests[before...])
                    try #require(requests.count == 2)
                    #expect(requests[0].method == requests[1].method)
                    #expect(requests[0].target == requests[1].target)
                    #expect(requests[0].body == requests[1].body)
                    #expect(requests[0]["Content-Type"] == requests[1]["Content-Type"])
                    #expect(requests[0]["X-Odd"] == requests[1]["X-Odd"])
                    #expect(requests[0]["Accept-Encoding"] == requests[1]["Accept-Encoding"])
                }
            }
        }
    }

    @Test func curlCommandDecodesWhatTheCallWouldDecode() async throws {
        try await withScriptedOrigin { origin in
            let gzip = try await Tool.shell("printf shown | gzip -c | od -An -v -tx1 | tr -d ' \\n'")
            let bytes = stride(from: 0, to: gzip.output.count, by: 2).compactMap { start in
                UInt8(gzip.output.dropFirst(start).prefix(2), radix: 16)
            }
            var response = ScriptedResponse.bytes(bytes)
            response.headerFields[.contentEncoding] = "gzip"
            origin.otherwise(respond: response)
            for (words, isDecoded) in [([], true), (["Accept-Encoding:gzip"], false)] as [([String], Bool)] {
                let tool = try await Tool.run(
                    Tool.path, ["call", "\(origin.baseURL)/x", "--curl"] + words, input: [], environment: [:])
                #expect(tool.output.contains("--compressed") == isDecoded)
                #expect(try await Tool.shell(tool.output).output.contains("shown") == isDecoded, "\(tool.output)")
            }
        }
    }
}
