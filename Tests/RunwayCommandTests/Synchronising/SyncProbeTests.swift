import Foundation
import Testing

/// `runway sync-probe`, without a server.
struct SyncProbeTests {
    private static func change(_ row: String, _ values: String) -> String {
        #"{"table":"item","row":"\#(row)","values":\#(values)}"#
    }

    @Test func probeWritesAndReadsWithoutAServer() async throws {
        try await withTemporaryFolder { folder in
            let lines = [
                #"{"do":"disconnect"}"#,
                #"{"do":"txn","set":[\#(Self.change("1", #"{"a":"x","n":3}"#)),\#(Self.change("2", #"{"n":9}"#))]}"#,
                #"{"do":"batch","where":[["n","<",5]],"values":{"b":"y"}}"#,
                #"{"do":"txn","set":[{"table":"item","row":"2","delete":true}]}"#,
                #"{"do":"read","table":"item"}"#,
                #"{"do":"dance"}"#,
                #"{"do":"batch","where":[["n","=","x"]],"values":{"b":"z"}}"#,
                #"{"do":"txn","set":[{"table":"item","row":"1","values":{"z":1}}]}"#,
                "no JSON",
                #"{"do":"state"}"#,
                #"{"do":"quit"}"#,
            ]
            let tool = try await Tool.run(
                "sync-probe", "--server", "http://127.0.0.1:1", "--space", "home", "--file",
                folder.appendingPathComponent("probe.sqlite").path,
                input: Array((lines.joined(separator: "\n") + "\n").utf8))
            let output = tool.output.split(separator: "\n").map(String.init)
            #expect(tool.status == 0, "\(tool.errors)")
            #expect(output.count == lines.count - 1)
            let row = #"{"row":"1","values":{"a":"x","b":"y","c":null,"rank":null,"n":3},"pending":true}"#
            #expect(output.prefix(5) == ["{}", "{}", #"{"rows":1}"#, "{}", #"{"rows":[\#(row)]}"#])
            #expect(output.dropFirst(5).prefix(4).allSatisfy { $0.hasPrefix(#"{"error":"#) })
            #expect(output.last?.hasPrefix(#"{"waiting":3,"refused":[],"cursor":0,"#) == true)
        }
    }

    @Test func rowsOfAnyTextComeBackByIt() async throws {
        let texts = [
            "1", "", "13 bytes long", "a row of more than 13 bytes", "上海的任务列表", "a\u{0}b",
            "0192f3a1-2b3c-7d4e-8f50-617283940506", "0192F3A1-2B3C-7D4E-8F50-617283940506",
            // The UUIDs of "1", and of a text of no bytes with a rest.
            "31000000-0000-8100-8000-000000000000", "31000000-0000-8000-8000-000000000001",
        ]
        try await withTemporaryFolder { folder in
            func run(_ lines: [String]) async throws -> [Substring] {
                let file = folder.appendingPathComponent("probe.sqlite").path
                let tool = try await Tool.run(
                    "sync-probe", "--server", "http://127.0.0.1:1", "--space", "home", "--file", file,
                    input: Array((lines.joined(separator: "\n") + "\n").utf8))
                #expect(tool.status == 0, "\(tool.errors)")
                return tool.output.split(separator: "\n")
            }
            let offline = #"{"do":"disconnect"}"#
            let changes = try texts.enumerated().map { number, text in
                let row = String(decoding: try JSONEncoder().encode(text), as: UTF8.self)
                return #"{"do":"txn","set":[{"table":"item","row":\#(row),"values":{"n":\#(number)}}]}"#
            }
            _ = try await run([offline] + changes + changes)
            let line = try #require(try await run([offline, #"{"do":"read","table":"item"}"#]).last)
            let rows = try JSONDecoder().decode(Rows.self, from: Data(line.utf8)).rows
            #expect(rows.sorted { $0.values.n < $1.values.n }.map(\.row) == texts)
        }
    }

    private struct Rows: Decodable {
        struct Row: Decodable {
            struct Values: Decodable { let n: Int }
            let row: String
            let values: Values
        }
        let rows: [Row]
    }
}
