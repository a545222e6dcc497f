import Foundation
import RunwayTestServer
import Testing

/// `runway probe`.
@Suite(.timeLimit(.minutes(10)))
struct ProbeTests {
    private struct Report: Decodable {
        struct Address: Decodable {
            var address: String
            var source: String
            var tcp: Double?
            var tls: Double?
            var total: Double?
            var error: String?
        }
        var host: String
        var port: Int
        var addresses: [Address]
    }

    @Test func theTableShowsTheFastestFirst() async throws {
        try await withScriptedOrigin { origin in
            let tool = try await Tool.run(
                "probe", "localhost", "--plain", "--port", "\(origin.port)", "--addresses", "127.0.0.9")
            #expect(tool.status == 0)
            let lines = tool.output.split(separator: "\n")
            #expect(lines[0].hasPrefix("localhost:\(origin.port)  DNS "))
            #expect(lines[1].hasPrefix("ADDRESS"))
            #expect(lines[2].hasPrefix("127.0.0.1 "))
            #expect(lines.contains { $0.hasPrefix("127.0.0.9") && $0.contains("Connection refused") })
        }
    }

    @Test func programsGetJSON() async throws {
        try await withScriptedOrigin { origin in
            let tool = try await Tool.run("probe", "127.0.0.1", "--plain", "--port", "\(origin.port)", "--json")
            let report = try JSONDecoder().decode(Report.self, from: Data(tool.bytes))
            #expect(report.host == "127.0.0.1" && report.port == origin.port)
            #expect(report.addresses.map(\.source) == ["supplied"])
            #expect(report.addresses.first?.tcp != nil)
            #expect(report.addresses.first?.tls == nil)
        }
    }

    @Test func aHostWithoutAServerIsNoResponse() async throws {
        let tool = try await Tool.run("probe", "127.0.0.1", "--port", "1")
        #expect(tool.status == 3)
        #expect(tool.output.contains("Connection refused"))
    }

    @Test(arguments: [
        ["probe", "a.test", "--addresses", "b.test"], ["probe", "https://a.test/"], ["probe", "a.test", "--port", "0"],
        ["probe", "a.test", "--timeout", "0"], ["probe", ""], ["probe", "a.test", "--cacert", "/nowhere.pem"],
    ])
    func invalidHostsAreAUsageError(arguments: [String]) async throws {
        let tool = try await Tool.run(Tool.path, arguments, input: [], environment: [:])
        #expect(tool.status == 2)
        #expect(tool.errors.split(separator: "\n").count == 1)
    }

    @Test(arguments: [
        "localhost:443", "[::1]:80", "[::1", "::1]", "user@localhost", "a b", "a\u{1B}[31mb", "a\nb",
        "b\u{FC}cher.test",
    ])
    func nonHostIsNeitherLookedUpNorShown(host: String) async throws {
        let tool = try await Tool.run("probe", host)
        #expect(tool.status == 2)
        #expect(tool.output.isEmpty)
        #expect(tool.errors.contains("--port sets the port"))
        #expect(!tool.errors.contains(host))
    }

    @Test func invalidOptionsAreReportedFirst() async throws {
        let mistaken = try await Tool.run("probe", "-x")
        #expect(mistaken.status == 2)
        #expect(mistaken.errors.contains("Unknown option '-x'"))
        let missing = try await Tool.run("probe")
        #expect(missing.status == 2)
        #expect(missing.errors.contains("Missing expected argument '<host>'. See \"runway probe --help\"."))
    }

    @Test(arguments: ["::1", "[::1]"])
    func anIPv6AddressIsInBrackets(host: String) async throws {
        let tool = try await Tool.run("probe", host, "--port", "1")
        #expect(tool.status == 3)
        #expect(tool.output.hasPrefix("[::1]:1\n"))
    }
}
