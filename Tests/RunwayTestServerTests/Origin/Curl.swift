import Foundation
import RunwayTestServer

/// The `curl` of the system, run as a process of its own.
struct Curl {
    let status: Int32
    let output: String
    let errors: String

    /// Runs curl with `arguments`, silent but for errors.
    static func run(_ arguments: String...) async throws -> Curl {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["curl", "--silent", "--show-error", "--no-progress-meter"] + arguments
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("curl-\(UUID().uuidString)", isDirectory: true)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        // Files in place of pipes: nobody has to read while curl runs.
        let output = folder.appendingPathComponent("output")
        let errors = folder.appendingPathComponent("errors")
        for file in [output, errors] { _ = FileManager.default.createFile(atPath: file.path, contents: nil) }
        let streams = try [output, errors].map { try FileHandle(forWritingTo: $0) }
        // Closed explicitly: on Linux a process that ended retains its streams.
        defer { for stream in streams { try? stream.close() } }
        process.standardOutput = streams[0]
        process.standardError = streams[1]
        process.standardInput = FileHandle.nullDevice
        let status = try await process.runToItsEnd()
        return Curl(
            status: status,
            output: String(decoding: try Data(contentsOf: output), as: UTF8.self),
            errors: String(decoding: try Data(contentsOf: errors), as: UTF8.self)
        )
    }
}
