import Foundation
import HTTPTypes
import RunwayTestServer
import RunwayTesting
import Testing

/// Clients that say nothing more, or take nothing more.
@Suite(.timeLimit(.minutes(10)))
struct ClientSilenceTests {
    /// The seconds of proxies one after the other: for the first of them a client that stands still may be too late with its request.
    private static let patiences = ["5", "20", "60"]

    /// Sends a text to a proxy that has little patience with its client, and returns all that comes back.
    ///
    /// A client that stands still before it has sent the text is too late for a proxy, and asks another, which has more patience.
    private func response(
        to text: String, of origin: ScriptedOrigin, _ isExpected: (String) -> Bool
    ) async throws -> String? {
        var response: String?
        for patience in ["0.4", "2", "8", "32"] where !(response.map(isExpected) ?? false) {
            _ = try await proxying(to: origin.baseURL, "--client-timeout", patience) { proxy in
                response = try? await RawClient.exchange(text, port: proxy.port)
            }
        }
        return response
    }

    @Test(arguments: ["", "GET / HT", "GET / HTTP/1.1\r\nHost: localhost\r\nX-A: "])
    func aConnectionWithoutAWholeHeadEnds(text: String) async throws {
        try await withScriptedOrigin { origin in
            let received = try await response(to: text, of: origin) { $0 == "" }
            #expect(received == "")
            #expect(origin.connectionCount == 0)
        }
    }

    /// Bytes that come one by one never let a connection be idle.
    @Test(arguments: ["CONNECT a", "GET / HTTP/1.1\r\nX-A: "])
    func aHeadThatComesByteByByteEnds(start: String) async throws {
        _ = try await forwarding("--client-timeout", "1") { proxy in
            await #expect(throws: (any Error).self) {
                try await RawClient.connecting(to: proxy.port) { client in
                    try await client.send(start)
                    for _ in 0..<2000 {
                        try await client.send("a")
                        try await Task.sleep(for: .milliseconds(100))
                    }
                }
            }
        }
    }

    @Test func anIdleConnectionEnds() async throws {
        try await withScriptedOrigin { origin in
            origin.on("/", respond: .text("fine"))
            let isWhole = { (response: String) in response.hasPrefix("HTTP/1.1 200 ") && response.hasSuffix("fine") }
            let response = try await response(
                to: "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", of: origin, isWhole)
            #expect(response.map(isWhole) == true)
        }
    }

    /// Half a body, of one that is gathered and of two that pass as they come.
    @Test(arguments: ["Content-Length: 100", "Content-Length: 9000000", "Transfer-Encoding: chunked"])
    func halfABodyGetsATimeout(framing: String) async throws {
        try await withScriptedOrigin { origin in
            origin.on(.put, "/", respond: .text("never"))
            let part = framing.hasPrefix("T") ? "5\r\nabcde\r\n" : "abcde"
            let response = try #require(
                try await response(
                    to: "PUT / HTTP/1.1\r\nHost: localhost\r\n\(framing)\r\n\r\n\(part)", of: origin
                ) { $0.hasPrefix("HTTP/1.1 408 ") })
            #expect(response.hasPrefix("HTTP/1.1 408 ") && response.contains("silent for too long"), "\(response)")
            #expect(response.contains("\r\nConnection: close\r\n"))
            #expect(origin.requests.allSatisfy { !$0.isComplete })
        }
    }

    @Test func clientsThatReadNothingAreCutOff() async throws {
        try await withScriptedOrigin { origin in
            origin.on("/", respond: .bytes([UInt8](repeating: 7, count: 64 << 20)))
            for patience in Self.patiences where origin.requestCount == 0 {
                _ = try await proxying(to: origin.baseURL, "--client-timeout", patience) { proxy in
                    try await RawClient.connecting(to: proxy.port) { client in
                        try? await client.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
                        guard (try? await origin.waitForRequests(count: 1)) != nil else { return }
                        try await origin.waitForDisconnects(count: 1, within: .seconds(180))
                    }
                }
            }
            #expect(origin.requestCount > 0)
        }
    }

    @Test func slowOriginDoesNotTimeOutItsClient() async throws {
        try await withScriptedOrigin { origin in
            let gate = ScriptedGate()
            origin.on("/", respond: .text("at last").held(by: gate))
            for patience in Self.patiences where origin.requestCount == 0 {
                _ = try await proxying(to: origin.baseURL, "--client-timeout", patience) { proxy in
                    try await RawClient.connecting(to: proxy.port) { client in
                        try? await client.send("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                        guard (try? await gate.waitForArrivals()) != nil else { return }
                        // A connection that came later is ended for its silence.
                        #expect(try await RawClient.exchange("", port: proxy.port) == "")
                        gate.open()
                        let response = try await client.receiveAll()
                        #expect(response.hasSuffix("at last"))
                    }
                }
            }
            #expect(origin.requestCount > 0)
        }
    }

    @Test(arguments: ["0", "-1", "1e12", "x"]) func patienceIsANumberOfSeconds(text: String) async throws {
        let tool = try await Tool.run("proxy", "--origin", "http://127.0.0.1:1", "--client-timeout", text)
        #expect(tool.status == 2 && tool.errors.contains("client-timeout"))
    }
}
