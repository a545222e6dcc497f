import Foundation
import RunwayTestServer
import Testing

/// `runway bundle`. Exchanges with another implementation are in `Scripts/tuf-peer.sh`.
@Suite(.timeLimit(.minutes(10)))
struct BundleCommandTests {
    @Test func repositoriesAreMadePublishedAndVerified() async throws {
        try await withTemporaryFolder { folder in
            let paths = ["site", "keys", "dist"].map { folder.appendingPathComponent($0).path }
            try FileManager.default.createDirectory(atPath: paths[2], withIntermediateDirectories: true)
            try Data("<p>".utf8).write(to: folder.appendingPathComponent("dist/index.html"))
            let options = ["--repository", paths[0], "--keys", paths[1]]
            func run(_ arguments: [String]) async throws -> Tool {
                try await Tool.run(
                    Tool.path, ["bundle"] + arguments, input: [], environment: ["SOURCE_DATE_EPOCH": "1780315200"])
            }
            #expect(try await run(["init"] + options).status == 0)
            #expect(try await run(["init"] + options).status == 2)
            #expect(try await run(["publish"] + options + ["--version", "1", paths[2]]).status == 0)
            #expect(try await run(["publish"] + options + ["--version", "1", paths[2]]).status == 2)
            // The option of this name that the parser has prints the version of runway, and succeeds.
            for wrong in [[], ["--percentage", "101", paths[2]], ["--bundle", "a/b", paths[2]], ["\(paths[2])/none"]] {
                let refused = try await run(["publish"] + options + ["--version", "2"] + wrong)
                #expect(refused.status == 2 && refused.output.isEmpty && !refused.errors.contains("NSCocoa"))
            }
            #expect(try await run(["serve", paths[2]]).status == 2)
            let publishing = ["change"] + options
            #expect(try await run(publishing + ["--percentage", "12.5", "--stop"]).status == 0)
            #expect(try await run(["status", paths[0]]).output.contains("version 1 for 12.50 % of devices; STOPPED"))
            for wrong in [["--percentage", "101"], ["--percentage", "1.234"], [], ["--stop", "--resume"]] {
                #expect(try await run(publishing + wrong).status == 2, "\(wrong)")
            }
            let verified = try await run(["verify", paths[0]])
            #expect(verified.status == 0 && verified.output.contains("app/release/1/manifest.json: version 1, 1 files"))
            let status = try await run(["status", paths[0]])
            #expect(status.output.contains("timestamp  version 3, valid until 2026-06-15T12:00:00Z"))
            let root = folder.appendingPathComponent("site/metadata/1.root.json").path
            let known = folder.appendingPathComponent("known").path
            #expect(try await run(["tuf", "--metadata-dir", known, "init", root]).status == 0)
            #expect(FileManager.default.contentsEqual(atPath: root, andPath: "\(known)/root.json"))
            try Data("{}".utf8).write(to: folder.appendingPathComponent("site/metadata/timestamp.json"))
            #expect(try await run(["verify", paths[0]]).status == 1)
        }
    }

    @Test func badRolloutsPause() async throws {
        try await withTemporaryFolder { folder in
            let options = ["--repository", "\(folder.path)/site", "--keys", "\(folder.path)/keys"]
            let dist = folder.appendingPathComponent("dist")
            try FileManager.default.createDirectory(at: dist, withIntermediateDirectories: true)
            func run(_ arguments: [String], input: [UInt8] = []) async throws -> Tool {
                try await Tool.run(Tool.path, ["bundle"] + arguments, input: input, environment: [:])
            }
            #expect(try await run(["init"] + options).status == 0)
            #expect(try await run(["publish"] + options + ["--version", "7", dist.path]).status == 0)
            let counted = try await run(["tally"] + options)
            #expect(counted.status == 0)
            let bundle = try #require(counted.output.split(separator: ":").first)
            func records(_ event: String, _ count: Int) -> String {
                let record = #"{"name":"bundle","properties":{"event":"\#(event)","bundle":"\#(bundle)"}}"#
                return String(repeating: record + "\n", count: count)
            }
            let input = Array((records("installed", 100) + records("ready", 85) + records("condemned", 15)).utf8)
            let tolerated = try await run(["tally"] + options + ["--pause-above", "15"], input: input)
            #expect(tolerated.status == 0)
            #expect(tolerated.output.hasSuffix(": 100 installed, 85 ready, 15 condemned (15.0 %)\n"))
            #expect(try await run(["tally"] + options + ["--pause-above", "14"], input: input).status == 1)
            #expect(try await run(["status", "\(folder.path)/site"]).output.contains("version 7 for 0 % of devices"))
        }
    }
}
