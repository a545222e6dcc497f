import Foundation
import Testing

/// `runway patch`, as far as it needs no engine. `Scripts/engines.sh` runs it with engines.
@Suite(.timeLimit(.minutes(10)))
struct PatchTests {
    private static let record = #"{"point":"a","version":1,"now":1,"arguments":[1],"result":1}"#

    @Test(arguments: [
        (["--bundle", "."], "--records"), (["--records", "a"], "--bundle"),
        (["--bundle", ".", "--records"], "Missing value"),
        (["--bundle", ".", "--records", "absent"], "can't be read"),
        (["--bundle", ".", "--records", "."], "can't be read"),
        (["--bundle", ".", "--records", "/dev/null"], "has no recorded calls"),
        (["--bundle", ".", "--records", "a", "--other"], "Unknown option"),
    ])
    func unusableCommandLinesAreRefused(_ arguments: [String], _ error: String) async throws {
        let tool = try await Tool.run(Tool.path, ["patch", "rehearse"] + arguments, input: [], environment: [:])
        #expect(tool.status == 2 && tool.output.isEmpty && tool.errors.contains(error), "\(tool.errors)")
    }

    @Test func unusableFilesAreRefused() async throws {
        try await withTemporaryFolder { folder in
            let (records, scripts) = (folder.appending(path: "records"), folder.appending(path: "scripts"))
            func refusal(_ bytes: [UInt8]) async throws -> String {
                try Data(bytes).write(to: records)
                let tool = try await Tool.run("patch", "rehearse", "--bundle", folder.path, "--records", records.path)
                #expect(tool.status == 2 && tool.output.isEmpty)
                return tool.errors
            }
            for bytes in [[], [0x0A], [0xFF, 0xFE, 0x00], Array("PNG".utf8), Array(Self.record.utf8.dropLast())] {
                #expect(try await refusal(bytes).contains("has no recorded calls"))
            }
            #expect(try await refusal(Array(repeating: 0x5B, count: 17 << 20)).contains("is larger than"))
            #expect(try await refusal(Array(Self.record.utf8)).contains("has no files below scripts/"))
            try FileManager.default.createDirectory(at: scripts, withIntermediateDirectories: true)
            for (file, content, error) in [
                ("a.js", [0xFF], "is not UTF-8"), ("a.py", [], "one language"),
            ] as [(String, [UInt8], String)] {
                let script = scripts.appending(path: file)
                try Data(content).write(to: script)
                #expect(try await refusal(Array(Self.record.utf8)).contains(error))
                try FileManager.default.removeItem(at: script)
            }
            #if !JavaScript
                try Data("patch('a', 1, a => a)".utf8).write(to: scripts.appending(path: "a.js"))
                #expect(try await refusal(Array(Self.record.utf8)).contains("the package trait Scripts to run"))
            #endif
        }
    }
}
