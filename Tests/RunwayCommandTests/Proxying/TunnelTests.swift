import Foundation
import RunwayTestServer
import RunwayTesting
import Testing

/// CONNECT through `runway proxy`, which does not look inside.
@Suite(.timeLimit(.minutes(10)))
struct TunnelTests {
    @Test func tunnelPassesBytesBothWays() async throws {
        let body = [UInt8]((0..<4_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 11) })
        try await withScriptedOrigin { origin in
            origin.on("/large", respond: .bytes(body))
            origin.on("/echo") { .bytes($0.body) }
            let (output, _) = try await forwarding("--allow-local", "--connect-port", "\(origin.port)") { proxy in
                try await withTemporaryFolder { folder in
                    let file = folder.appendingPathComponent("body")
                    try Data(body).write(to: file)
                    let options = ["--proxytunnel", "--proxy", proxy.url]
                    let received = try await curl(options[0], options[1], options[2], "\(origin.baseURL)/large")
                    #expect(received.bytes == body)
                    let echoed = try await curl(
                        options[0], options[1], options[2], "--data-binary", "@\(file.path)", "\(origin.baseURL)/echo")
                    #expect(echoed.bytes == body)
                }
            }
            #expect(output.contains("CONNECT 127.0.0.1:\(origin.port) ended after"))
            // The requests themselves are not seen.
            #expect(!output.contains("/large"))
            #expect(origin.requests.allSatisfy { $0["Via"] == nil })
        }
    }

    @Test func tlsIsPassedOn() async throws {
        let server = try RunningTool("serve")
        let greeting = try await server.wait(for: "Ctrl-C stops it.")
        let port = try #require(greeting.firstMatch(of: /https:\/\/127\.0\.0\.1:(\d+)/)).1
        let authority = try #require(greeting.firstMatch(of: /Certificate authority: (.+)/)).1
        _ = try await forwarding("--allow-local", "--connect-port", String(port)) { proxy in
            let tool = try await curl(
                "--proxy", proxy.url, "--cacert", String(authority), "https://127.0.0.1:\(port)/zf/list?limit=1")
            #expect(tool.status == 0 && tool.output.contains("{"))
        }
        server.signal(SIGINT)
        _ = await server.end()
    }

    @Test func bytesBeforeTheTunnelOpensArePassedOn() async throws {
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .text("fine"))
            _ = try await forwarding("--allow-local", "--connect-port", "\(origin.port)") { proxy in
                let text =
                    "CONNECT 127.0.0.1:\(origin.port) HTTP/1.1\r\nHost: x\r\n\r\nGET /x HTTP/1.1\r\nHost: y\r\nConnection: close\r\n\r\n"
                // In pieces, the first of which may be any method.
                let received = try await RawClient.connecting(to: proxy.port) { client in
                    try await client.send("CON")
                    try await client.send(String(text.dropFirst(3)))
                    return try await client.receiveAll()
                }
                #expect(received.hasPrefix("HTTP/1.1 200 Connection Established\r\n\r\nHTTP/1.1 200 OK\r\n"))
                #expect(received.hasSuffix("fine"))
            }
        }
    }

    @Test func deadServerIsABadGateway() async throws {
        let port = try RefusingPort()
        _ = try await forwarding("--allow-local", "--connect-port", "\(port.number)") { proxy in
            let response = try await RawClient.exchange(
                "CONNECT 127.0.0.1:\(port.number) HTTP/1.1\r\n\r\n", port: proxy.port)
            #expect(response.hasPrefix("HTTP/1.1 502 "))
            #expect(response.contains("error=destination_unavailable"))
        }
    }

    @Test func openTunnelDoesNotDelayTheEnd() async throws {
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .never)
            let arguments = ["proxy", "--allow-local", "--connect-port", "\(origin.port)", "--client-timeout", "3600"]
            let tool = try RunningTool(arguments, streams: .pipe, environment: [:])
            let greeting = try await tool.wait(for: "\n")
            let port = try #require(greeting.firstMatch(of: /:(\d+) for/).flatMap { Int($0.1) })
            try await RawClient.connecting(to: port) { client in
                try await client.send(
                    "CONNECT 127.0.0.1:\(origin.port) HTTP/1.1\r\n\r\nGET /x HTTP/1.1\r\nHost: y\r\n\r\n")
                try await origin.waitForRequests(count: 1)
                tool.signal(SIGINT)
                #expect(await tool.end() == 0)
                _ = try? await client.receiveAll()
            }
            try await origin.waitForDisconnects(count: 1)
        }
    }

    @Test func recordOfATunnelIsJSON() async throws {
        let port = try RefusingPort()
        let (output, _) = try await forwarding("--allow-local", "--connect-port", "\(port.number)", "--json") { proxy in
            _ = try await RawClient.exchange(
                "CONNECT 127.0.0.1:\(port.number) HTTP/1.1\r\n\r\n", port: proxy.port)
        }
        let line = try #require(output.split(separator: "\n").last)
        let record = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        #expect(record["authority"] as? String == "127.0.0.1:\(port.number)" && record["failure"] != nil)
        // As in other records, what is beyond the microsecond is noise of the clock.
        let seconds = try #require(record["seconds"] as? Double)
        #expect(seconds > 0 && (seconds * 1e6).rounded() / 1e6 == seconds)
    }
}
