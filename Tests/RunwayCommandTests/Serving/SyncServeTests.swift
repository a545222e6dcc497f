import Foundation
import RunwayTesting
import Testing

/// `runway serve --sync` and `runway sync`, as processes.
@Suite(.timeLimit(.minutes(10)))
struct SyncServeTests {
    private static let space = "0199a000-0000-7000-8000-00000000000a"
    private static let device = "0199a000-0000-7000-8000-00000000000b"

    private static func id(_ number: Int) -> String {
        let digits = String(number)
        return "0199a000-0000-7000-8000-" + String(repeating: "0", count: 12 - digits.count) + digits
    }

    /// A packet with one insert, which is the operation with this number of the device's chain.
    private static func packet(_ number: Int) -> String {
        let previous = number > 1 ? "\"previous\":\"\(id(number - 1))\"," : ""
        return """
            {"device":"\(device)","schema":1,"transactions":[{"number":\(number),\(previous)"time":"0000000000000001",\
            "basis":{"epoch":"\(id(0))","number":0},"operations":[{"id":"\(id(number))",\
            "insert":["item","\(id(number))"],"life":1,"values":{"a":"\(number)"}}]}]}
            """
    }

    private static func push(_ numbers: ClosedRange<Int>, to url: String) async throws -> [String] {
        let lines = numbers.map { "curl -s -w ' %{http_code}\\n' --data '\(packet($0))' $TYPE \(url)/\(space)/push" }
        let type = "TYPE='-H Content-Type:application/json'\n"
        return try await Tool.shell(type + lines.joined(separator: "\n")).output.split(separator: "\n").map(String.init)
    }

    private func serve(_ file: String) async throws -> (server: RunningTool, url: String) {
        let server = try RunningTool("serve", "--sync", file, "--plain")
        let text = try await server.wait(for: "Ctrl-C stops it.")
        return (server, String(try #require(text.firstMatch(of: /http:\S+\/sync/)).0))
    }

    private func head(_ file: String) async throws -> Int {
        let output = try await Tool.run("sync", "spaces", file, "--json").output
        return output.firstMatch(of: /"head":(\d+)/).flatMap { Int($0.1) } ?? 0
    }

    @Test func acknowledgedChangesSurviveKills() async throws {
        try await withTemporaryFolder { folder in
            let file = folder.appendingPathComponent("spaces.sqlite").path
            var acknowledged = 0
            for _ in 1...3 {
                let (server, url) = try await serve(file)
                // The first packet may be stored already: its response was lost.
                let first = acknowledged + 1
                async let pushes = Self.push(first...first + 60, to: url)
                try await waitUntil("some are stored") { try await self.head(file) >= first + 10 }
                server.signal(SIGKILL)
                #expect(await server.end() == -SIGKILL)
                for (number, line) in zip(first..., try await pushes) {
                    if !line.hasSuffix(" 200") { break }
                    #expect(line == "{\"verdicts\":[{\"applied\":\(number)}],\"head\":\(number)} 200")
                    acknowledged = number
                }
                #expect(acknowledged > 0)
            }
            let log = try await Tool.run("sync", "log", file, Self.space).output
            let numbers = log.matches(of: #/(?m)^(\d+)  /#).compactMap { Int($0.1) }
            #expect(numbers == Array(1...numbers.count))
            #expect(numbers.count == acknowledged || numbers.count == acknowledged + 1)
        }
    }

    @Test func spacesAreAdministered() async throws {
        try await withTemporaryFolder { folder in
            let file = folder.appendingPathComponent("spaces.sqlite").path
            let (server, url) = try await serve(file)
            #expect(try await Self.push(1...3, to: url).allSatisfy { $0.hasSuffix(" 200") })
            let devices = try await Tool.run("sync", "devices", file, Self.space)
            #expect(devices.output == "\(Self.device)  3 operations  of anyone\n")
            // The server has the file.
            let busy = try await Tool.run("sync", "epoch", file)
            #expect(busy.status == 2 && busy.errors.contains("Another server writes"))
            server.signal(SIGINT)
            #expect(await server.end() == 0)
            let copy = folder.appendingPathComponent("backup.sqlite").path
            try FileManager.default.copyItem(atPath: file, toPath: copy)
            let backup = try await Tool.run("sync", "backup", file, copy)
            #expect(backup.status == 0 && backup.output == "\(Self.space)  backup through 3\n", "\(backup.errors)")
            let trim = try await Tool.run("sync", "trim", file, "--megabytes", "0")
            #expect(trim.output == "\(Self.space)  2 entries removed\n", "\(trim.errors)")
            #expect(try await Tool.run("sync", "epoch", file).output.hasPrefix("\(Self.space)  epoch "))
            #expect(try await Tool.run("sync", "close", file, Self.space, Self.device).status == 0)
            #expect(try await Tool.run("sync", "devices", file, Self.space).output.contains("closed"))
            #expect(try await Tool.run("sync", "close", file, Self.space, Self.id(9)).status == 1)
            #expect(try await Tool.run("sync", "devices", file, Self.id(9)).status == 1)
            #expect(try await Tool.run("sync", "devices", file, "notes").status == 2)
            #expect(try await Tool.run("sync", "spaces", folder.path + "/none").status == 2)
            #expect(try await Tool.run("serve", "--sync", file, "--log", copy).status == 2)
        }
    }
}
