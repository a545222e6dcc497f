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
            let verified = try await run(["verify", paths[0]])
            #expect(verified.status == 0 && verified.output.contains("app/release/1/manifest.json: version 1, 1 files"))
            let status = try await run(["status", paths[0]])
            #expect(status.output.contains("timestamp  version 2, valid until 2026-06-15T12:00:00Z"))
            let root = folder.appendingPathComponent("site/metadata/1.root.json").path
            let known = folder.appendingPathComponent("known").path
            #expect(try await run(["tuf", "--metadata-dir", known, "init", root]).status == 0)
            #expect(FileManager.default.contentsEqual(atPath: root, andPath: "\(known)/root.json"))
            try Data("{}".utf8).write(to: folder.appendingPathComponent("site/metadata/timestamp.json"))
            #expect(try await run(["verify", paths[0]]).status == 1)
        }
    }
}
