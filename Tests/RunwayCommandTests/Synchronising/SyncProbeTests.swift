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
}
